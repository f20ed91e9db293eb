import { isCanonicalSignature } from "../../crypto/index.ts";
import { equalBytes, sdkErrors, toHex } from "../../util/index.ts";
import type { ModeInfo, SignerInfo } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  bitAt,
  decodeMultiSignature,
  encodeAddress,
  encodeAminoPublicKey,
  givenSignatures,
  type PublicKey,
  publicKeyAddress,
  type SignableTx,
  type SignerData,
  SignMode,
  verifySignature,
} from "../../wire/index.ts";
import type { Context } from "../context.ts";
import type { Account } from "./account.ts";

/** One signer, with its account on the chain and the transaction's signer info. */
export interface SignedBy {
  readonly index: number;
  readonly account: Account;
  /** The account's key, or the one that came with the transaction; unknown in simulations only. */
  readonly publicKey: PublicKey | undefined;
  /** The key that came with the transaction. */
  readonly sent: PublicKey | undefined;
  readonly info: SignerInfo | undefined;
  readonly signature: Uint8Array | undefined;
  /** The sequences that the transaction may have: one, unless it replaces a waiting one. */
  readonly sequences: SequenceRange;
}

/** Sequences from the account's sequence on the chain on; `next` is for a further transaction. */
export interface SequenceRange {
  readonly first: bigint;
  readonly last: bigint;
  readonly next: bigint;
}

/** Signatures of one transaction known to be valid, by every input of their validity except its bytes. */
export type VerifiedSignatures = Set<string>;

/** How many signatures a key counts for: every member of a threshold key, whether it signs or not. */
export function signatureCount(key: PublicKey | undefined): number {
  return key?.type === "multisig" ? key.keys.length : 1;
}

/** Consumes the gas before the work: one price for every signature that will be verified. */
export function consumeSignatureGas(ctx: Context, { publicKey, info }: SignedBy, cost: bigint): void {
  const count = publicKey?.type === "multisig" ? signingMembers(publicKey.keys.length, info?.modeInfo) : 1;
  ctx.gas.consume(cost * BigInt(count), "ante verify: secp256k1");
}

function signingMembers(members: number, modeInfo: ModeInfo | undefined): number {
  const bits = modeInfo?.sum.case === "multi" ? modeInfo.sum.value.bitarray : undefined;
  if (bits === undefined) return members;
  return Array.from({ length: members }, (_, i) => bitAt(bits, i)).filter(Boolean).length;
}

/**
 * Requirements of a simulated transaction, whose signatures are not verified: the account's sequence, and for a
 * threshold account the form of a threshold signature, without which the gas of its members would be unknown.
 */
export function checkSimulated({ account, publicKey, info, signature, sequences }: SignedBy): void {
  if (info === undefined || signature === undefined) throw sdkErrors.noSignatures();
  checkSequence(sequences, info);
  if (publicKey?.type !== "multisig") return;
  const address = encodeAddress(account.address);
  if (info.modeInfo?.sum.case !== "multi")
    throw sdkErrors.unauthorized(
      `${address} is an account of a multisig key: expected a multisignature, got a single one`,
    );
  const { bitarray, modeInfos } = info.modeInfo.sum.value;
  const given = decodeMultiSignature(signature).length;
  // Clients of the reference leave the bits out when they only ask for the gas.
  const signing = bitarray === undefined ? modeInfos.length : signingMembers(publicKey.keys.length, info.modeInfo);
  if (given !== modeInfos.length || given !== signing)
    throw sdkErrors.unauthorized(
      `${given} signatures and ${modeInfos.length} modes for ${signing} signing members of ${address}`,
    );
}

function checkSequence({ first, last, next }: SequenceRange, { sequence }: SignerInfo): void {
  if (first <= sequence && sequence <= last) return;
  throw sdkErrors.wrongSequence(`account sequence mismatch, expected ${next}, got ${sequence}`);
}

/** Checks that the key belongs to the account, the sequence, and the signature itself. */
export function checkSignature(ctx: Context, tx: SignableTx, signed: SignedBy, verified: VerifiedSignatures): void {
  const { index } = signed;
  const { publicKey, info, signature } = checkSigner(signed);
  if (ctx.mode === "recheck") return;
  const signer = signerData(ctx, signed, info);
  const id = `${index}/${signer.chainId}/${signer.accountNumber}/${signer.sequence}/${keyText(publicKey)}`;
  if (verified.has(id)) return;
  if (!verifySignature(tx, publicKey, { modeInfo: info.modeInfo, signature, signer })) throw badSignature(info, signer);
  verified.add(id);
}

/** Checks everything about a signature that does not need the sign bytes: its signer, sequence and form. */
export function checkSignatureForm(ctx: Context, signed: SignedBy): void {
  const { publicKey, info, signature } = checkSigner(signed);
  const given = givenSignatures(publicKey, { modeInfo: info.modeInfo, signature });
  if (!given.every((each) => isCanonicalSignature(each.signature)))
    throw badSignature(info, signerData(ctx, signed, info));
}

function checkSigner(signed: SignedBy) {
  const { publicKey, info, signature } = signed;
  if (publicKey === undefined || info === undefined || signature === undefined) throw sdkErrors.noSignatures();
  checkKeyOwner(signed);
  checkSequence(signed.sequences, info);
  return { publicKey, info, signature };
}

function signerData(ctx: Context, { account }: SignedBy, { sequence }: SignerInfo): SignerData {
  return { chainId: ctx.block.chainId, accountNumber: ctx.mode === "genesis" ? 0n : account.number, sequence };
}

/**
 * A stored key was checked when it was stored; one that came along must hash to the address. Amino JSON does not cover
 * it: another key in its place would be the same transaction under another hash.
 */
function checkKeyOwner({ account, sent, index }: SignedBy): void {
  const { publicKey: stored } = account;
  if (sent === undefined || (stored !== undefined && isSameKey(sent, stored))) return;
  if (equalBytes(publicKeyAddress(sent), account.address)) return;
  throw sdkErrors.invalidPubKey(
    `pubKey does not match signer address ${encodeAddress(account.address)} with signer index: ${index}`,
  );
}

function isSameKey(a: PublicKey, b: PublicKey): boolean {
  if (a.type === "multisig" || b.type === "multisig") return keyText(a) === keyText(b);
  return equalBytes(a.key, b.key);
}

function keyText(key: PublicKey): string {
  return toHex(key.type === "multisig" ? encodeAminoPublicKey(key) : key.key);
}

function badSignature({ modeInfo }: SignerInfo, { accountNumber, sequence, chainId }: SignerData): Error {
  const isDirect = modeInfo?.sum.case === "single" && modeInfo.sum.value.mode === SignMode.DIRECT;
  const numbers = isDirect
    ? `account number (${accountNumber}) and chain-id (${chainId})`
    : `account number (${accountNumber}), sequence (${sequence}) and chain-id (${chainId})`;
  return sdkErrors.unauthorized(`signature verification failed; please verify ${numbers}`);
}
