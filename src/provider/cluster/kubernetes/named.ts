import { clusterErrors } from "../contract/index.ts";
import type { KubernetesApi } from "./api/api.ts";
import type { ApiObject } from "./api/objects.ts";
import { KIND, type ObjectSettings } from "./objects/index.ts";
import type { GatewayName } from "./settings.ts";

/** Settings that name something which operators create on the cluster. */
export type Naming = Pick<ObjectSettings, "ingressClass" | "gateway" | "runtime">;

export interface NamedPart {
  /** Name of the part, in two words. */
  readonly name: string;
  /** Resolves with the finding, or rejects with the fault and its remedy. */
  look(api: KubernetesApi): Promise<string>;
}

const DEFAULT_INGRESS = "ingressclass.kubernetes.io/is-default-class";
/** Names that a sentence lists. */
const TOLD = 5;

interface ApiGateway extends ApiObject {
  readonly spec?: {
    readonly listeners?: readonly { readonly allowedRoutes?: { readonly namespaces?: { readonly from?: string } } }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

/** Parts that the settings name; the ingress class or Gateway only if the cluster's ingress serves host names. */
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
 * The same, and the cluster's default for Ingress objects without a class. If that is missing, a controller may serve them
 * nevertheless, so a provider works without it.
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
  const hint = `name one with --cluster-ingress-class (the cluster has ${namesOf(objects)}), or mark one as the default`;
  throw clusterErrors.partMissing("no default IngressClass", { hint });
}

async function others(api: KubernetesApi): Promise<string> {
  const { objects } = await api.list(KIND.ingressClass);
  return `create it (the cluster has ${namesOf(objects)})`;
}

function namesOf(objects: readonly ApiObject[]): string {
  const names = objects.slice(0, TOLD).map(({ metadata }) => metadata.name);
  return `${names.join(", ") || "none"}${objects.length > TOLD ? ", ..." : ""}`;
}

async function runtimeFound(api: KubernetesApi, name: string): Promise<string> {
  if ((await api.find(KIND.runtimeClass, { name })) !== undefined) return name;
  throw clusterErrors.partMissing(`no RuntimeClass "${name}"`, {
    hint: "create it, or change --cluster-runtime-class",
  });
}

/** Finds a Gateway that is ready and accepts routes of other namespaces. */
async function gatewayFound(api: KubernetesApi, { namespace, name }: GatewayName): Promise<string> {
  const text = `${namespace}/${name}`;
  const found = await api.find<ApiGateway>(KIND.gateway, { namespace, name });
  if (found === undefined)
    throw clusterErrors.partMissing(`no Gateway "${text}"`, { hint: "create it, or change --cluster-gateway" });
  const { spec, status } = found;
  const refused = status?.conditions?.find((each) => each.type === "Programmed" && each.status !== "True");
  if (refused !== undefined || status?.conditions === undefined) {
    const reason = refused?.message ?? "no controller has accepted it";
    throw clusterErrors.partMissing(`Gateway "${text}" is not ready: ${reason}`, {
      hint: "fix it, or the controller of its class",
    });
  }
  const open = spec?.listeners?.some(({ allowedRoutes }) => (allowedRoutes?.namespaces?.from ?? "Same") !== "Same");
  if (open === true) return text;
  throw clusterErrors.partMissing(`Gateway "${text}" accepts no routes of leases' namespaces`, {
    hint: "allow them with allowedRoutes in one of its listeners",
  });
}
