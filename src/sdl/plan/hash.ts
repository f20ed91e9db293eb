import { sha256 } from "@noble/hashes/sha2.js";
import { escaped, toUtf8 } from "../../util/index.ts";
import type { Manifest } from "../manifest.ts";

/** 32 bytes: sha256 of the manifest's canonical JSON. The deployment on the chain carries it as its version. */
export function manifestHash(manifest: Manifest): Uint8Array {
  return sha256(toUtf8(manifestJson(manifest)));
}

/**
 * The canonical JSON of a manifest, in which it is hashed and sent: keys sorted, no white space, and `<`, `>`, `&`,
 * U+2028 and U+2029 escaped, as the ecosystem's reference tools print it.
 */
export function manifestJson(manifest: Manifest): string {
  return JSON.stringify(manifest, canonicalValue).replace(/[<>&\u2028\u2029]/g, escaped);
}

/** Objects with sorted keys; a protected machine in the long form that the reference prints. */
function canonicalValue(key: string, value: unknown): unknown {
  if (key === "tee" && typeof value === "string") return { attestation: true, type: value };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
