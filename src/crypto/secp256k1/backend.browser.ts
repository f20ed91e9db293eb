import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { Secp256k1Backend } from "./portable.ts";
import { portableBackend } from "./portable.ts";

let loaded: Secp256k1Backend | undefined;

/** The only back end in browsers. */
export function secp256k1Backend(): Secp256k1Backend {
  loaded ??= portableBackend(secp256k1);
  return loaded;
}
