import { existsSync } from "node:fs";
import {
  asSwitch,
  asText,
  asWords,
  commandError,
  oneOf,
  optional,
  type ReadSetting,
  type SettingTable,
  WrongForm,
} from "../../../util/index.ts";
import { addressPool, MAX_POOL } from "../shared/index.ts";

/** A Gateway of the Gateway API. */
export interface GatewayName {
  readonly namespace: string;
  readonly name: string;
}

/** Standards of Kubernetes for pods; `restricted` runs no image as root. */
export type PodSecurity = "restricted" | "baseline";

const INGRESSES = ["cluster", "provider", "forward"] as const;

export const KUBERNETES_PLACES = {
  orchestrator: {
    name: "cluster-orch",
    alias: "cluster-k8s",
    summary: "the same as --cluster kubernetes",
    parse: asSwitch,
  },
  config: {
    name: "clusterconfig",
    alias: "kubeconfig",
    value: "<file>",
    summary: "configuration file of the Kubernetes cluster; also chooses --cluster kubernetes",
    parse: optional(asText),
  },
} as const satisfies SettingTable;

export const KUBERNETES_SETTINGS = {
  ingress: {
    name: "cluster-ingress",
    summary:
      "whose ingress serves host names; the provider's own must reach pod addresses, or it forwards pod ports through the API server",
    ...oneOf(INGRESSES),
  },
  ingressClass: {
    name: "cluster-ingress-class",
    value: "<name>",
    summary: "ingress class of host names (default: the cluster's own)",
    parse: optional(asText),
  },
  ingressScheme: {
    name: "cluster-ingress-scheme",
    summary: "how host names are reached through the cluster's ingress; with https Ingress objects ask for TLS",
    ...oneOf(["http", "https"]),
  },
  ingressIssuer: {
    name: "cluster-ingress-issuer",
    value: "<name>",
    summary: "ClusterIssuer of cert-manager that issues certificates for host names; turns https on",
    parse: optional(asText),
  },
  gateway: {
    name: "cluster-gateway",
    value: "<namespace/name>",
    summary: "Gateway (Gateway API) that serves host names, instead of Ingress objects",
    parse: optional(parseGateway),
  },
  leasedIps: {
    name: "cluster-leased-ips",
    value: "<addresses>",
    summary: "IP addresses to lease through a load balancer, such as 203.0.113.0/28,198.51.100.10-198.51.100.20",
    default: "",
    parse: parseAddressPool,
  },
  podSecurity: {
    name: "cluster-pod-security",
    summary: "standard for pods of leases; baseline lets images run as root of their container",
    ...oneOf<PodSecurity>(["restricted", "baseline"]),
  },
} as const satisfies SettingTable;

/** The settings of a cluster as its operator has them. */
export interface KubernetesSettings {
  /** The ingress of host names; `forward` is the provider's, which reaches pods through the cluster's API. */
  readonly ingress: (typeof INGRESSES)[number];
  /** The class of Ingress objects; the cluster's default if there is none. */
  readonly ingressClass: string | undefined;
  /** How browsers reach the cluster's ingress. */
  readonly scheme: "http" | "https";
  readonly issuer: string | undefined;
  readonly gateway: GatewayName | undefined;
  readonly leasedIps: readonly string[];
  readonly podSecurity: PodSecurity;
}

export function readKubernetesSettings(read: ReadSetting): KubernetesSettings {
  const issuer = read(KUBERNETES_SETTINGS.ingressIssuer);
  return {
    ingress: read(KUBERNETES_SETTINGS.ingress),
    ingressClass: read(KUBERNETES_SETTINGS.ingressClass),
    scheme: issuer === undefined ? read(KUBERNETES_SETTINGS.ingressScheme) : "https",
    issuer,
    gateway: read(KUBERNETES_SETTINGS.gateway),
    leasedIps: read(KUBERNETES_SETTINGS.leasedIps),
    podSecurity: read(KUBERNETES_SETTINGS.podSecurity),
  };
}

/** The configuration file, if one is named. */
export function namedConfiguration(read: ReadSetting): string | undefined {
  const path = read(KUBERNETES_PLACES.config);
  if (path === undefined || existsSync(path)) return path;
  throw commandError(`there is no file ${path}`, { hint: "name the cluster's configuration with --clusterconfig" });
}

/** A namespace, as clusters take its name. */
const SPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** The namespace of the descriptions of leases, where nothing runs. */
const KEPT = "lease";

export const INSTALL_SETTINGS = {
  namespace: {
    name: "provider-namespace",
    value: "<name>",
    summary: "namespace of the provider's service account, and of the provider if it runs on the cluster",
    default: "svc-provider",
    parse: parseSpace,
  },
} as const satisfies SettingTable;

function parseSpace(name: string): string {
  if (!SPACE.test(name)) throw new Error(`${name} is not the name of a namespace; write one such as svc-provider`);
  if (name === KEPT) throw new Error(`${KEPT} is reserved for the records of leases; choose another one`);
  return name;
}

function parseGateway(text: string): GatewayName {
  const [namespace = "", name = "", ...more] = text.split("/");
  const isName = (word: string): boolean => word.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(word);
  if (more.length === 0 && isName(namespace) && isName(name)) return { namespace, name };
  throw new WrongForm("a namespace and a name such as gateways/tenants");
}

/** Every address of networks, ranges and single addresses, separated by commas. */
function parseAddressPool(text: string): readonly string[] {
  const pool = addressPool(asWords(text));
  if (pool !== undefined) return pool;
  throw new WrongForm(
    `networks, ranges or addresses such as 203.0.113.0/28,198.51.100.10-198.51.100.20, at most ${MAX_POOL} addresses`,
  );
}
