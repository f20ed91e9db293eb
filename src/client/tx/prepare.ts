import type { DecimalCoin, IntCoin } from "../../util/index.ts";
import { type Dec, sdkErrors } from "../../util/index.ts";
import {
  type AminoNames,
  type Any,
  encodeAuthInfo,
  encodeTx,
  encodeTxBody,
  type FeeInit,
  makeAny,
  type Namespace,
  type PublicKey,
  publicKeyToAny,
  type SignerData,
  type SignerInit,
  SignMode,
  toNamespace,
} from "../../wire/index.ts";
import { accountInfo } from "../chain/account.ts";
import type { ChainClient } from "../chain/chain.ts";
import { clientErrors } from "../errors.ts";
import {
  adjustGas,
  DEFAULT_GAS,
  DEFAULT_GAS_ADJUSTMENT,
  feesFromPrices,
  type GasSetting,
  MAX_ESTIMATE,
} from "./gas.ts";
import { MAX_SEQUENCE_TRIES, newerSequence, refusalOf } from "./sequence.ts";
import { signaturePlace, simulateTx } from "./simulate.ts";

/** A signer, whose private key never leaves its place. */
export interface TxSigner {
  readonly address: string;
  readonly publicKey: PublicKey;
  /** 64 bytes over SHA-256 of the bytes; the mode tells a hardware device how to show them. */
  sign(bytes: Uint8Array, mode: SignMode): Promise<Uint8Array>;
}

/** Limits on a transaction's gas and fee. */
export interface FeeOptions {
  /** Default 200000. */
  readonly gas?: GasSetting;
  /** The factor on an estimate; default 1. */
  readonly gasAdjustment?: Dec;
  /** Either fees or prices. */
  readonly fees?: readonly IntCoin[];
  readonly gasPrices?: readonly DecimalCoin[];
  readonly feePayer?: string;
  readonly feeGranter?: string;
}

/** All options of a transaction except its messages. */
export interface TxOptions extends FeeOptions {
  readonly memo?: string;
  readonly timeoutHeight?: bigint;
  /**
   * Latest time of a block in which it may commit, in milliseconds of the Unix clock; for chains since release 0.53.
   */
  readonly timeoutTimeMs?: number | undefined;
  /** Without a sequence, which is 0; needs `timeoutTimeMs`. For chains since release 0.53. */
  readonly unordered?: boolean | undefined;
  readonly signMode?: SignMode;
  /** Override the chain's answer. With both the account is not queried. */
  readonly accountNumber?: bigint;
  readonly sequence?: bigint;
  /** Receives the gas limit from a simulation. */
  readonly onGasEstimate?: (gas: bigint) => void;
}

/** A transaction with everything settled but the signature. */
export interface PreparedTx {
  readonly bodyBytes: Uint8Array;
  readonly fee: FeeInit;
  readonly signMode: SignMode;
  readonly signer: SignerData;
  readonly namespace: Namespace;
}

/** The fee for a gas limit. Throws when both fees and prices are given. */
export function feeFor(gasLimit: bigint, options: FeeOptions): FeeInit {
  const { fees = [], gasPrices = [], feePayer = "", feeGranter = "" } = options;
  if (fees.length > 0 && gasPrices.length > 0) {
    throw sdkErrors.invalidRequest("cannot provide both fees and gas prices");
  }
  const amount = gasPrices.length > 0 ? feesFromPrices(gasPrices, gasLimit) : fees;
  return { amount, gasLimit, payer: feePayer, granter: feeGranter };
}

/** The body of a transaction; message types are spelled as the chain knows them. */
export function bodyFor(messages: readonly Any[], options: TxOptions, namespace: Namespace): Uint8Array {
  const { memo = "", timeoutHeight = 0n, timeoutTimeMs, unordered } = options;
  const spelled = messages.map((any) => makeAny(toNamespace(any.typeUrl, namespace), any.value));
  return encodeTxBody({ messages: spelled, memo, timeoutHeight, timeoutTimeMs, unordered });
}

/** The facts that a transaction made without a node needs. */
export interface OfflineTxOptions extends TxOptions {
  readonly chainId: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
  /** A simulation needs a node: a number, 200000 by default. */
  readonly gas?: bigint;
  /** Spelling of names that the chain knows; `sdk` by default. */
  readonly namespace?: Namespace;
  /** Names of messages that signatures of mode amino JSON have; `current` by default. */
  readonly aminoNames?: AminoNames;
}

/**
 * A transaction ready for `signTx`, made without a node, for machines that have no network. Throws if both fees and gas
 * prices are given.
 */
export function offlineTx(messages: readonly Any[], options: OfflineTxOptions): PreparedTx {
  const { gas = DEFAULT_GAS, signMode = SignMode.DIRECT, namespace = "sdk", aminoNames = "current" } = options;
  const { chainId, accountNumber, sequence } = options;
  return {
    bodyBytes: bodyFor(messages, options, namespace),
    fee: feeFor(gas, options),
    signMode,
    signer: { chainId, accountNumber, sequence, aminoNames },
    namespace,
  };
}

