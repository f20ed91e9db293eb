/** Keys and signatures of accounts. */
export { isCanonicalSignature, isCompressedForm, isPrivateKey } from "./portable.ts";
export { generatePrivateKey, publicKeyOf, signSecp256k1, verifySecp256k1 } from "./secp256k1.ts";
