import type { Claim, Claimed, Claims } from "../../abci/index.ts";
import {
  assert,
  type DecimalCoin,
  decCeil,
  formatCoins,
  type IntCoin,
  SvcError,
  sdkErrors,
  someCoins,
  sumCoins,
  toBase64,
  toHex,
} from "../../util/index.ts";
import type { Context } from "../context.ts";
import { EventSink } from "../events.ts";
import type { GasCosts } from "../gas/metered.ts";
import type { Account } from "./account.ts";
import {
  checkSignature,
  checkSimulated,
  consumeSignatureGas,
  type SequenceRange,
  type SignedBy,
  signatureCount,
  type VerifiedSignatures,
} from "./signatures.ts";
import { type FeeGranter, missingBytes, type PreparedTx } from "./tx.ts";

/** Limits and prices of transactions (parameters of module auth). */
export interface AnteParams {
  readonly maxMemoCharacters: bigint;
  readonly txSigLimit: bigint;
  readonly txSizeCostPerByte: bigint;
  readonly sigVerifyCostSecp256k1: bigint;
}

/** Functions of the account keeper that the checks need. */
export interface AnteAccounts {
  get(ctx: Context, address: Uint8Array): Account | undefined;
  set(ctx: Context, account: Account): void;
  getParams(ctx: Context): AnteParams;
  storeCosts(ctx: Context): GasCosts;
}

/** Functions of the bank keeper that the checks need. */
export interface AnteBank {
  sendToModule(ctx: Context, from: Uint8Array, module: string, coins: readonly IntCoin[]): void;
  /** Throws `sdk/5` unless an account holds these coins beyond the reserved ones. */
  checkFunds(ctx: Context, address: Uint8Array, coins: readonly IntCoin[], keptBack: ReadonlyMap<string, bigint>): void;
}

/** A fee that the sender wants another account to pay. */
export interface FeeUse {
  readonly granter: Uint8Array;
  readonly grantee: Uint8Array;
  readonly fee: readonly IntCoin[];
  /** Types of the messages in our spelling; undefined while they are not read. */
  readonly typeUrls: readonly string[] | undefined;
}

/** Allowances to spend other accounts' coins on fees. */
export interface FeeGrants {
  /** Throws unless an allowance pays the fee; changes nothing, and takes the same gas as `use`. */
  check(ctx: Context, use: FeeUse): void;
  /** Takes the fee out of an allowance. */
  use(ctx: Context, use: FeeUse): void;
}

export interface AnteOptions {
  readonly accounts: AnteAccounts;
  readonly bank: AnteBank;
  readonly feeGrants: FeeGrants;
  /** Module account that receives the fees. */
  readonly feeCollector: string;
  /** Minimum prices for relaying a transaction; meeting one of them is enough. */
  readonly minGasPrices: readonly DecimalCoin[];
  /** Gas of a whole block: a transaction that asks for more could never be in one. Negative = no limit. */
  readonly maxBlockGas: () => bigint;
}

/** Other transactions that wait while a transaction is checked. */
export interface Waiting {
  readonly claims: Pick<Claims, "of">;
  /** The claim that the transaction would replace: its own, or that of the transaction which it replaces. */
  readonly place?: Claim | undefined;
}

/** Facts about a transaction besides its content. */
export interface AnteFacts {
  readonly verified: VerifiedSignatures;
  readonly waiting: Waiting | undefined;
}

/**
 * The checks before the messages: an authorized account pays for the work, and every signer agreed. Their changes (fee,
 * sequence, public key) stay even if the messages fail. State is read and written unmetered: the checks pay gas for
 * bytes and signatures. In the mempool they change nothing and emit no event.
 */
export function runAnte(ctx: Context, tx: PreparedTx, options: AnteOptions, { verified, waiting }: AnteFacts): void {
  const params = options.accounts.getParams(ctx);
  if (ctx.mode === "check") {
    checkGasLimit(tx, options.maxBlockGas());
    checkMinimumFee(tx, options.minGasPrices);
  }
  checkTimeout(ctx, tx);
  checkMemo(tx, params);
  consumeSizeGas(ctx, tx.size + (ctx.mode === "simulate" ? missingBytes(tx) : 0), params);
  const isForMempool = ctx.mode === "check" || ctx.mode === "recheck";
  const signed = loadSigners(ctx, tx, options.accounts, waiting);
  checkSignatureCount(signed, params);
  if (!isForMempool) emitSignatures(ctx, tx);
  if (isForMempool) checkFunds(ctx, tx, options, waiting);
  if (waiting !== undefined && !isForMempool) setAside(ctx, tx, options, waiting);
  if (!isForMempool) deductFee(ctx, tx, options);
  const signable = { ...tx.decoded.raw, decoded: tx.decoded };
  for (const each of signed) {
    consumeSignatureGas(ctx, each, params.sigVerifyCostSecp256k1);
    if (ctx.mode === "simulate") checkSimulated(each);
    else checkSignature(ctx, signable, each, verified);
  }
  if (isForMempool) return;
  for (const { account, publicKey } of signed)
    options.accounts.set(ctx, { ...account, publicKey, sequence: account.sequence + 1n });
}

