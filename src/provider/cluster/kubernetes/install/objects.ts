import { KIND, LEASES_SPACE, type Wanted, wanted } from "../objects/index.ts";
import { DEFINITIONS } from "./definitions.ts";
import { INSTALL } from "./kinds.ts";
import { PROVIDER_NAME } from "./names.ts";
import { CLUSTER_RULES, LEASES_RULES, type Rule } from "./rights.ts";

const RBAC_GROUP = "rbac.authorization.k8s.io";
const RESTRICTED = { "pod-security.kubernetes.io/enforce": "restricted" };
/** The provider is one pod; while it is replaced, and beside a job of its operator, there may be some more. */
const PROVIDER_QUOTA = { pods: "4", persistentvolumeclaims: "4" };
/** Only descriptions are there: nothing runs. */
const LEASES_QUOTA = { pods: "0", services: "0", persistentvolumeclaims: "0", secrets: "0" };

/** Everything that a provider needs on a cluster before its first lease, in the order in which it is made. */
export function installObjects(namespace: string): Wanted[] {
  const account = { kind: "ServiceAccount", name: PROVIDER_NAME, namespace };
  return [
    ...DEFINITIONS,
    ...[...new Set([namespace, LEASES_SPACE])].map(space),
    quota(LEASES_SPACE, LEASES_QUOTA),
    quota(namespace, PROVIDER_QUOTA),
    wanted(INSTALL.account, { name: PROVIDER_NAME, namespace }, { automountServiceAccountToken: false }),
    role(INSTALL.clusterRole, {}, CLUSTER_RULES),
    binding(INSTALL.clusterBinding, {}, [INSTALL.clusterRole.kind, account]),
    role(INSTALL.role, { namespace: LEASES_SPACE }, LEASES_RULES),
    binding(INSTALL.binding, { namespace: LEASES_SPACE }, [INSTALL.role.kind, account]),
  ];
}

type Where = { readonly namespace?: string };

function space(name: string): Wanted {
  return wanted(KIND.namespace, { name, labels: RESTRICTED }, {});
}

function quota(namespace: string, hard: object): Wanted {
  return wanted(KIND.quota, { name: PROVIDER_NAME, namespace }, { spec: { hard } });
}

function role(resource: Wanted["resource"], where: Where, rules: readonly Rule[]): Wanted {
  return wanted(resource, { name: PROVIDER_NAME, ...where }, { rules });
}

function binding(resource: Wanted["resource"], where: Where, [kind, account]: readonly [string, object]): Wanted {
  const roleRef = { apiGroup: RBAC_GROUP, kind, name: PROVIDER_NAME };
  return wanted(resource, { name: PROVIDER_NAME, ...where }, { roleRef, subjects: [account] });
}
