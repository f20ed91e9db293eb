import { clusterErrors, type GatewayName } from "../contract/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import type { ApiObject } from "./api/objects.ts";
import { KIND, type ObjectSettings } from "./objects/index.ts";

/** Settings that name something which others put on the cluster. */
export type Naming = Pick<ObjectSettings, "ingressClass" | "gateway" | "runtime">;

export interface NamedPart {
  /** What it is, in two words. */
  readonly name: string;
  /** Resolves with what was found, or rejects with the fault and its remedy. */
  look(api: KubernetesApi): Promise<string>;
}

const DEFAULT_INGRESS = "ingressclass.kubernetes.io/is-default-class";
/** Names that a sentence tells. */
const TOLD = 5;

interface ApiGateway extends ApiObject {
  readonly spec?: {
    readonly listeners?: readonly { readonly allowedRoutes?: { readonly namespaces?: { readonly from?: string } } }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

/** What the settings name; of the way of requests for host names only where these come through the cluster's ingress. */
export function namedParts({ ingressClass, gateway, runtime }: Naming, isRouted: boolean): NamedPart[] {
  const parts: NamedPart[] = [];
  if (isRouted && gateway !== undefined)
    parts.push({ name: "cluster gateway", look: (api) => gatewayFound(api, gateway) });
  else if (isRouted && ingressClass !== undefined)
    parts.push({ name: "ingress class", look: (api) => ingressClassFound(api, ingressClass) });
  if (runtime !== undefined) parts.push({ name: "runtime class", look: (api) => runtimeFound(api, runtime) });
  return parts;
}

/**
 * The same, and the cluster's default for ingress objects of no class. Where that is missing a controller may take them all the
 * same, so it keeps no provider from its work.
 */
export function expectedParts(named: Naming, isRouted: boolean): NamedPart[] {
  const byDefault = isRouted && named.gateway === undefined && named.ingressClass === undefined;
  return [...(byDefault ? [{ name: "ingress class", look: defaultIngressFound }] : []), ...namedParts(named, isRouted)];
}

async function ingressClassFound(api: KubernetesApi, name: string): Promise<string> {
  if ((await api.find(KIND.ingressClass, { name })) !== undefined) return name;
  const hint = `${await others(api)}, or change --cluster-ingress-class`;
  throw clusterErrors.partMissing(`no IngressClass "${name}"`, { hint });
}

async function defaultIngressFound(api: KubernetesApi): Promise<string> {
  const { objects } = await api.list(KIND.ingressClass);
  const found = objects.find(({ metadata }) => metadata.annotations?.[DEFAULT_INGRESS] === "true");
  if (found !== undefined) return `${found.metadata.name}, the cluster's default`;
  const hint = `name one with --cluster-ingress-class (${namesOf(objects)}), or mark one as the default`;
  throw clusterErrors.partMissing("no IngressClass that is its default", { hint });
}

async function others(api: KubernetesApi): Promise<string> {
  const { objects } = await api.list(KIND.ingressClass);
  return `make it (there is ${namesOf(objects)})`;
}

function namesOf(objects: readonly ApiObject[]): string {
  const names = objects.slice(0, TOLD).map(({ metadata }) => metadata.name);
  return `${names.join(", ") || "none"}${objects.length > TOLD ? ", ..." : ""}`;
}

async function runtimeFound(api: KubernetesApi, name: string): Promise<string> {
  if ((await api.find(KIND.runtimeClass, { name })) !== undefined) return name;
  throw clusterErrors.partMissing(`no RuntimeClass "${name}"`, { hint: "make it, or change --cluster-runtime-class" });
}

/** Whether it takes requests, and routes of namespaces other than its own. */
async function gatewayFound(api: KubernetesApi, { namespace, name }: GatewayName): Promise<string> {
  const text = `${namespace}/${name}`;
  const found = await api.find<ApiGateway>(KIND.gateway, { namespace, name });
  if (found === undefined)
    throw clusterErrors.partMissing(`no Gateway "${text}"`, { hint: "make it, or change --cluster-gateway" });
  const { spec, status } = found;
  const refused = status?.conditions?.find((each) => each.type === "Programmed" && each.status !== "True");
  if (refused !== undefined || status?.conditions === undefined) {
    const reason = refused?.message ?? "no controller has taken it up";
    throw clusterErrors.partMissing(`no Gateway "${text}" that takes requests: ${reason}`, {
      hint: "repair it, or the controller of its class",
    });
  }
  const open = spec?.listeners?.some(({ allowedRoutes }) => (allowedRoutes?.namespaces?.from ?? "Same") !== "Same");
  if (open === true) return text;
  throw clusterErrors.partMissing(`no Gateway "${text}" that takes routes of leases' namespaces`, {
    hint: "let them in with allowedRoutes in one of its listeners",
  });
}
