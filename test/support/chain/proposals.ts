import { create } from "@bufbuild/protobuf";
import { NO_VOTERS } from "../../../src/abci/index.ts";
import { signTx, type TestChain, testKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";

export const fee = (amount: bigint) => [{ denom: NATIVE_DENOM, amount }];

export function send(chain: TestChain, from: string) {
  const [fromAddress, toAddress] = [chain.key(from).address, testKey("nobody").address];
  return create(MsgSendSchema, { fromAddress, toAddress, amount: [{ denom: NATIVE_DENOM, amount: "1" }] });
}

/** A transfer of an account; `ahead` counts its earlier ones that wait. */
export function pays(chain: TestChain, from: string, amount: bigint, ahead = 0n): Uint8Array {
  const key = chain.key(from);
  const { accountNumber, sequence } = chain.account(key.address);
  const signer = { key, accountNumber, sequence: sequence + ahead };
  return signTx(chain.chainId, [send(chain, from)], [signer], { fee: fee(amount), gas: 200_000n });
}

/** Whether the chain accepts a proposal of another validator. */
export function process(chain: TestChain, txs: readonly Uint8Array[]): boolean {
  const place = { height: chain.height + 1n, time: chain.time + 1n, proposer: new Uint8Array(20) };
  return chain.app.processProposal({ ...NO_VOTERS, ...place, txs, hash: new Uint8Array(32) });
}
