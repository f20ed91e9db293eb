/** Transactions: strict decoding, sign bytes of both modes, signers, and verification and forms of signatures. */
export {
  type AminoNames,
  type AminoSignable,
  aminoFee,
  aminoMessage,
  aminoPublicKey,
  aminoSignBytes,
  publicKeyFromJson,
  type SignerData,
} from "./amino.ts";
export { type Envelope, readEnvelope } from "./envelope.ts";
export * from "./sign-bytes.ts";
export * from "./signatures.ts";
export * from "./signers.ts";
export * from "./strict.ts";
export * from "./tx.ts";
