/** The hashes of `hash.ts` in JavaScript: those of browsers cannot be called synchronously. */
export { ripemd160 } from "@noble/hashes/legacy.js";
export { sha256 } from "@noble/hashes/sha2.js";