export function checkGasLimit({ gasLimit }: Pick<PreparedTx, "gasLimit">, maxBlockGas: bigint): void {
  if (maxBlockGas < 0n || gasLimit <= maxBlockGas) return;
  throw sdkErrors.invalidGasLimit(`tx gas limit ${gasLimit} exceeds block max gas ${maxBlockGas}`, {
    hint: `ask for at most --gas ${maxBlockGas}`,
  });
}

export function checkMinimumFee(
  { fee, gasLimit }: Pick<PreparedTx, "fee" | "gasLimit">,
  prices: readonly DecimalCoin[],
): void {
  const required = prices.map(({ denom, amount }) => ({ denom, amount: decCeil(amount * gasLimit) }));
  const paid = (coin: IntCoin) => fee.some(({ denom, amount }) => denom === coin.denom && amount >= coin.amount);
  if (required.every(({ amount }) => amount === 0n) || required.some(paid)) return;
  throw sdkErrors.insufficientFee(`insufficient fees; got: ${someCoins(fee)} required: ${formatCoins(required)}`);
}

function checkTimeout(ctx: Context, { decoded }: PreparedTx): void {
  const timeout = decoded.body.timeoutHeight;
  if (timeout > 0n && ctx.height > timeout)
    throw sdkErrors.txTimeoutHeight(`block height: ${ctx.height}, timeout height: ${timeout}`);
}

/** The limit counts bytes, the unit that nodes store. */
function checkMemo({ decoded }: PreparedTx, { maxMemoCharacters: limit }: AnteParams): void {
  const length = Buffer.byteLength(decoded.body.memo);
  if (BigInt(length) > limit)
    throw sdkErrors.memoTooLarge(`maximum number of characters is ${limit} but received ${length} characters`);
}

export function consumeSizeGas(ctx: Context, size: number, { txSizeCostPerByte }: AnteParams): void {
  ctx.gas.consume(txSizeCostPerByte * BigInt(size), "txSize");
}

function loadSigners(ctx: Context, tx: PreparedTx, accounts: AnteAccounts, waiting: Waiting | undefined): SignedBy[] {
  const { authInfo, raw } = tx.decoded;
  return tx.signers.map(({ address, text, publicKey: sent }, index) => {
    const account = accounts.get(ctx, address);
    if (account === undefined) throw sdkErrors.unknownAddress(unknownText(tx, text));
    const claimed = waiting?.claims.of(toHex(address));
    const publicKey = account.publicKey ?? claimed?.publicKey ?? sent;
    if (publicKey === undefined && ctx.mode !== "simulate")
      throw sdkErrors.invalidPubKey(`the account ${text} has no public key yet and the transaction brings none`);
    const [info, signature] = [authInfo.signerInfos[index], raw.signatures[index]];
    const sequences = sequencesOf(account, claimed, waiting?.place !== undefined);
    return { index, account, publicKey, sent, info, signature, sequences };
  });
}

/** A new transaction follows the waiting ones; one that already has a place stays between them. */
function sequencesOf({ sequence }: Account, claimed: Claimed | undefined, hasPlace: boolean): SequenceRange {
  const next = sequence + (claimed?.txs ?? 0n);
  return hasPlace ? { first: sequence, last: next - 1n, next } : { first: next, last: next, next };
}

function unknownText({ feePayer }: PreparedTx, text: string): string {
  return text === feePayer.text ? `fee payer address: ${text} does not exist` : `account ${text} does not exist`;
}

function checkSignatureCount(signed: readonly SignedBy[], { txSigLimit }: AnteParams): void {
  const count = signed.reduce((sum, { publicKey }) => sum + signatureCount(publicKey), 0);
  if (BigInt(count) > txSigLimit) throw sdkErrors.tooManySignatures(`signatures: ${count}, limit: ${txSigLimit}`);
}

