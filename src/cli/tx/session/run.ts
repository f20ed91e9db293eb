import {
  type ChainClient,
  estimateGas,
  type GasEstimate,
  gasEstimateText,
  handInTx,
  type PreparedTx,
  signTx,
  type TxResponse,
  type TxSigner,
} from "../../../client/index.ts";
import { assert, EXIT, printable } from "../../../util/index.ts";
import { type Any, decodeTx, encodeAuthInfo } from "../../../wire/index.ts";
import type { CommandInput } from "../../command/spec.ts";
import { type CliContext, createContext } from "../../context/context.ts";
import { commandError } from "../../errors.ts";
import { openSender, type Sender } from "../../keys/signer.ts";
import { accountFault, requireAccount, servedChain } from "./facts.ts";
import { untilInterrupted } from "./hand-in.ts";
import { checkPayer, type NodeFacts, settle, type TxPlan } from "./plan.ts";
import { printTxResult, txJson } from "./print.ts";
import { readTxSettings, type TxSettings } from "./settings.ts";

/** The sender, the settings and the node of a command that sends transactions. */
export interface TxSession {
  readonly context: CliContext;
  readonly settings: TxSettings;
  readonly sender: Sender;
  /** Absent where nothing is signed. */
  readonly signer: TxSigner | undefined;
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
  const { sender, signer, signMode } = await openSender(context, { ...asked, from });
  const settings = { ...asked, signMode };
  checkPayer(settings, sender);
  const chain = async (): Promise<ChainClient> => {
    if (!settings.offline) return context.chain();
    throw commandError("this command needs a node", {
      hint: "leave out --offline, or give all flags that it requires",
    });
  };
  return { context, settings, sender, signer, chain, sent: 0 };
}

/** Makes the messages of a command's transaction, once the sender is known. */
export type BuildMessages = (session: TxSession) => Promise<readonly Any[]> | readonly Any[];

/** Runs a command that is one transaction: build, settle, confirm, sign, broadcast, print. Returns the exit code. */
export async function runTx(input: CommandInput, build: BuildMessages, from?: string): Promise<number> {
  const session = await openTx(createContext(input), from);
  return finishTx(session, await build(session));
}

/** A command's actions around its transaction. */
export interface TxHooks {
  /** Runs before the transaction is sent, or printed for another sender. Never for an estimate. */
  readonly onSigned?: () => Promise<void>;
  /** Runs with the node's answer. */
  readonly onAnswer?: (response: TxResponse) => Promise<void>;
}

/** The part of `runTx` after the messages: settles the transaction, with as many questions to the node as that needs. */
export async function finishTx(session: TxSession, messages: readonly Any[], hooks: TxHooks = {}): Promise<number> {
  const { context, settings, sender, sent } = session;
  const request = { settings, sender, profile: context.profile, messages, sent };
  let facts: NodeFacts = {};
  for (;;) {
    const plan = settle(request, facts);
    if (plan.kind === "ask") facts = { ...facts, ...(await askNode(session, plan)) };
    else if (plan.kind === "simulate") facts = { ...facts, gas: await simulate(session, plan) };
    else return execute(session, plan, hooks);
  }
}

type Step<K extends TxPlan["kind"]> = Extract<TxPlan, { readonly kind: K }>;

async function askNode(session: TxSession, { account }: Step<"ask">): Promise<NodeFacts> {
  const chain = await session.chain();
  const chainId = await servedChain(session.context, chain);
  return account ? { chainId, account: await requireAccount(chain, session.sender.address) } : { chainId };
}

async function simulate(session: TxSession, { tx, estimate }: Step<"simulate">): Promise<GasEstimate> {
  try {
    const gas = await estimateGas(await session.chain(), tx, estimate);
    session.context.io.err(`${gasEstimateText(gas.gasLimit)}\n`);
    return gas;
  } catch (error) {
    throw accountFault(error, session.sender.address);
  }
}

async function execute(
  session: TxSession,
  plan: Exclude<TxPlan, Step<"ask" | "simulate">>,
  hooks: TxHooks,
): Promise<number> {
  const { context, signer } = session;
  if (plan.kind === "done") return EXIT.done;
  if (plan.kind === "print") {
    await hooks.onSigned?.();
    context.io.out(`${unsignedJson(plan.tx)}\n`);
    return EXIT.done;
  }
  assert(signer !== undefined, "a transaction that is signed has a signer");
  if (plan.confirm && !(await confirm(context, plan.tx))) return EXIT.done;
  if (plan.kind === "send") return send(session, signer, plan, hooks);
  // The transaction for broadcast, to be sent from another machine.
  const { bodyBytes, authInfoBytes, signatures } = decodeTx(await signTx(plan.tx, signer), { foreign: true }).raw;
  await hooks.onSigned?.();
  context.io.out(`${txJson({ bodyBytes, authInfoBytes }, signatures)}\n`);
  return EXIT.done;
}

/** Signs and broadcasts. The exit code says whether the chain refused the transaction. */
async function send(
  session: TxSession,
  signer: TxSigner,
  { tx, handIn }: Step<"send">,
  { onSigned, onAnswer }: TxHooks,
): Promise<number> {
  const { context } = session;
  const chain = await session.chain();
  const response = await untilInterrupted(context, chain, (signal) =>
    handInTx(chain, signer, tx, {
      ...handIn,
      wait: { signal },
      onSigned,
      onNewSequence: (next) =>
        context.io.err(`another transaction of the account has used the sequence: signing with sequence ${next}\n`),
    }),
  );
  session.sent += 1;
  await onAnswer?.(response);
  return printTxResult(context, response);
}

/** Shows the transaction before signing and asks for confirmation. */
async function confirm({ io }: CliContext, tx: PreparedTx): Promise<boolean> {
  io.err(`${printable(unsignedJson(tx))}\n\n`);
  if (await io.confirm("confirm transaction before signing and broadcasting")) return true;
  io.err("cancelled transaction\n");
  return false;
}

/** The unsigned transaction, fee included. */
function unsignedJson({ bodyBytes, fee }: PreparedTx): string {
  return txJson({ bodyBytes, authInfoBytes: encodeAuthInfo(fee, []) });
}
