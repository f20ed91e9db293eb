import { create } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { KeyInfo } from "../../../keyring/index.ts";
import { equalBytes, toHex } from "../../../util/index.ts";
import { AuthInfoSchema, type SignerInfo, SignerInfoSchema, type Tx } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  isReadable,
  namespaceOf,
  opaqueTypes,
  type PublicKey,
  parseBech32,
  publicKeyAddress,
  publicKeyFromAny,
  publicKeyToAny,
  type SignerData,
  SignMode,
  signBytes,
  singleMode,
  txSigners,
  unpackAny,
} from "../../../wire/index.ts";
import type { Flags } from "../../command/flags.ts";
import type { CliContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { signerOf } from "../../keys/signer.ts";
import { txParts } from "./file.ts";

/** All inputs of one signature. */
export interface Signing {
  readonly context: CliContext;
  readonly tx: Tx;
  readonly key: KeyInfo;
  readonly mode: SignMode;
  /** Data of the account that the signature is for: the key's own, or a multisig with it as a member. */
  readonly data: SignerData;
  /** The new signature takes the place of all others. */
  readonly overwrite: boolean;
}

/** One signer of a transaction with its signature. */
export interface Signature {
  readonly info: SignerInfo;
  readonly signature: Uint8Array;
}

/** A transaction with a further signature, and that signature. */
export interface Signed extends Signature {
  readonly tx: Tx;
}

/** Adds a signature to a transaction. */
export async function signTx({ context, tx, key, mode, data: numbers, overwrite }: Signing): Promise<Signed> {
  const data = numbersFor(tx, numbers);
  const info = create(SignerInfoSchema, {
    publicKey: signerKey(tx, key.publicKey),
    modeInfo: singleMode(mode),
    sequence: data.sequence,
  });
  const draft = withSignature(tx, { info, signature: new Uint8Array() }, overwrite);
  const signer = await signerOf(context, { address: "", key });
  const signature = await signer.sign(signBytes(mode, txParts(draft), data), mode);
  return { tx: withSignature(tx, { info, signature }, overwrite), info, signature };
}

/** Data that a signature covers; an unordered transaction has no sequence. */
export function numbersFor<T extends SignerData>(tx: Tx, data: T): T {
  return tx.body?.unordered === true ? { ...data, sequence: 0n } : data;
}

/** A public key in the spelling of the transaction's messages. */
export function signerKey(tx: Tx, publicKey: PublicKey): ReturnType<typeof publicKeyToAny> {
  return publicKeyToAny(publicKey, namespaceOf(tx.body?.messages[0]?.typeUrl ?? ""));
}

/** The transaction with a signature added in its place: the order of the signers, which the chain goes by. */
export function withSignature(tx: Tx, added: Signature, overwrite: boolean): Tx {
  const infos = overwrite ? [] : (tx.authInfo?.signerInfos ?? []);
  const existing = infos.map((info, i) => ({ info, signature: tx.signatures[i] ?? new Uint8Array() }));
  const signers = signersOf(tx).map((signer) => toHex(addressBytes(signer)));
  const rank = ({ info }: Signature): number => signers.indexOf(addressOf(info));
  const others = existing.filter(({ info }) => addressOf(info) !== addressOf(added.info));
  const entries = [...others, added].sort((a, b) => rank(a) - rank(b));
  const fee = tx.authInfo?.fee;
  const signerInfos = entries.map(({ info }) => info);
  const authInfo = create(AuthInfoSchema, { signerInfos, ...(fee === undefined ? {} : { fee }) });
  return { ...tx, authInfo, signatures: entries.map(({ signature }) => signature) };
}

/** Address of a signer's key in hexadecimal. */
function addressOf({ publicKey }: SignerInfo): string {
  return publicKey === undefined ? "" : toHex(publicKeyAddress(publicKeyFromAny(publicKey)));
}

/** Who claims to be a signer of a transaction. */
export interface Claim {
  /** Name of the key, for the refusal. */
  readonly name: string;
  readonly account: Uint8Array;
  readonly mode: SignMode;
}

/** Refuses a key that is not a signer, and a mode in which several signers could not sign in turn. */
export function checkSigner(tx: Tx, { name, account, mode }: Claim): void {
  const signers = signersOf(tx);
  const isOpen = opaqueTypes(tx.body?.messages ?? []).length > 0;
  if (!isOpen && !signers.some((signer) => equalBytes(addressBytes(signer), account))) {
    const text = `tx intended signer does not match the given signer: ${name}`;
    throw commandError(text, { hint: `it must be signed by ${signers.join(" and ")}` });
  }
  if (signers.length > 1 && mode === SignMode.DIRECT) {
    const hint = "use --sign-mode amino-json: the transaction has several signers";
    throw usageError("signatures of mode direct cover each other and cannot be added in turn", hint);
  }
}

export function signersOf(tx: Tx): string[] {
  return txSigners((tx.body?.messages ?? []).filter(isReadable).map(unpackAny), tx.authInfo?.fee);
}

/** Refuses to sign messages that cannot be shown, unless the user allows it. */
export function checkShown(messages: readonly Any[], flags: Flags): void {
  const [type] = opaqueTypes(messages);
  if (type === undefined || flags.bool("allow-unknown") || flags.bool("generate-only")) return;
  throw commandError(`a message of type ${type.slice(0, 128)} is not known, so what would be signed cannot be shown`, {
    hint: "add --allow-unknown to sign it anyway",
  });
}

/** The bytes of an address of any network: a file may belong to another one. */
export function addressBytes(text: string): Uint8Array {
  return parseBech32(text).bytes;
}
