import { create } from "@bufbuild/protobuf";
import { signTx, type TestKey, testKey } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";

export const FEE = 500n;
const GAS = 200_000n;

/** An account of the load: its transfers go out one after the other, each signed beforehand for its sequence. */
export interface Lane {
  readonly key: TestKey;
  readonly accountNumber: bigint;
  /** The transfer with this sequence, always the same bytes. */
  tx(sequence: bigint): Uint8Array;
}

/** Amount of the transfer with this sequence: different each time, so that a lost or doubled one changes a balance. */
export function amountOf(sequence: bigint): bigint {
  return 1n + ((sequence * 7919n) % 1000n);
}

/** Accounts in a ring: each sends to the next one. */
export function makeLanes(chainId: string, count: number, signedEach: number): Lane[] {
  const keys = Array.from({ length: count }, (_, i) => testKey(`lane ${i}`));
  return keys.map((key, i) => {
    const to = keys[(i + 1) % count] ?? key;
    const sign = (sequence: bigint): Uint8Array => {
      const coin = { denom: NATIVE_DENOM, amount: amountOf(sequence).toString() };
      const message = create(MsgSendSchema, { fromAddress: key.address, toAddress: to.address, amount: [coin] });
      const fee = [{ denom: NATIVE_DENOM, amount: FEE }];
      return signTx(chainId, [message], [{ key, accountNumber: BigInt(i), sequence }], { gas: GAS, fee });
    };
    const signed = Array.from({ length: signedEach }, (_, sequence) => sign(BigInt(sequence)));
    return { key, accountNumber: BigInt(i), tx: (sequence) => signed[Number(sequence)] ?? sign(sequence) };
  });
}
