/** Transactions: strict decoding, sign bytes of both modes, signers, and verification of signatures. */
export {
  type AminoNames,
  type AminoSignable,
  aminoFee,
  aminoMessage,
  aminoPublicKey,
  aminoSignBytes,
  type SignerData,
} from "./amino.ts";
export { type Envelope, readEnvelope } from "./envelope.ts";
export { publicKeyFromJson } from "./keys-json.ts";
export * from "./signature-descriptors.ts";
export * from "./signers.ts";
export * from "./strict.ts";
export * from "./tx.ts";
export * from "./verify.ts";
