/** Keys and signatures of accounts. */
export {
  generatePrivateKey,
  isCanonicalSignature,
  isCompressedForm,
  isPrivateKey,
  publicKeyOf,
  signSecp256k1,
  verifySecp256k1,
} from "./secp256k1.ts";
