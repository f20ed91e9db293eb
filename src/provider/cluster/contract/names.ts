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