/**
 * Settles account number, sequence, gas and fee of a transaction. Rejects with `sdk/22` when the account does not exist
 * and with the chain's own error when the simulation fails.
 */
export async function prepareTx(
  chain: ChainClient,
  signer: Pick<TxSigner, "address" | "publicKey">,
  messages: readonly Any[],
  options: TxOptions = {},
): Promise<PreparedTx> {
  const { gas = DEFAULT_GAS, gasAdjustment = DEFAULT_GAS_ADJUSTMENT } = options;
  const draft = offlineTx(messages, {
    ...options,
    gas: gas === "auto" ? 0n : gas,
    chainId: await chain.chainId(),
    ...(await signerNumbers(chain, signer.address, options)),
    aminoNames: chain.aminoNames,
    namespace: chain.namespace,
  });
  if (gas !== "auto") return draft;
  const estimate = await estimateGas(chain, draft, { signer, gasAdjustment, options });
  options.onGasEstimate?.(estimate.gasLimit);
  return withSequence({ ...draft, fee: feeFor(estimate.gasLimit, options) }, estimate.sequence);
}

/** Whose gas is estimated, and how. */
export interface EstimateOptions {
  readonly signer: {
    readonly address: string;
    /** Undefined if neither the user nor the chain knows it. */
    readonly publicKey: PublicKey | undefined;
  };
  readonly gasAdjustment: Dec;
  readonly options: Pick<TxOptions, keyof FeeOptions | "sequence">;
}

/** Result of a simulation. */
export interface GasEstimate {
  readonly gasLimit: bigint;
  /** Sequence with which it succeeded: newer than the transaction's if that was used meanwhile. */
  readonly sequence: bigint;
}

/** The gas limit for a transaction: its simulated gas, adjusted. */
export async function estimateGas(
  chain: ChainClient,
  tx: PreparedTx,
  { signer, gasAdjustment, options }: EstimateOptions,
): Promise<GasEstimate> {
  const estimate = async (draft: PreparedTx): Promise<bigint> =>
    adjustGas(await simulateGas(chain, draft, signer.publicKey), gasAdjustment);
  for (let tries = 1, draft = tx; ; tries++) {
    const used = draft.signer.sequence;
    try {
      // Gas limit and fee are bytes of the transaction, which cost gas: the second run has them.
      const gasLimit = await estimate({ ...draft, fee: feeFor(await estimate(draft), options) });
      return { gasLimit, sequence: used };
    } catch (error) {
      const mayChange = options.sequence === undefined && tries < MAX_SEQUENCE_TRIES;
      const refusal = mayChange ? refusalOf(error) : undefined;
      const next = await newerSequence(chain, signer.address, { refusal, used });
      if (next === undefined) throw error;
      draft = withSequence(draft, next);
    }
  }
}

/** The same transaction under another sequence. */
export function withSequence(tx: PreparedTx, sequence: bigint): PreparedTx {
  return { ...tx, signer: { ...tx.signer, sequence } };
}

async function signerNumbers(
  chain: ChainClient,
  address: string,
  { accountNumber, sequence }: TxOptions,
): Promise<Pick<SignerData, "accountNumber" | "sequence">> {
  if (accountNumber !== undefined && sequence !== undefined) return { accountNumber, sequence };
  const account = await accountInfo(chain.query, address);
  return { accountNumber: accountNumber ?? account.accountNumber, sequence: sequence ?? account.sequence };
}

/**
 * The gas that a transaction would use now. For a multisig it is the gas of as many members as have to sign. Rejects with
 * `client/9` if the node names more than a block has: the fee grows with it.
 */
export async function simulateGas(
  chain: ChainClient,
  tx: PreparedTx,
  publicKey: PublicKey | undefined,
): Promise<bigint> {
  const { mode, signature } = signaturePlace(publicKey, tx.signMode);
  const parts = { bodyBytes: tx.bodyBytes, authInfoBytes: authInfoOf(tx, publicKey, mode) };
  const { gasInfo } = await simulateTx(chain, encodeTx(parts, [signature]));
  if (gasInfo === undefined) throw clientErrors.badAnswer("the simulation returned no gas");
  const { gasUsed } = gasInfo;
  if (gasUsed <= MAX_ESTIMATE) return gasUsed;
  throw clientErrors.gas(`the node estimates ${gasUsed} gas, and a whole block has ${MAX_ESTIMATE}`, {
    hint: "name another node with --node, or give --gas as a number",
  });
}

/** Fee and signer of a transaction as bytes. */
export function authInfoOf(
  tx: PreparedTx,
  publicKey: PublicKey | undefined,
  mode: SignerInit["mode"] = tx.signMode,
): Uint8Array {
  const key = publicKey === undefined ? {} : { publicKey: publicKeyToAny(publicKey, tx.namespace) };
  return encodeAuthInfo(tx.fee, [{ ...key, mode, sequence: tx.signer.sequence }]);
}
