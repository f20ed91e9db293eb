import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { tryParseInt } from "../../../util/index.ts";
import type { Coin } from "../../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { AuthInfoSchema, type Tx, TxBodySchema, TxSchema } from "../../../wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { commandError } from "../../errors.ts";
import type { TxSettings } from "../session/settings.ts";

/** One transaction with the messages of all; gas and fees are added up, the rest comes from the flags. */
export function joinTxs(txs: readonly Tx[], settings: TxSettings): Tx {
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
