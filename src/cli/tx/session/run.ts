import { bodyFor, feeFor, gasEstimateText, type TxResponse } from "../../../client/index.ts";
import { EXIT } from "../../../util/index.ts";
import { type Any, decodeTx } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { createContext } from "../../context.ts";
import { txJson } from "./json.ts";
import { printTxResult } from "./result.ts";
import {
  confirm,
  estimateGas,
  openTx,
  prepare,
  send,
  sign,
  type TxSession,
  txOptions,
  unsignedJson,
} from "./session.ts";

/** What a command puts into its transaction, once the sender is known. */
export type BuildMessages = (session: TxSession) => Promise<readonly Any[]> | readonly Any[];

/** Runs a command that is one transaction: build, settle, confirm, sign, broadcast, print. Returns the exit code. */
export async function runTx(input: CommandInput, build: BuildMessages, from?: string): Promise<number> {
  const session = await openTx(createContext(input), from);
  return finishTx(session, await build(session));
}

/** What a command does around its transaction. */
export interface TxHooks {
  /** Runs before the transaction is sent, or printed for somebody else to send. Never for an estimate. */
  readonly onSigned?: () => Promise<void>;
  /** Runs with the node's answer. */
  readonly onAnswer?: (response: TxResponse) => Promise<void>;
}

/** The part of `runTx` after the messages. */
export async function finishTx(session: TxSession, messages: readonly Any[], hooks: TxHooks = {}): Promise<number> {
  switch (session.settings.purpose) {
    case "estimate":
      session.context.io.err(`${gasEstimateText(await estimateGas(session, messages))}\n`);
      return EXIT.done;
    case "generate":
      return printUnsigned(session, messages, hooks);
    case "sign":
      return printSigned(session, messages, hooks);
    case "send":
      return sendAndPrint(session, messages, hooks);
  }
}

async function sendAndPrint(session: TxSession, messages: readonly Any[], hooks: TxHooks): Promise<number> {
  const response = await send(session, messages, { onSigned: hooks.onSigned });
  if (response === undefined) return EXIT.done;
  await hooks.onAnswer?.(response);
  return printTxResult(session.context, response);
}

/** `--generate-only`: a node is asked only for an estimate of the gas. */
async function printUnsigned(session: TxSession, messages: readonly Any[], hooks: TxHooks): Promise<number> {
  const { settings, context } = session;
  let { gas } = settings;
  if (gas === "auto") {
    gas = await estimateGas(session, messages);
    context.io.err(`${gasEstimateText(gas)}\n`);
  }
  const options = txOptions(session);
  const json = unsignedJson({
    bodyBytes: bodyFor(messages, options, context.profile.namespace),
    fee: feeFor(gas, options),
  });
  await hooks.onSigned?.();
  context.io.out(`${json}\n`);
  return EXIT.done;
}

/** `--offline`: prints what would be broadcast, for another machine to send. */
async function printSigned(session: TxSession, messages: readonly Any[], hooks: TxHooks): Promise<number> {
  const prepared = await prepare(session, messages);
  if (!session.settings.yes && !(await confirm(session, prepared))) return EXIT.done;
  const { bodyBytes, authInfoBytes, signatures } = decodeTx(await sign(session, prepared), { foreign: true }).raw;
  await hooks.onSigned?.();
  session.context.io.out(`${txJson({ bodyBytes, authInfoBytes }, signatures)}\n`);
  return EXIT.done;
}
