import { createHash } from "node:crypto";
import { base32hexnopad } from "@scure/base";
import { type LeaseId, leaseText } from "./driver.ts";

/** Name space of a lease: lower-case base32hex of SHA-224 of the lease path, 45 characters, a legal DNS label. */
export function leaseNamespace(id: LeaseId): string {
  return base32hexnopad.encode(createHash("sha224").update(leaseText(id)).digest()).toLowerCase();
}

export function replicaName(service: string, index: number): string {
  return `${service}-${index}`;
}