function emitSignatures(ctx: Context, { signers, decoded }: PreparedTx): void {
  signers.forEach(({ text }, i) => {
    ctx.events.emit("tx", { acc_seq: `${text}/${decoded.authInfo.signerInfos[i]?.sequence ?? 0n}` });
  });
  for (const signature of decoded.raw.signatures) ctx.events.emit("tx", { signature: toBase64(signature) });
}

/** Facts about the payer, before and after the messages are read. */
export type Paying = Pick<PreparedTx, "feePayer" | "feeGranter" | "fee"> & { readonly typeUrls?: readonly string[] };

/** Whether this fee and the fees of all waiting transactions can be paid, by the account or its allowance. */
export function checkFunds(
  ctx: Context,
  paying: Paying,
  { accounts, bank, feeGrants }: AnteOptions,
  waiting: Waiting | undefined,
): void {
  const { feePayer, feeGranter, fee } = paying;
  if (feeGranter !== undefined) {
    checkGranter(ctx, feeGranter, accounts);
    const kept = keptBack(allowanceName(feeGranter, feePayer), waiting);
    const total = sumCoins(
      fee,
      [...kept].map(([denom, amount]) => ({ denom, amount })),
    );
    explained(paying, () => feeGrants.check(ctx, useOf(paying, total)));
  }
  if (waiting === undefined) return;
  const account = feeGranter?.address ?? feePayer.address;
  const spent = keptBack(toHex(account), waiting);
  const others = [...spent.keys()].filter((denom) => fee.every((coin) => coin.denom !== denom));
  bank.checkFunds(ctx, account, [...fee, ...others.map((denom) => ({ denom, amount: 0n }))], spent);
}

/**
 * Coins reserved by waiting transactions on an account or allowance, without the transaction that this one replaces.
 */
function keptBack(source: string, waiting: Waiting | undefined): Map<string, bigint> {
  const { claims, place } = waiting ?? {};
  const spent = new Map(claims?.of(source)?.spent);
  if (place !== undefined && (place.payer === source || place.allowance === source))
    for (const { denom, amount } of place.fee) spent.set(denom, (spent.get(denom) ?? 0n) - amount);
  return spent;
}

/** The name of an allowance among claims. */
export function allowanceName(granter: FeeGranter, grantee: { readonly address: Uint8Array }): string {
  return `${toHex(granter.address)}/${toHex(grantee.address)}`;
}

function checkGranter(ctx: Context, { address, text }: FeeGranter, accounts: AnteAccounts): void {
  if (accounts.get(ctx, address) === undefined)
    throw sdkErrors.unknownAddress(`fee payer address: ${text} does not exist`);
}

function useOf({ feeGranter, feePayer, typeUrls }: Paying, fee: readonly IntCoin[]): FeeUse {
  assert(feeGranter !== undefined, "an allowance has a granter");
  return { granter: feeGranter.address, grantee: feePayer.address, fee, typeUrls };
}

/** Names the granter whose allowance does not pay. */
function explained({ feeGranter, feePayer }: Paying, work: () => void): void {
  try {
    work();
  } catch (error) {
    const context = `${feeGranter?.text} does not allow to pay fees for ${feePayer.text}`;
    throw error instanceof SvcError ? error.wrap(context) : error;
  }
}

/** Subtracts the fees of waiting transactions from the balances that a simulation sees. */
function setAside(
  ctx: Context,
  { signers }: PreparedTx,
  { bank, feeCollector }: AnteOptions,
  { claims }: Waiting,
): void {
  const quiet = ctx.with({ events: new EventSink() });
  for (const { address } of signers) {
    const spent = [...(claims.of(toHex(address))?.spent ?? [])].map(([denom, amount]) => ({ denom, amount }));
    if (spent.length > 0) bank.sendToModule(quiet, address, feeCollector, spent);
  }
}

function deductFee(ctx: Context, tx: PreparedTx, { accounts, bank, feeGrants, feeCollector }: AnteOptions): void {
  const { feePayer, feeGranter, fee } = tx;
  if (feeGranter !== undefined) {
    checkGranter(ctx, feeGranter, accounts);
    explained(tx, () => feeGrants.use(ctx, useOf(tx, fee)));
  }
  const { address, text } = feeGranter ?? feePayer;
  if (fee.length > 0) bank.sendToModule(ctx, address, feeCollector, fee);
  ctx.events.emit("tx", { fee: formatCoins(fee), fee_payer: text });
}
