import {
  type AccountInfo,
  type EstimateOptions,
  type FeeOptions,
  type GasEstimate,
  type HandInOptions,
  offlineTx,
  type PreparedTx,
} from "../../../client/index.ts";
import type { Any } from "../../../wire/index.ts";
import type { NetworkProfile } from "../../command/profile.ts";
import { usageError } from "../../errors.ts";
import type { Sender } from "../../keys/signer.ts";
import type { TxSettings } from "./settings.ts";

/** One transaction as the command line describes it. */
export interface TxRequest {
  readonly settings: TxSettings;
  readonly sender: Sender;
  readonly profile: Pick<NetworkProfile, "namespace" | "aminoNames">;
  readonly messages: readonly Any[];
  /** Number of transactions that the command has sent before. */
  readonly sent: number;
}

/** Answers of a node. */
export interface NodeFacts {
  readonly chainId?: string;
  readonly account?: Pick<AccountInfo, "accountNumber" | "sequence" | "publicKey">;
  readonly gas?: GasEstimate;
}

/** The next step: a question to the node, whose answer is a further fact, or the last step. */
export type TxPlan =
  | { readonly kind: "ask"; readonly account: boolean }
  | { readonly kind: "simulate"; readonly tx: PreparedTx; readonly estimate: EstimateOptions }
  | { readonly kind: "done" }
  | { readonly kind: "print"; readonly tx: PreparedTx }
  | { readonly kind: "sign"; readonly tx: PreparedTx; readonly confirm: boolean }
  | {
      readonly kind: "send";
      readonly tx: PreparedTx;
      readonly confirm: boolean;
      readonly handIn: Pick<HandInOptions, "mode" | "fixedSequence">;
    };

/** The next step of a transaction, from the flags and the node's answers. */
export function settle(request: TxRequest, facts: NodeFacts): TxPlan {
  const { settings } = request;
  const { purpose, yes, mode } = settings;
  const wantsGas = purpose === "estimate" || settings.gas === "auto";
  const wantsAccount = purpose === "send" ? isOpen(settings) : wantsGas;
  const wantsChain = purpose === "send" || wantsAccount;
  if ((wantsAccount && facts.account === undefined) || (wantsChain && facts.chainId === undefined)) {
    return { kind: "ask", account: wantsAccount };
  }
  const tx = preparedTx(request, facts);
  if (wantsGas && facts.gas === undefined) return { kind: "simulate", tx, estimate: estimateOf(request, facts) };
  switch (purpose) {
    case "estimate":
      return { kind: "done" };
    case "generate":
      return { kind: "print", tx };
    case "sign":
      return { kind: "sign", tx, confirm: !yes };
    case "send":
      return { kind: "send", tx, confirm: !yes, handIn: { mode, fixedSequence: settings.sequence !== undefined } };
  }
}

/** The fee payer must sign, and one command signs for one account. */
export function checkPayer({ purpose, feePayer }: TxSettings, { address }: Sender): void {
  if (feePayer === "" || feePayer === address || (purpose !== "send" && purpose !== "sign")) return;
  const hint =
    "print the transaction with --generate-only, and let both sign it with: svc tx sign --sign-mode amino-json";
  throw usageError(`--fee-payer: ${feePayer} must sign as well as ${address}`, hint);
}

/** Whether the account's number or sequence is the chain's. */
function isOpen({ accountNumber, sequence }: TxSettings): boolean {
  return accountNumber === undefined || sequence === undefined;
}

function preparedTx(
  { settings, profile, messages, sent }: TxRequest,
  { chainId, account, gas }: NodeFacts,
): PreparedTx {
  const { memo, timeoutHeight, timeoutTimeMs, unordered, signMode } = settings;
  return offlineTx(messages, {
    ...feeOptions(settings),
    ...profile,
    memo,
    timeoutHeight,
    timeoutTimeMs,
    unordered,
    signMode,
    gas: gas?.gasLimit ?? (settings.gas === "auto" ? 0n : settings.gas),
    chainId: chainId ?? settings.chainId ?? "",
    accountNumber: settings.accountNumber ?? account?.accountNumber ?? 0n,
    sequence: gas?.sequence ?? givenSequence(settings, sent) ?? account?.sequence ?? BigInt(sent),
  });
}

function feeOptions({ fees, gasPrices, feePayer, feeGranter }: TxSettings): FeeOptions {
  return { fees, gasPrices, feePayer, feeGranter };
}

function givenSequence({ sequence, unordered }: TxSettings, sent: number): bigint | undefined {
  return sequence === undefined || unordered ? sequence : sequence + BigInt(sent);
}

/** With a sequence of the user the simulation takes no newer one. */
function estimateOf({ settings, sender, sent }: TxRequest, { account }: NodeFacts): EstimateOptions {
  const sequence = givenSequence(settings, sent);
  return {
    signer: { address: sender.address, publicKey: sender.key?.publicKey ?? account?.publicKey },
    gasAdjustment: settings.gasAdjustment,
    options: { ...feeOptions(settings), ...(sequence === undefined ? {} : { sequence }) },
  };
}
