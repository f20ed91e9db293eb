import { type DecimalCoin, decCeil, formatCoins, type IntCoin, sdkErrors, toBase64 } from "../util/index.ts";
import type { Account } from "./account.ts";
import type { Context } from "./context.ts";
import type { GasCosts } from "./metered.ts";
import {
  checkSignature,
  checkSimulated,
  consumeSignatureGas,
  type SignedBy,
  signatureCount,
  type VerifiedSignatures,
} from "./signatures.ts";
import { missingBytes } from "./simulated.ts";
import type { PreparedTx } from "./tx.ts";

/** Limits and prices of transactions (parameters of module auth). */
export interface AnteParams {
  readonly maxMemoCharacters: bigint;
  readonly txSigLimit: bigint;
  readonly txSizeCostPerByte: bigint;
  readonly sigVerifyCostSecp256k1: bigint;
}

/** What the checks need of accounts. */
export interface AnteAccounts {
  get(ctx: Context, address: Uint8Array): Account | undefined;
  set(ctx: Context, account: Account): void;
  getParams(ctx: Context): AnteParams;
  storeCosts(ctx: Context): GasCosts;
}

/** What the checks need of balances. */
export interface AnteBank {
  sendToModule(ctx: Context, from: Uint8Array, module: string, coins: readonly IntCoin[]): void;
}

export interface AnteOptions {
  readonly accounts: AnteAccounts;
  readonly bank: AnteBank;
  /** Module account that takes the fees. */
  readonly feeCollector: string;
  /** What this node asks of a transaction before it relays it; one of these prices must be met. */
  readonly minGasPrices: readonly DecimalCoin[];
  /** Gas of a whole block now: a transaction that asks for more could never come into one. Negative = no limit. */
  readonly maxBlockGas: () => bigint;
}

/**
 * The checks in front of the messages: they see to it that somebody who may pays for the work, and that every signer
 * agreed. What they change (fee, sequence, public key) is kept even when the messages fail. State is read and written
 * unmetered: the gas of the checks is that of the bytes and of the signatures.
 */
export function runAnte(ctx: Context, tx: PreparedTx, options: AnteOptions, verified: VerifiedSignatures): void {
  const params = options.accounts.getParams(ctx);
  if (ctx.mode === "check") {
    checkGasLimit(tx, options.maxBlockGas());
    checkMinimumFee(tx, options.minGasPrices);
  }
  checkTimeout(ctx, tx);
  checkMemo(tx, params);
  consumeSizeGas(ctx, tx, params);
  refuseGranter(tx);
  const signed = loadSigners(ctx, tx, options.accounts);
  checkSignatureCount(signed, params);
  emitSignatures(ctx, tx);
  deductFee(ctx, tx, options);
  for (const each of signed) {
    consumeSignatureGas(ctx, each, params.sigVerifyCostSecp256k1);
    if (ctx.mode === "simulate") checkSimulated(each);
    else checkSignature(ctx, tx, each, verified);
  }
  for (const { account, publicKey } of signed)
    options.accounts.set(ctx, { ...account, publicKey, sequence: account.sequence + 1n });
}

function checkGasLimit({ gasLimit }: PreparedTx, maxBlockGas: bigint): void {
  if (maxBlockGas < 0n || gasLimit <= maxBlockGas) return;
  throw sdkErrors.invalidGasLimit(`tx gas limit ${gasLimit} exceeds block max gas ${maxBlockGas}`, {
    hint: `ask for at most --gas ${maxBlockGas}`,
  });
}

function checkMinimumFee({ fee, gasLimit }: PreparedTx, prices: readonly DecimalCoin[]): void {
  const required = prices.map(({ denom, amount }) => ({ denom, amount: decCeil(amount * gasLimit) }));
  const paid = (coin: IntCoin) => fee.some(({ denom, amount }) => denom === coin.denom && amount >= coin.amount);
  if (required.every(({ amount }) => amount === 0n) || required.some(paid)) return;
  throw sdkErrors.insufficientFee(`insufficient fees; got: ${formatCoins(fee)} required: ${formatCoins(required)}`);
}

function checkTimeout(ctx: Context, { decoded }: PreparedTx): void {
  const timeout = decoded.body.timeoutHeight;
  if (timeout > 0n && ctx.height > timeout)
    throw sdkErrors.txTimeoutHeight(`block height: ${ctx.height}, timeout height: ${timeout}`);
}

/** The limit counts bytes, which is what a node has to store. */
function checkMemo({ decoded }: PreparedTx, { maxMemoCharacters: limit }: AnteParams): void {
  const length = Buffer.byteLength(decoded.body.memo);
  if (BigInt(length) > limit)
    throw sdkErrors.memoTooLarge(`maximum number of characters is ${limit} but received ${length} characters`);
}

function consumeSizeGas(ctx: Context, tx: PreparedTx, { txSizeCostPerByte }: AnteParams): void {
  const size = tx.size + (ctx.mode === "simulate" ? missingBytes(tx) : 0);
  ctx.gas.consume(txSizeCostPerByte * BigInt(size), "txSize");
}

function refuseGranter({ decoded }: PreparedTx): void {
  const granter = decoded.authInfo.fee?.granter ?? "";
  if (granter === "") return;
  throw sdkErrors.notSupported(`fee grants do not exist on this chain, got granter ${granter.slice(0, 100)}`, {
    hint: "leave the fee granter out",
  });
}

function loadSigners(ctx: Context, tx: PreparedTx, accounts: AnteAccounts): SignedBy[] {
  const { authInfo, raw } = tx.decoded;
  return tx.signers.map(({ address, text, publicKey: sent }, index) => {
    const account = accounts.get(ctx, address);
    if (account === undefined) throw sdkErrors.unknownAddress(unknownText(tx, text));
    const publicKey = account.publicKey ?? sent;
    if (publicKey === undefined && ctx.mode !== "simulate")
      throw sdkErrors.invalidPubKey(`the account ${text} has no public key yet and the transaction brings none`);
    return { index, account, publicKey, sent, info: authInfo.signerInfos[index], signature: raw.signatures[index] };
  });
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

function deductFee(ctx: Context, { feePayer, fee }: PreparedTx, { bank, feeCollector }: AnteOptions): void {
  if (fee.length > 0) bank.sendToModule(ctx, feePayer.address, feeCollector, fee);
  ctx.events.emit("tx", { fee: formatCoins(fee), fee_payer: feePayer.text });
}
