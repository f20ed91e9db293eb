import { create } from "@bufbuild/protobuf";
import { verifySecp256k1 } from "../../crypto/index.ts";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import {
  type SignatureDescriptor,
  type SignatureDescriptor_Data,
  SignatureDescriptor_DataSchema,
  SignatureDescriptorSchema,
} from "../gen/sdk/tx/signing/v1beta1/signing_pb.js";
import type { ModeInfo, SignerInfo } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeMultiSignature,
  type MemberSignature,
  memberSignatures,
  type PublicKey,
  publicKeyFromAny,
} from "../keys/index.ts";
import { hasOtherAminoName, type SignerData } from "./amino.ts";
import { type SignableTx, signBytes } from "./sign-bytes.ts";
import { SignMode } from "./tx.ts";

/** A signer's signature in the form of its mode, and the data it covers besides the transaction. */
export interface SignatureOf {
  readonly modeInfo: ModeInfo | undefined;
  readonly signature: Uint8Array;
  readonly signer: SignerData;
}

/**
 * Whether a key gave a signature of a transaction; for a multisig key, whether enough members did and all their
 * signatures are valid. Throws `sdkErrors.unauthorized` if form and key do not fit.
 */
export function verifySignature(tx: SignableTx, key: PublicKey, signed: SignatureOf): boolean {
  const bytesOf = signBytesOnce(tx, signed.signer);
  return givenSignatures(key, signed).every(({ publicKey, mode, signature }) => {
    const bytes = bytesOf(mode);
    if (verifySecp256k1(publicKey.key, bytes, signature)) return true;
    // Libraries of the ecosystem still use names of messages that the reference has given up.
    if (mode !== SignMode.LEGACY_AMINO_JSON || !mayHaveOtherText(tx)) return false;
    const other = bytesOf(mode, "other");
    return !equalBytes(bytes, other) && verifySecp256k1(publicKey.key, other, signature);
  });
}

/**
 * The signatures that a signer gave, each with the key that it must be of; nothing is verified. Throws
 * `sdkErrors.unauthorized` where form and key do not go together.
 */
export function givenSignatures(
  key: PublicKey,
  { modeInfo, signature }: Pick<SignatureOf, "modeInfo" | "signature">,
): MemberSignature[] {
  if (key.type === "multisig") {
    if (modeInfo?.sum.case !== "multi") throw sdkErrors.unauthorized("a multisignature is needed here");
    return memberSignatures(key, modeInfo.sum.value, signature);
  }
  if (modeInfo?.sum.case !== "single") throw sdkErrors.unauthorized("a single signature is needed here");
  return [{ publicKey: key, mode: modeInfo.sum.value.mode, signature }];
}

function mayHaveOtherText({ decoded }: SignableTx): boolean {
  return decoded === undefined || decoded.messages.some(hasOtherAminoName);
}

/** Makes the sign bytes once for all members of a key: as text they cost more than the signatures. */
function signBytesOnce(tx: SignableTx, signer: SignerData) {
  const known = new Map<string, Uint8Array>();
  const otherNames = signer.aminoNames === "older" ? "current" : "older";
  return (mode: SignMode, names: "own" | "other" = "own"): Uint8Array => {
    const name = `${mode}/${names}`;
    const bytes =
      known.get(name) ?? signBytes(mode, tx, names === "own" ? signer : { ...signer, aminoNames: otherNames });
    known.set(name, bytes);
    return bytes;
  };
}

/** A signature by itself, in the form that travels between the signers of a transaction. */
export function describeSignature(info: SignerInfo, signature: Uint8Array): SignatureDescriptor {
  const { publicKey, sequence } = info;
  const data = describeData(info, signature);
  return create(SignatureDescriptorSchema, { ...(publicKey === undefined ? {} : { publicKey }), data, sequence });
}

function describeData({ modeInfo }: SignerInfo, signature: Uint8Array): SignatureDescriptor_Data {
  const sum = modeInfo?.sum;
  if (sum?.case !== "multi") return single(sum?.case === "single" ? sum.value.mode : SignMode.UNSPECIFIED, signature);
  const { bitarray, modeInfos } = sum.value;
  const signatures = decodeMultiSignature(signature).map((bytes, i) => {
    const member = modeInfos[i]?.sum;
    return single(member?.case === "single" ? member.value.mode : SignMode.UNSPECIFIED, bytes);
  });
  const value = { ...(bitarray === undefined ? {} : { bitarray }), signatures };
  return create(SignatureDescriptor_DataSchema, { sum: { case: "multi", value } });
}

function single(mode: SignMode, signature: Uint8Array): SignatureDescriptor_Data {
  return create(SignatureDescriptor_DataSchema, { sum: { case: "single", value: { mode, signature } } });
}

/** The share of a member of a multisig. Throws `sdkErrors.invalidRequest` unless it is a signature of one key. */
export function memberSignatureOf({ publicKey, data }: SignatureDescriptor): MemberSignature {
  const key = publicKey === undefined ? undefined : publicKeyFromAny(publicKey);
  const sum = data?.sum;
  if (key === undefined || key.type === "multisig" || sum?.case !== "single") {
    throw sdkErrors.invalidRequest("it does not hold the signature of one key");
  }
  return { publicKey: key, mode: sum.value.mode, signature: sum.value.signature };
}
