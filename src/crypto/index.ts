export * from "./address.ts";
export * from "./armor/index.ts";
export * from "./certificate/index.ts";
export { decodePem, encodePem, signatureFromDer } from "./der.ts";
export * from "./ed25519.ts";
export { ripemd160, sha256, sha256OfParts } from "./hash.ts";
export * from "./mnemonic/index.ts";
export * from "./secp256k1/index.ts";
export * from "./token/index.ts";
