import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { append, equalBytes, errorText, tryParseInt } from "../../../util/index.ts";
import type { Coin } from "../../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { AuthInfoSchema, type Tx, TxBodySchema, TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { encodeAddress, type SignerData, SignMode } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError, usageError } from "../../errors.ts";
import { modeForKey, requireSigningKey, type Sender } from "../../keys/signer.ts";
import { signerNumbers } from "../session/facts.ts";
import { readTxSettings, type TxSettings } from "../session/settings.ts";
import { formOf, modeOf, renderSigned, type SignedForm, writeDocument } from "./document.ts";
import { readTxFile, readTxLines } from "./file.ts";
import { addressBytes, checkShown, checkSigner, signTx } from "./signing.ts";

/** `tx sign FILE`. With `--offline` only the keyring and the file are read. */
export async function signFile(input: CommandInput): Promise<void> {
  const [file = ""] = input.args;
  await signAll(input, async () => [await readTxFile(file, input.io)]);
}

/** `tx sign-batch FILE...`: one transaction per line, signed with consecutive sequences. */
export async function signBatch(input: CommandInput): Promise<void> {
  await signAll(input, (settings) => readBatch(input, settings));
}

/** The transactions of files with one per line; with `--append` a single one with the messages of all. */
export async function readBatch({ args, flags, io }: CommandInput, settings: TxSettings): Promise<Tx[]> {
  const txs: Tx[] = [];
  for (const file of args) append(txs, await readTxLines(file, io));
  return flags.bool("append") ? [joinTxs(txs, settings)] : txs;
}

/** Whose signature is made, and how. */
interface Job {
  readonly context: CliContext;
  readonly settings: TxSettings;
  readonly signer: Required<Sender>;
  /** Address of the account that is signed for. */
  readonly account: string;
  readonly mode: SignMode;
  readonly form: SignedForm;
}

/** Nothing is written before everything is signed. */
async function signAll(input: CommandInput, read: (settings: TxSettings) => Promise<readonly Tx[]>): Promise<void> {
  const settings = readTxSettings(input.flags);
  const form = formOf(input.flags);
  const asked = modeOf(input.flags, settings.signMode);
  const txs = await read(settings);
  const context = createContext(input);
  const signer = await requireSigningKey(context);
  const { account, mode } = await signedFor(context, signer, asked);
  const job = { context, settings, signer, form, account, mode: modeForKey(context, mode, signer.key) };
  for (const tx of txs) {
    checkShown(tx.body?.messages ?? [], input.flags);
    checkSigner(tx, { name: signer.key.name, account: addressBytes(job.account), mode: job.mode });
  }
  const numbers = await signerNumbers(context, settings, job.account);
  const data: SignerData = form === "older" ? { ...numbers, aminoNames: "older" } : numbers;
  const lines: string[] = [];
  for (const [i, tx] of txs.entries()) {
    lines.push(await signOne(job, tx, { ...data, sequence: data.sequence + BigInt(i) }));
  }
  await writeDocument(context, lines);
}

async function signOne({ context, signer, mode, form }: Job, tx: Tx, data: SignerData): Promise<string> {
  const overwrite = context.flags.bool("overwrite");
  return renderSigned(await signTx({ context, tx, key: signer.key, mode, data, overwrite }), form);
}

/** The account of `--multisig`, for which members sign in amino-json mode, otherwise the signer's own. */
async function signedFor(
  context: CliContext,
  { address, key }: Required<Sender>,
  mode: SignMode,
): Promise<Pick<Job, "account" | "mode">> {
  const text = context.flags.optional("multisig");
  if (text === undefined) return { account: address, mode };
  if (mode === SignMode.DIRECT && context.flags.typed("sign-mode")) {
    throw usageError("members of a multisig sign in mode amino-json", "leave out --sign-mode");
  }
  const multisig = await (await context.keyring()).find(text);
  if (multisig === undefined) return { account: checkedAddress(text), mode: SignMode.LEGACY_AMINO_JSON };
  const { publicKey } = multisig;
  if (publicKey.type !== "multisig") throw usageError(`--multisig: key "${multisig.name}" is not a multisig`);
  const own = key.publicKey;
  if (own.type === "multisig" || !publicKey.keys.some((member) => equalBytes(member.key, own.key))) {
    const hint = "sign with the key of a member";
    throw commandError(`key "${key.name}" is not a member of the multisig "${multisig.name}"`, { hint });
  }
  const account = encodeAddress(multisig.address, "account", context.profile.bech32Prefix);
  return { account, mode: SignMode.LEGACY_AMINO_JSON };
}

function checkedAddress(text: string): string {
  try {
    addressBytes(text);
    return text;
  } catch (error) {
    throw usageError(`--multisig: ${errorText(error)}`, "give the name or the address of a multisig");
  }
}

/** One transaction with the messages of all; gas and fees are added up, the rest comes from the flags. */
function joinTxs(txs: readonly Tx[], settings: TxSettings): Tx {
  const { memo, timeoutHeight, timeoutTimeMs, unordered, feePayer, feeGranter } = settings;
  const timeout = timeoutTimeMs === undefined ? {} : { timeoutTimestamp: timestampFromMs(timeoutTimeMs) };
  const fees = txs.map((tx) => tx.authInfo?.fee);
  const amount = sumOf(fees.flatMap((fee) => fee?.amount ?? []));
  const gasLimit = fees.reduce((sum, fee) => sum + (fee?.gasLimit ?? 0n), 0n);
  return create(TxSchema, {
    body: create(TxBodySchema, {
      messages: txs.flatMap((tx) => tx.body?.messages ?? []),
      memo,
      timeoutHeight,
      unordered,
      ...timeout,
    }),
    authInfo: create(AuthInfoSchema, { fee: { amount, gasLimit, payer: feePayer, granter: feeGranter } }),
  });
}

function sumOf(coins: readonly Coin[]): { denom: string; amount: string }[] {
  const sums = new Map<string, bigint>();
  for (const { denom, amount } of coins) {
    const value = tryParseInt(amount);
    if (value === undefined || value < 0n) throw commandError(`the fee ${amount}${denom} is not an amount`);
    sums.set(denom, (sums.get(denom) ?? 0n) + value);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([denom, sum]) => ({ denom, amount: sum.toString() }));
}
