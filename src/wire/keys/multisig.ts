import { create } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import { decodeStrictly, encodeMessage } from "../codec/index.ts";
import {
  type CompactBitArray,
  CompactBitArraySchema,
  MultiSignatureSchema,
} from "../gen/sdk/crypto/multisig/v1beta1/multisig_pb.js";
import type { SignMode } from "../gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { type ModeInfo, type ModeInfo_Multi, ModeInfoSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import type { MultisigPublicKey, SinglePublicKey } from "./public-key.ts";

/** Bits of the array, most significant first; undefined where its two fields contradict each other. */
export function bitArraySize(bits: CompactBitArray): number | undefined {
  const { extraBitsStored: extra, elems } = bits;
  if (extra > 7 || (extra > 0 && elems.length === 0)) return undefined;
  return extra === 0 ? elems.length * 8 : (elems.length - 1) * 8 + extra;
}

export function bitAt(bits: CompactBitArray, index: number): boolean {
  return (((bits.elems[index >> 3] ?? 0) >> (7 - (index % 8))) & 1) === 1;
}

/** One bit for each member of a multisig key: whether it signed. */
export function makeBitArray(flags: readonly boolean[]): CompactBitArray {
  const elems = new Uint8Array(Math.ceil(flags.length / 8));
  flags.forEach((flag, i) => {
    if (flag) elems[i >> 3] = (elems[i >> 3] ?? 0) | (1 << (7 - (i % 8)));
  });
  return create(CompactBitArraySchema, { extraBitsStored: flags.length % 8, elems });
}

/** The byte string that stands for all signatures of a multisig signer. */
export function encodeMultiSignature(signatures: readonly Uint8Array[]): Uint8Array {
  return encodeMessage(MultiSignatureSchema, create(MultiSignatureSchema, { signatures: [...signatures] }));
}

/** The same in legacy amino: the form that `tx sign --amino` prints. */
export function encodeAminoMultiSignature(bits: CompactBitArray, signatures: readonly Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(encodeMessage(CompactBitArraySchema, bits));
  for (const signature of signatures) writer.tag(2, WireType.LengthDelimited).bytes(signature);
  return writer.finish();
}

/** The signatures in the byte string of a multisig signer. Throws `sdkErrors.unauthorized`. */
export function decodeMultiSignature(signature: Uint8Array): Uint8Array[] {
  return decodeStrictly(MultiSignatureSchema, signature, sdkErrors.unauthorized).signatures;
}

/** One member's share of a multisig signature. */
export interface MemberSignature {
  readonly publicKey: SinglePublicKey;
  readonly mode: SignMode;
  readonly signature: Uint8Array;
}

/** The signature of a multisig signer. */
export interface CombinedSignature {
  readonly modeInfo: ModeInfo;
  readonly signature: Uint8Array;
}

/**
 * Combines the members' shares into the signature of their multisig, in the order of the key; a later share of a member
 * replaces an earlier one. Verifies no signature. Throws `sdkErrors.invalidPubKey` for a share of a non-member and
 * `sdkErrors.unauthorized` for too few shares.
 */
export function combineSignatures(key: MultisigPublicKey, shares: readonly MemberSignature[]): CombinedSignature {
  const byMember = key.keys.map((member) => shares.findLast((share) => equalBytes(share.publicKey.key, member.key)));
  if (!shares.every(({ publicKey }) => key.keys.some((member) => equalBytes(member.key, publicKey.key)))) {
    throw sdkErrors.invalidPubKey("a signature is not of a member of the multisig");
  }
  const signed = byMember.filter((share) => share !== undefined);
  if (signed.length < key.threshold) {
    throw sdkErrors.unauthorized(`not enough signatures, have ${signed.length}, expected ${key.threshold}`, {
      hint: "give the signatures of more members",
    });
  }
  const modeInfos = signed.map(({ mode }) => ({ sum: { case: "single" as const, value: { mode } } }));
  const bitarray = makeBitArray(byMember.map((share) => share !== undefined));
  return {
    modeInfo: create(ModeInfoSchema, { sum: { case: "multi", value: { bitarray, modeInfos } } }),
    signature: encodeMultiSignature(signed.map((share) => share.signature)),
  };
}

/**
 * Pairs the signatures of a multisig signer with the members that gave them, after checking that there are enough and
 * that nothing is left over. Verifies no signature. Throws `sdkErrors.unauthorized`.
 */
export function memberSignatures(
  key: MultisigPublicKey,
  mode: ModeInfo_Multi,
  signature: Uint8Array,
): MemberSignature[] {
  const { bitarray, modeInfos } = mode;
  const size = bitarray === undefined ? undefined : bitArraySize(bitarray);
  if (bitarray === undefined || size !== key.keys.length) {
    throw sdkErrors.unauthorized(`bit array of ${size ?? "no valid"} size does not match the ${key.keys.length} keys`);
  }
  const signers = key.keys.filter((_, i) => bitAt(bitarray, i));
  const signatures = decodeMultiSignature(signature);
  if (signers.length < key.threshold) {
    throw sdkErrors.unauthorized(`not enough signatures set, have ${signers.length}, expected ${key.threshold}`);
  }
  if (signatures.length !== signers.length || modeInfos.length !== signers.length) {
    throw sdkErrors.unauthorized(`${signatures.length} signatures for ${signers.length} signing members`);
  }
  return signers.map((publicKey, i) => {
    const sum = modeInfos[i]?.sum;
    const bytes = signatures[i];
    if (sum?.case !== "single" || bytes === undefined)
      throw sdkErrors.unauthorized("a member of a multisig signs by itself");
    return { publicKey, mode: sum.value.mode, signature: bytes };
  });
}
