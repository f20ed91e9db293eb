import { create } from "@bufbuild/protobuf";
import type { TestMessage } from "../../../src/testing/index.ts";
import { MsgMultiSendSchema, MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress } from "../../../src/wire/index.ts";
import { coin } from "../../support/chain/index.ts";
import type { GenesisFile } from "../../support/index.ts";

/** Most outputs that a message may have. */
const MAX_OUTPUTS = 500;

/** Blocks without a limit of gas: everything that bytes allow. */
export function unlimitedGas({ consensus_params: { block } }: GenesisFile): void {
  block.max_gas = "-1";
}

/** An unused address, different for each number. */
export function strangerAddress(number: number): string {
  const bytes = Buffer.alloc(20, 1);
  bytes.writeUInt32BE(number, 0);
  return encodeAddress(bytes);
}

/** Messages that pay 1utoken to each of this many strangers, from that number on; the payer pays with few messages. */
export function multiSends(payer: string, { first, count }: { first: number; count: number }): TestMessage[] {
  return Array.from({ length: Math.ceil(count / MAX_OUTPUTS) }, (_, i) => {
    const length = Math.min(MAX_OUTPUTS, count - i * MAX_OUTPUTS);
    const receivers = Array.from({ length }, (__, j) => strangerAddress(first + i * MAX_OUTPUTS + j));
    return create(MsgMultiSendSchema, {
      inputs: [{ address: payer, coins: [coin(BigInt(length))] }],
      outputs: receivers.map((address) => ({ address, coins: [coin(1n)] })),
    });
  });
}

/** As many ordinary transfers to strangers. */
export function sends(payer: string, { first, count }: { first: number; count: number }): TestMessage[] {
  return Array.from({ length: count }, (_, i) =>
    create(MsgSendSchema, { fromAddress: payer, toAddress: strangerAddress(first + i), amount: [coin(1n)] }),
  );
}
