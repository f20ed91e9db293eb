export * from "./address.ts";
export { type ArmorBlock, decodeArmor, encodeArmor } from "./ascii-armor.ts";
export * from "./certificate.ts";
export { type CertificateRequest, createCertificate, type NewCertificate } from "./certificate-create.ts";
export { signatureFromDer } from "./der-signature.ts";
export * from "./ed25519.ts";
export { ripemd160, sha256 } from "./hash.ts";
export * from "./hd-path.ts";
export * from "./jwt.ts";
export type { TokenClaims, TokenLeases, TokenScope } from "./jwt-claims.ts";
export * from "./key-armor.ts";
export * from "./mnemonic.ts";
export { decodePem, encodePem } from "./pem.ts";
export {
  generatePrivateKey,
  isCanonicalSignature,
  isCompressedForm,
  isPrivateKey,
  publicKeyOf,
  signSecp256k1,
  verifySecp256k1,
} from "./secp256k1.ts";
