import { createHash } from "node:crypto";
import { base32hexnopad } from "@scure/base";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";

/** RFC 4122 appendix C: the namespace of domain names. */
const DNS_NAMESPACE = Buffer.from("6ba7b8109dad11d180b400c04fd430c8", "hex");

/** Host name of a service under the provider's domain: the same for every update of the lease. */
export function generatedHost(id: LeaseKey, service: string, domain: string): string {
  return `${base32hexnopad.encode(uuidV5(DNS_NAMESPACE, `${formatLeaseId(id)}${service}`)).toLowerCase()}.${domain}`;
}

/** Host name under the provider's domain that stands for an account: a CNAME of it gives the account a name. */
export function accountHost(owner: string, domain: string): string {
  return `${base32hexnopad.encode(uuidV5(DNS_NAMESPACE, owner)).toLowerCase()}.${domain}`;
}

/** RFC 4122 section 4.3: 16 bytes from SHA-1 of namespace and name. */
export function uuidV5(namespace: Uint8Array, name: string): Uint8Array {
  const bytes = createHash("sha1").update(namespace).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes;
}
