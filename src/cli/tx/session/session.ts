import {
  bodyFor,
  type ChainClient,
  DEFAULT_GAS,
  feeFor,
  estimateGas as gasEstimate,
  gasEstimateText,
  handInTx,
  offlineTx,
  type PreparedTx,
  prepareTx,
  signTx,
  type TxOptions,
  type TxResponse,
} from "../../../client/index.ts";
import { printable } from "../../../util/index.ts";
import { type Any, encodeAuthInfo } from "../../../wire/index.ts";
import type { CliContext } from "../../context.ts";
import { commandError, usageError } from "../../errors.ts";
import { accountInfo, checkChain } from "./account.ts";
import { modeForKey } from "./device.ts";
import { txJson } from "./json.ts";
import { accountFault } from "./numbers.ts";
import { resolveSender, type Sender, signerOf } from "./sender.ts";
import { readTxSettings, type TxSettings } from "./settings.ts";

/** What a command needs to send transactions: the sender, the settings and the node. */
export interface TxSession {
  readonly context: CliContext;
  readonly settings: TxSettings;
  readonly sender: Sender;
  /** The node, for queries. Throws with `--offline`. */
  chain(): Promise<ChainClient>;
  /** Counts the transactions sent, for a sequence given on the command line. */
  sent: number;
}

/**
 * Reads the transaction flags and resolves the sender; the passphrase of a keyring is asked for here. `from` stands for
 * `--from` where a command takes the sender as an argument.
 */
export async function openTx(context: CliContext, from?: string): Promise<TxSession> {
  const asked = readTxSettings(context.flags);
  const sender = await resolveSender(context, asked, from);
  const settings = { ...asked, signMode: modeForKey(context, asked.signMode, sender.key) };
  checkPayer(settings, sender);
  const chain = async (): Promise<ChainClient> => {
    if (settings.offline) {
      throw commandError("this command needs a node", {
        hint: "leave out --offline, or give all flags that it requires",
      });
    }
    return context.chain();
  };
  return { context, settings, sender, chain, sent: 0 };
}

/** The fee payer must sign, and one command signs for one account. */
function checkPayer({ purpose, feePayer }: TxSettings, { address }: Sender): void {
  if (feePayer === "" || feePayer === address || (purpose !== "send" && purpose !== "sign")) return;
  const hint =
    "print the transaction with --generate-only, and let both sign it with: svc tx sign --sign-mode amino-json";
  throw usageError(`--fee-payer: ${feePayer} must sign as well as ${address}`, hint);
}

export interface SendSettings {
  /** Runs when the transaction is settled, confirmed and signed, before anything is sent. */
  readonly onSigned?: (() => Promise<void>) | undefined;
}

/**
 * Signs and broadcasts messages, after the user's confirmation unless `--yes` was given. Undefined when the user
 * refused. The response's code says whether the chain refused it.
 */
export async function send(
  session: TxSession,
  messages: readonly Any[],
  { onSigned }: SendSettings = {},
): Promise<TxResponse | undefined> {
  const prepared = await prepare(session, messages);
  if (!session.settings.yes && !(await confirm(session, prepared))) return undefined;
  const { context, settings, sender } = session;
  const chain = await session.chain();
  const response = await handInTx(chain, await signerOf(context, sender), prepared, {
    mode: settings.mode,
    fixedSequence: settings.sequence !== undefined,
    onSigned,
    onNewSequence: (next) =>
      context.io.err(`another transaction of the account has used the sequence: signing with sequence ${next}\n`),
  });
  session.sent += 1;
  return response;
}

/** Settles account number, sequence, gas and fee. The account is known to exist afterwards, unless offline. */
export async function prepare(session: TxSession, messages: readonly Any[]): Promise<PreparedTx> {
  const { context, settings, sender } = session;
  if (settings.offline) return prepareOffline(session, messages);
  const chain = await session.chain();
  await checkChain(context, chain);
  const signer = await signerOf(context, sender);
  try {
    return await prepareTx(chain, signer, messages, txOptions(session));
  } catch (error) {
    throw accountFault(error, sender.address);
  }
}

async function prepareOffline(session: TxSession, messages: readonly Any[]): Promise<PreparedTx> {
  const { context, settings } = session;
  const { gas, signMode, accountNumber = 0n } = settings;
  const { namespace, aminoNames } = context.profile;
  const options = txOptions(session);
  const { sequence = BigInt(session.sent) } = options;
  return {
    bodyBytes: bodyFor(messages, options, namespace),
    fee: feeFor(gas === "auto" ? DEFAULT_GAS : gas, options),
    signMode,
    signer: { chainId: await context.chainId(), accountNumber, sequence, aminoNames },
    namespace,
  };
}

/** The flags as options of the client library. */
export function txOptions({ context, settings, sent }: TxSession): TxOptions {
  const { accountNumber, sequence } = settings;
  return {
    gas: settings.gas,
    gasAdjustment: settings.gasAdjustment,
    fees: settings.fees,
    gasPrices: settings.gasPrices,
    memo: settings.memo,
    timeoutHeight: settings.timeoutHeight,
    timeoutTimeMs: settings.timeoutTimeMs,
    unordered: settings.unordered,
    signMode: settings.signMode,
    feePayer: settings.feePayer,
    feeGranter: settings.feeGranter,
    ...(accountNumber === undefined ? {} : { accountNumber }),
    ...(sequence === undefined ? {} : { sequence: settings.unordered ? 0n : sequence + BigInt(sent) }),
    onGasEstimate: (gas) => context.io.err(`${gasEstimateText(gas)}\n`),
  };
}

/** The unsigned transaction, fee included. */
export function unsignedJson({ bodyBytes, fee }: Pick<PreparedTx, "bodyBytes" | "fee">): string {
  return txJson({ bodyBytes, authInfoBytes: encodeAuthInfo(fee, []) });
}

/** Shows what is about to be signed and asks for confirmation. */
export async function confirm({ context }: TxSession, prepared: PreparedTx): Promise<boolean> {
  context.io.err(`${printable(unsignedJson(prepared))}\n\n`);
  if (await context.io.confirm("confirm transaction before signing and broadcasting")) return true;
  context.io.err("cancelled transaction\n");
  return false;
}

export async function sign({ context, sender }: TxSession, prepared: PreparedTx): Promise<Uint8Array> {
  return signTx(prepared, await signerOf(context, sender));
}

/** The gas that messages would use, adjusted; the sender may be only an address. */
export async function estimateGas(session: TxSession, messages: readonly Any[]): Promise<bigint> {
  const { settings, sender } = session;
  const chain = await session.chain();
  const options = txOptions(session);
  const account = await accountInfo(chain.query, sender.address).catch((error: unknown) => {
    throw accountFault(error, sender.address);
  });
  const draft = offlineTx(messages, {
    ...options,
    gas: settings.gas === "auto" ? 0n : settings.gas,
    chainId: await chain.chainId(),
    accountNumber: account.accountNumber,
    sequence: options.sequence ?? account.sequence,
    namespace: chain.namespace,
  });
  const signer = { address: sender.address, publicKey: sender.key?.publicKey ?? account.publicKey };
  const { gasLimit } = await gasEstimate(chain, draft, { signer, gasAdjustment: settings.gasAdjustment, options });
  return gasLimit;
}
