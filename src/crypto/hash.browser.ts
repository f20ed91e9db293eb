import { sha256 } from "@noble/hashes/sha2.js";

/** The hashes of `hash.ts` in JavaScript: the browser's own hashes cannot be called synchronously. */
export { ripemd160 } from "@noble/hashes/legacy.js";
export { sha256 };

export function sha256OfParts(write: (add: (text: string) => void) => void): Uint8Array {
  const running = sha256.create();
  write((text) => running.update(new TextEncoder().encode(text)));
  return running.digest();
}
