import { createHash, hash } from "node:crypto";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** SHA-256 (FIPS 180-4), 32 bytes. */
export function sha256(data: Uint8Array): Uint8Array {
  return hash("sha256", data, "buffer");
}

/** SHA-256 of text that comes in parts, for text that is too large to be in memory twice. */
export function sha256OfParts(write: (add: (text: string) => void) => void): Uint8Array {
  const running = createHash("sha256");
  write((text) => running.update(text, "utf8"));
  return running.digest();
}

/** RIPEMD-160. OpenSSL builds without its legacy digests lack it; the portable implementation gives the same bytes. */
export function ripemd160(data: Uint8Array): Uint8Array {
  return ripemd160Implementation(data);
}

type Digest = (data: Uint8Array) => Uint8Array;

let ripemd160Implementation: Digest = (data) => {
  ripemd160Implementation = chooseRipemd160();
  return ripemd160Implementation(data);
};

function chooseRipemd160(): Digest {
  const native: Digest = (data) => createHash("ripemd160").update(data).digest();
  try {
    native(new Uint8Array());
    return native;
  } catch {
    return portableRipemd160();
  }
}

/** The implementation that needs nothing from the platform. */
export function portableRipemd160(): Digest {
  const legacy: typeof import("@noble/hashes/legacy.js") = require("@noble/hashes/legacy.js");
  return legacy.ripemd160;
}
