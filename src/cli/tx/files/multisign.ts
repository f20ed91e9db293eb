import { create } from "@bufbuild/protobuf";
import type { KeyInfo } from "../../../keyring/index.ts";
import { errorText, SvcError } from "../../../util/index.ts";
import {
  type SignatureDescriptor,
  SignatureDescriptorsSchema,
} from "../../../wire/gen/sdk/tx/signing/v1beta1/signing_pb.js";
import { SignerInfoSchema, type Tx } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import {
  combineSignatures,
  encodeAddress,
  fromJson,
  type MemberSignature,
  type MultisigPublicKey,
  memberSignatureOf,
  publicKeyAddress,
  readJson,
  type SignerData,
  SignMode,
  singleMode,
  verifySignature,
} from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";
import { signerNumbers } from "../session/facts.ts";
import { readNumbers, requireOffline, type TxSettings } from "../session/settings.ts";
import { formOf, renderSigned, type SignedForm, writeDocument } from "./document.ts";
import { readTxFile, readTxLines, txParts } from "./file.ts";
import { checkSigner, numbersFor, type Signed, signerKey, withSignature } from "./signing.ts";

/** A signature of the transaction, and its source file. */
type Share = readonly [file: string, signature: SignatureDescriptor];

/** `tx multisign FILE NAME SIGNATURE...`: combines the members' signatures into their multisig's. */
export async function multisign(input: CommandInput): Promise<void> {
  const [file = "", name = "", ...files] = input.args;
  const options = readOptions(input);
  const tx = await readTxFile(file, input.io);
  const shares = files.flatMap((path) => readSignatures(path).map((signature): Share => [path, signature]));
  await finish(await openJob(options, name), [[tx, shares]]);
}

/** `tx multisign-batch FILE NAME SIGNATURES...`: line by line, with consecutive sequences. */
export async function multisignBatch(input: CommandInput): Promise<void> {
  const [file = "", name = "", ...files] = input.args;
  const options = readOptions(input);
  const txs = await readTxLines(file, input.io);
  const batches = files.map((path) => [path, readSignatureLines(path)] as const);
  for (const [path, lines] of batches) {
    if (lines.length === txs.length) continue;
    throw commandError(`signature file ${path} has ${lines.length} lines for ${txs.length} transactions`);
  }
  const sharesOf = (line: number): Share[] =>
    batches.flatMap(([path, lines]) => (lines[line] ?? []).map((signature): Share => [path, signature]));
  const work = txs.map((tx, i) => [tx, sharesOf(i)] as const);
  await finish(await openJob(options, name), work);
}

interface Options {
  readonly context: CliContext;
  readonly form: SignedForm;
  readonly numbers: Pick<TxSettings, "accountNumber" | "sequence">;
}

/** Flags that exclude each other are refused before a file is read. */
function readOptions(input: CommandInput): Options {
  if (input.flags.bool("offline")) requireOffline(input.flags);
  return { context: createContext(input), form: formOf(input.flags), numbers: readNumbers(input.flags) };
}

interface Job extends Options {
  readonly multisig: KeyInfo;
  readonly publicKey: MultisigPublicKey;
}

async function openJob(options: Options, name: string): Promise<Job> {
  const { context } = options;
  const { findKey } = await import("../../keys/keys.ts");
  const multisig = await findKey(await context.keyring(), name, context.keys);
  const { publicKey } = multisig;
  if (publicKey.type !== "multisig") {
    const hint = "name a multisig, as made with: svc keys add <name> --multisig";
    throw usageError(`"${multisig.name}" must be of type multi: ${multisig.type}`, hint);
  }
  return { ...options, multisig, publicKey };
}

/** Nothing is written before all transactions are combined. */
async function finish(job: Job, work: readonly (readonly [Tx, readonly Share[]])[]): Promise<void> {
  const { context, form, multisig } = job;
  for (const [tx] of work) {
    checkSigner(tx, { name: multisig.name, account: multisig.address, mode: SignMode.LEGACY_AMINO_JSON });
  }
  const address = encodeAddress(multisig.address, "account", context.profile.bech32Prefix);
  const data = await signerNumbers(context, job.numbers, address);
  const step = context.flags.bool("no-auto-increment") ? 0n : 1n;
  const lines = work.map(([tx, shares], i) =>
    renderSigned(combine(job, [tx, shares], { ...data, sequence: data.sequence + step * BigInt(i) }), form),
  );
  await writeDocument(context, lines);
}

function combine(job: Job, [tx, shares]: readonly [Tx, readonly Share[]], numbers: SignerData): Signed {
  const data = numbersFor(tx, numbers);
  const { publicKey, context } = job;
  const overwrite = context.flags.bool("overwrite");
  const skip = context.flags.bool("skip-signature-verification");
  const members = shares.map(([path, signature]) => memberShare(path, signature));
  members.forEach((member, i) => {
    if (!skip) checkShare(job, { tx, member, data, path: shares[i]?.[0] ?? "" });
  });
  const { modeInfo, signature } = combineSignatures(publicKey, members);
  const info = create(SignerInfoSchema, {
    publicKey: signerKey(tx, publicKey),
    modeInfo,
    sequence: data.sequence,
  });
  return { tx: withSignature(tx, { info, signature }, overwrite), info, signature };
}

function memberShare(path: string, signature: SignatureDescriptor): MemberSignature {
  try {
    return memberSignatureOf(signature);
  } catch (error) {
    throw commandError(`signature file ${path}: ${errorText(error)}`, { cause: error });
  }
}

interface ShareToCheck {
  readonly tx: Tx;
  readonly member: MemberSignature;
  readonly data: SignerData;
  readonly path: string;
}

function checkShare({ context }: Job, { tx, member, data, path }: ShareToCheck): void {
  const { publicKey, mode, signature } = member;
  const address = encodeAddress(publicKeyAddress(publicKey), "account", context.profile.bech32Prefix);
  const text = `couldn't verify signature of ${address} in ${path}`;
  if (mode !== SignMode.LEGACY_AMINO_JSON) {
    throw commandError(`${text}: it is not of mode amino-json`, { hint: "sign with: svc tx sign --multisig" });
  }
  if (verifySignature(txParts(tx), publicKey, { modeInfo: singleMode(mode), signature, signer: data })) return;
  const { chainId, accountNumber, sequence } = data;
  const hint = `it must be for chain ${chainId}, account number ${accountNumber}, sequence ${sequence}, and this transaction`;
  throw commandError(text, { hint });
}

const HINT = "give a file that was made with: svc tx sign --multisig";
const MAX_BYTES = 4 * 1024 * 1024;

/** Signatures as `tx sign --signature-only` prints them. */
function readSignatures(path: string): SignatureDescriptor[] {
  return parseSignatures(readFile(path), `signature file ${path}`);
}

/** Signatures for a batch of transactions, by line. */
function readSignatureLines(path: string): SignatureDescriptor[][] {
  const lines = readFile(path).split("\n");
  return lines.flatMap((line, i) =>
    line.trim() === "" ? [] : [parseSignatures(line, `signature file ${path}, line ${i + 1}`)],
  );
}

function readFile(path: string): string {
  return readTextFile(path, { what: "signature file", maxBytes: MAX_BYTES, hint: HINT });
}

function parseSignatures(text: string, source: string): SignatureDescriptor[] {
  try {
    const { signatures } = fromJson(SignatureDescriptorsSchema, readJson(text));
    if (signatures.length === 0) throw commandError("it has no signatures");
    return signatures;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw commandError(`${source}: ${error.message}`, { hint: HINT, cause: error });
  }
}
