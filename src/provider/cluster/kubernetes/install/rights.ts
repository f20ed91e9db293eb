import { GROUP } from "../objects/index.ts";

/** Calls that a role allows. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects with these names. */
  readonly resourceNames?: readonly string[];
}

/** Applying an object that does not exist needs the right to create it, too. */
const APPLY = ["create", "patch"];
const FOLLOW = ["list", "watch"];

/** The definitions of the provider's own kinds. */
export const DEFINED = [`manifests.${GROUP}`, `providerhosts.${GROUP}`, `providerleasedips.${GROUP}`];

/** All that the driver asks of the whole cluster: namespaces of leases are not known beforehand. */
export const CLUSTER_RULES: readonly Rule[] = [
  { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", ...APPLY, "delete"] },
  { apiGroups: [""], resources: ["secrets"], verbs: ["list", ...APPLY] },
  { apiGroups: [""], resources: ["resourcequotas"], verbs: APPLY },
  { apiGroups: [""], resources: ["services"], verbs: [...FOLLOW, ...APPLY, "delete"] },
  { apiGroups: [""], resources: ["nodes", "events"], verbs: FOLLOW },
  { apiGroups: [""], resources: ["pods"], verbs: [...FOLLOW, "delete"] },
  { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
  // Newer servers ask for the second one.
  { apiGroups: [""], resources: ["pods/exec"], verbs: ["get", "create"] },
  { apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: [...FOLLOW, ...APPLY, "delete"] },
  {
    apiGroups: ["networking.k8s.io"],
    resources: ["networkpolicies", "ingresses"],
    verbs: ["list", ...APPLY, "delete"],
  },
  { apiGroups: ["networking.k8s.io"], resources: ["ingressclasses"], verbs: ["get", "list"] },
  { apiGroups: ["gateway.networking.k8s.io"], resources: ["httproutes"], verbs: [...FOLLOW, ...APPLY, "delete"] },
  { apiGroups: ["gateway.networking.k8s.io"], resources: ["gateways", "gatewayclasses"], verbs: ["get"] },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["list"] },
  { apiGroups: ["node.k8s.io"], resources: ["runtimeclasses"], verbs: ["get"] },
  {
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: ["get"],
    resourceNames: DEFINED,
  },
];

/** Rights in the namespace that describes leases. */
export const LEASES_RULES: readonly Rule[] = [
  { apiGroups: [GROUP], resources: ["manifests"], verbs: ["get", "list", ...APPLY, "delete"] },
  { apiGroups: [GROUP], resources: ["manifests/status"], verbs: ["patch"] },
  { apiGroups: [GROUP], resources: ["providerhosts"], verbs: ["list", ...APPLY, "delete"] },
  { apiGroups: [GROUP], resources: ["providerleasedips"], verbs: ["get", ...FOLLOW, ...APPLY, "delete"] },
];

/** Calls that are wanted and not allowed: `create ingresses.networking.k8s.io`. */
export function lackingRights(wanted: readonly Rule[], allowed: readonly Rule[]): string[] {
  return wanted.flatMap(({ apiGroups: [group = ""], resources, verbs, resourceNames }) =>
    resources.flatMap((resource) =>
      verbs
        .filter((verb) => !allowed.some((rule) => covers(rule, { group, resource, verb, names: resourceNames })))
        .map((verb) => `${verb} ${group === "" ? resource : `${resource}.${group}`}`),
    ),
  );
}

interface Call {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names: readonly string[] | undefined;
}

function covers({ apiGroups, resources, verbs, resourceNames = [] }: Rule, { group, resource, verb, names }: Call) {
  const has = (list: readonly string[], text: string): boolean => list.includes("*") || list.includes(text);
  const isNamed = resourceNames.length === 0 || names?.every((name) => resourceNames.includes(name)) === true;
  return isNamed && has(apiGroups, group) && has(resources, resource) && has(verbs, verb);
}
