import { writeFile } from "node:fs/promises";
import { create } from "@bufbuild/protobuf";
import type { KeyInfo } from "../../keyring/index.ts";
import { equalBytes, errorText, toHex } from "../../util/index.ts";
import { SignatureDescriptorsSchema } from "../../wire/gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { AuthInfoSchema, type SignerInfo, SignerInfoSchema, type Tx } from "../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  decodeTx,
  namespaceOf,
  parseBech32,
  printJson,
  publicKeyAddress,
  publicKeyFromAny,
  publicKeyToAny,
  type SignerData,
  SignMode,
  signBytes,
  singleMode,
  toJson,
  toStdTx,
  txSigners,
  unpackAny,
} from "../../wire/index.ts";
import { type CliContext, createContext } from "../context.ts";
import { commandError, usageError } from "../errors.ts";
import type { CommandInput } from "../spec.ts";
import { readTxFile, txBytes, txParts } from "./file.ts";
import { printTx } from "./json.ts";
import { requireSigningKey } from "./sender.ts";
import { readTxSettings, type TxSettings } from "./settings.ts";

/** Everything that one signature depends on. */
interface Signing {
  readonly context: CliContext;
  readonly settings: TxSettings;
  readonly tx: Tx;
  readonly key: KeyInfo;
  /** Account that the signature is for: the key's own, or a multisig that it is a member of. */
  readonly account: string;
  readonly mode: SignMode;
}

/** A transaction with a further signature, and that signature. */
interface Signed {
  readonly tx: Tx;
  readonly info: SignerInfo;
  readonly signature: Uint8Array;
}

/** `tx sign FILE`. With `--offline` nothing but the keyring and the file is looked at. */
export async function signFile(input: CommandInput): Promise<void> {
  const { args, flags, io } = input;
  const settings = readTxSettings(flags);
  const multisig = flags.optional("multisig");
  const account = multisig === undefined ? undefined : flagAddress(multisig);
  const tx = await readTxFile(args[0] ?? "", io);
  const context = createContext(input);
  const { address, key } = await requireSigningKey(context, flags.text("from"));
  const mode = multisig === undefined ? settings.signMode : SignMode.LEGACY_AMINO_JSON;
  checkSigner(tx, { key, account: account ?? key.address, mode });
  const signed = await signTx({ context, settings, tx, key, account: multisig ?? address, mode });
  await writeDocument(context, `${render(signed, input)}\n`);
}

function flagAddress(text: string): Uint8Array {
  try {
    return addressBytes(text);
  } catch (error) {
    throw usageError(`--multisig: ${errorText(error)}`);
  }
}

interface Claim {
  readonly key: KeyInfo;
  readonly account: Uint8Array;
  readonly mode: SignMode;
}

function checkSigner(tx: Tx, { key, account, mode }: Claim): void {
  const signers = signersOf(tx);
  if (!signers.some((signer) => equalBytes(addressBytes(signer), account))) {
    const text = `tx intended signer does not match the given signer: ${key.name}`;
    throw commandError(text, { hint: `it has to be signed by ${signers.join(" and ")}` });
  }
  if (signers.length > 1 && mode === SignMode.DIRECT) {
    const hint = "use --sign-mode amino-json: the transaction has several signers";
    throw usageError("signatures of mode direct cover each other and cannot be added in turn", hint);
  }
}

function signersOf(tx: Tx): string[] {
  return txSigners((tx.body?.messages ?? []).map(unpackAny), tx.authInfo?.fee);
}

/** The bytes of an address of any network: a file may be of another one than ours. */
function addressBytes(text: string): Uint8Array {
  return parseBech32(text).bytes;
}

async function signTx(signing: Signing): Promise<Signed> {
  const { context, tx, key, mode } = signing;
  const data = await signerData(signing);
  const namespace = namespaceOf(tx.body?.messages[0]?.typeUrl ?? "");
  const info = create(SignerInfoSchema, {
    publicKey: publicKeyToAny(key.publicKey, namespace),
    modeInfo: singleMode(mode),
    sequence: data.sequence,
  });
  const entries = placed(tx, { info, signature: new Uint8Array() }, context.flags.bool("overwrite"));
  const fee = tx.authInfo?.fee;
  const authInfo = create(AuthInfoSchema, {
    signerInfos: entries.map((each) => each.info),
    ...(fee === undefined ? {} : { fee }),
  });
  const unsigned = { ...tx, authInfo };
  const keyring = await context.keyring();
  const signature = await keyring.sign(key.name, signBytes(mode, txParts(unsigned), data));
  const signatures = entries.map((each) => (each.info === info ? signature : each.signature));
  return { tx: { ...unsigned, signatures }, info, signature };
}

interface Entry {
  readonly info: SignerInfo;
  readonly signature: Uint8Array;
}

/** The signatures with the new one in its place: the order of the signers, which the chain goes by. */
function placed(tx: Tx, added: Entry, overwrite: boolean): Entry[] {
  const infos = overwrite ? [] : (tx.authInfo?.signerInfos ?? []);
  const existing = infos.map((info, i) => ({ info, signature: tx.signatures[i] ?? new Uint8Array() }));
  const signers = signersOf(tx).map((signer) => toHex(addressBytes(signer)));
  const rank = ({ info }: Entry): number => signers.indexOf(signerOf(info));
  const others = existing.filter(({ info }) => signerOf(info) !== signerOf(added.info));
  return [...others, added].sort((a, b) => rank(a) - rank(b));
}

/** Address of a signer's key in hexadecimal. */
function signerOf({ publicKey }: SignerInfo): string {
  return publicKey === undefined ? "" : toHex(publicKeyAddress(publicKeyFromAny(publicKey)));
}

/** Account number and sequence: those of the flags, else the chain's. */
async function signerData({ context, settings, account }: Signing): Promise<SignerData> {
  const { accountNumber, sequence } = settings;
  const chainId = await context.chainId();
  if (accountNumber !== undefined && sequence !== undefined) return { chainId, accountNumber, sequence };
  const { accountInfo } = await import("./account.ts");
  const info = await accountInfo((await context.chain()).query, account);
  return { chainId, accountNumber: accountNumber ?? info.accountNumber, sequence: sequence ?? info.sequence };
}

function render(signed: Signed, { flags }: CommandInput): string {
  if (flags.bool("amino")) {
    // The text of the mode is a choice left to whoever sends the document.
    return printJson({ tx: toStdTx(decodeTx(txBytes(signed.tx))), mode: "block|sync|async" });
  }
  return flags.bool("signature-only") || flags.given("multisig") ? signatureJson(signed) : printTx(signed.tx);
}

function signatureJson({ info, signature }: Signed): string {
  const sum = info.modeInfo?.sum;
  const mode = sum?.case === "single" ? sum.value.mode : SignMode.UNSPECIFIED;
  const descriptor = {
    ...(info.publicKey === undefined ? {} : { publicKey: info.publicKey }),
    data: { sum: { case: "single" as const, value: { mode, signature } } },
    sequence: info.sequence,
  };
  const signatures = create(SignatureDescriptorsSchema, { signatures: [descriptor] });
  return printJson(toJson(SignatureDescriptorsSchema, signatures));
}

async function writeDocument({ flags, io }: CliContext, text: string): Promise<void> {
  const path = flags.optional("output-document");
  if (path === undefined) {
    io.out(text);
    return;
  }
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw commandError(`--output-document: ${errorText(cause)}`, { cause });
  }
}
