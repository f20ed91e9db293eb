import { createHash } from "node:crypto";
import { formatLeaseId, type LeaseKey } from "../../../../wire/index.ts";
import { leaseNamespace } from "../../contract/index.ts";
import type { ApiObject } from "../api/objects.ts";

/** Keys of the labels and annotations of everything that a lease has on the cluster. */
export const LABEL = {
  /** The lease's provider: its address, or its replacement in a label. */
  provider: "svc.provider",
  /** Namespace of the lease. */
  lease: "svc.lease",
  /** Annotation of the namespace: the lease's id as text. */
  id: "svc.lease.id",
  owner: "svc.lease.owner",
  dseq: "svc.lease.dseq",
  gseq: "svc.lease.gseq",
  oseq: "svc.lease.oseq",
  service: "svc.service",
  /** A leased address in the form that names of objects have. */
  address: "svc.address",
  /** Configuration of a pod; pods with the same text need no replacement. */
  config: "svc.config",
  /** How often the tenant had the service started again. */
  restarts: "svc.restarts",
  /** On namespaces whose pods bring requests from outside. */
  ingress: "svc.ingress",
} as const;

/** Labels of nodes that say which graphics processors are in them. */
export const GPU_LABEL = {
  vendor: "svc.gpu/vendor",
  model: "svc.gpu/model",
  ram: "svc.gpu/ram",
  interface: "svc.gpu/interface",
} as const;

/** Characters of the name of a workload: its revisions have a label of the name and a hash, at most 63 together. */
const MAX_WORKLOAD = 50;
const MAX_VOLUME = 40;
const MAX_LABEL = 63;

/** Name of the workload and other objects of a service; the service's own name if it is short enough. */
export function workloadName(service: string): string {
  return service.length <= MAX_WORKLOAD ? service : shortened(service, MAX_WORKLOAD);
}

/** Name of the object that opens the service's node ports. It does not depend on other names. */
export function nodePortsName(service: string): string {
  return `${shortened(service, MAX_WORKLOAD)}-ports`;
}

/** Name of the object that leads from a leased address to the service. Names of addresses may have any length. */
export function leasedIpName(service: string, endpoint: string): string {
  return `${shortened(service, MAX_WORKLOAD, `${service}/${endpoint}`)}-ip`;
}

/** Name of the policy that lets the ingress in. */
export function httpName(service: string): string {
  return `${shortened(service, MAX_WORKLOAD)}-http`;
}

export function credentialsName(service: string): string {
  return `${shortened(service, MAX_WORKLOAD)}-image`;
}

/** Name of the secret with the certificate of a host name. */
export function certificateName(host: string): string {
  return `${shortened(host.replaceAll(".", "-"), MAX_WORKLOAD, host)}-tls`;
}

/** Tenants may name volumes with characters that names of objects do not have. */
export function volumeName(volume: string): string {
  const isPlain = volume.length <= MAX_VOLUME && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(volume);
  return `vol-${isPlain ? volume : shortened(volume.toLowerCase().replaceAll(/[^a-z0-9]/g, "-"), MAX_VOLUME, volume)}`;
}

/** The beginning of a text and a hash of the whole. */
function shortened(text: string, length: number, whole = text): string {
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${text.slice(0, length - hash.length - 1).replace(/-+$/, "")}-${hash}`;
}

/** The text if a label can have it, or its replacement. */
export function labelValue(text: string): string {
  const isLegal = text.length <= MAX_LABEL && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text);
  return isLegal ? text : createHash("sha256").update(text).digest("hex").slice(0, 40);
}

/** Labels of every object of the lease. */
export function leaseLabels(provider: string, id: LeaseKey): Record<string, string> {
  return {
    [LABEL.provider]: labelValue(provider),
    [LABEL.lease]: leaseNamespace(id),
  };
}

/** Additional labels of the lease's namespace, for people. */
export function leaseIdLabels({ owner, dseq, gseq, oseq }: LeaseKey): Record<string, string> {
  return {
    [LABEL.owner]: labelValue(owner),
    [LABEL.dseq]: dseq.toString(),
    [LABEL.gseq]: gseq.toString(),
    [LABEL.oseq]: oseq.toString(),
  };
}

/** Selector of a service's pods. */
export function podSelector(namespace: string, service: string): Record<string, string> {
  return { [LABEL.lease]: namespace, [LABEL.service]: service };
}

/** The lease whose namespace it is, or undefined if it does not say so itself. */
export function leaseOfNamespace({ name, annotations }: ApiObject["metadata"]): LeaseKey | undefined {
  const [, owner = "", dseq = "", gseq, oseq, provider = ""] = ID_PATTERN.exec(annotations?.[LABEL.id] ?? "") ?? [];
  if (owner === "") return undefined;
  const id = { owner, dseq: BigInt(dseq), gseq: Number(gseq), oseq: Number(oseq), provider };
  return leaseNamespace(id) === name ? id : undefined;
}

const ID_PATTERN = /^([^/]{1,200})\/(\d{1,20})\/(\d{1,10})\/(\d{1,10})\/([^/]{1,200})$/;

/** The lease's id for people and `leaseOfNamespace`. */
export function leaseIdAnnotation(id: LeaseKey): Record<string, string> {
  return { [LABEL.id]: formatLeaseId(id) };
}
