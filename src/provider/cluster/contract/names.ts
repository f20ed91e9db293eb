import { createHash } from "node:crypto";
import { base32hexnopad } from "@scure/base";
import { formatLeaseId, type LeaseKey } from "../../../wire/index.ts";

/** Namespace of a lease: lower-case base32hex of SHA-224 of the lease path, 45 characters, a legal DNS label. */
export function leaseNamespace(id: LeaseKey): string {
  return base32hexnopad.encode(createHash("sha224").update(formatLeaseId(id)).digest()).toLowerCase();
}

export function replicaName(service: string, index: number): string {
  return `${service}-${index}`;
}

/** TCP port on which the image of the trial answers `PROBE_ANSWER`, once it has written to a file in `PROBE_MOUNT`. */
export const PROBE_PORT = 8080;
export const PROBE_MOUNT = "/data";
export const PROBE_ANSWER = "runs\n";
/** Host name of the trial at the ingress: never resolved, never in a certificate, and never a tenant's. */
export const PROBE_HOST = "svc-probe.invalid";

/** The lease of the trial: no deployment of the chain has this number. */
export function probeLease(provider: string): LeaseKey {
  return { owner: provider, dseq: 0n, gseq: 1, oseq: 1, provider };
}

export function isProbeLease({ dseq }: LeaseKey): boolean {
  return dseq === 0n;
}
