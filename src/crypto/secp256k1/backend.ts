import { createRequire } from "node:module";
import { portableBackend, type Secp256k1Backend } from "./portable.ts";

const require = createRequire(import.meta.url);

/** The C library through its prebuilt addon; throws where the addon does not load. */
export function loadNativeBackend(): Secp256k1Backend {
  // The `bindings` entry is loaded because the package's main entry silently falls back to a slow implementation.
  const lib: typeof import("secp256k1") = require("secp256k1/bindings");
  return {
    name: "native",
    publicKey: (privateKey) => lib.publicKeyCreate(privateKey, true),
    sign: (digest, privateKey) => lib.ecdsaSign(digest, privateKey).signature,
    verify: (digest, signature, publicKey) => lib.ecdsaVerify(signature, digest, publicKey),
  };
}

/** The JavaScript library, loaded when it is needed. */
export function loadPortableBackend(): Secp256k1Backend {
  const { secp256k1 }: typeof import("@noble/curves/secp256k1.js") = require("@noble/curves/secp256k1.js");
  return portableBackend(secp256k1);
}

let loaded: Secp256k1Backend | undefined;

/** The fastest back end of this machine, loaded at first use. */
export function secp256k1Backend(): Secp256k1Backend {
  if (loaded === undefined) {
    try {
      loaded = loadNativeBackend();
    } catch {
      loaded = loadPortableBackend();
    }
  }
  return loaded;
}
