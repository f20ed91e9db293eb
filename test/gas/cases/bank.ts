import { create } from "@bufbuild/protobuf";
import { MsgMultiSendSchema, MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { OTHER_DENOMS } from "../chain.ts";
import { type Cases, names, newChain, one, TENANT, utoken } from "./prepare.ts";

/** Transfers. */
export const BANK: Cases = {
  "sdk.bank.v1beta1.MsgSend": [
    {
      content: "one coin to a new account",
      count: 40,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const txs = names("new", count).map((name) =>
          one(
            from,
            create(MsgSendSchema, {
              fromAddress: from.address,
              toAddress: chain.key(name).address,
              amount: utoken(1n),
            }),
          ),
        );
        return { chain, txs };
      },
    },
    {
      content: "one coin to an account that is there",
      count: 40,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const txs = names("new", count).map(() =>
          one(
            from,
            create(MsgSendSchema, {
              fromAddress: from.address,
              toAddress: chain.key("second").address,
              amount: utoken(1n),
            }),
          ),
        );
        return { chain, txs };
      },
    },
    {
      content: "sixty denominations to new accounts",
      count: 10,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const amount = OTHER_DENOMS.map((denom) => ({ denom, amount: "1" }));
        const txs = names("new", count).map((name) =>
          one(from, create(MsgSendSchema, { fromAddress: from.address, toAddress: chain.key(name).address, amount })),
        );
        return { chain, txs };
      },
    },
  ],
  "sdk.bank.v1beta1.MsgMultiSend": [
    {
      content: "500 new accounts",
      count: 1,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const txs = Array.from({ length: count }, (_, i) =>
          one(
            from,
            create(MsgMultiSendSchema, {
              inputs: [{ address: from.address, coins: utoken(500n) }],
              outputs: names(`new${i}-`, 500).map((name) => ({ address: chain.key(name).address, coins: utoken(1n) })),
            }),
          ),
        );
        return { chain, txs };
      },
    },
    {
      content: "seven senders",
      count: 20,
      prepare: (count) => {
        const chain = newChain();
        const signers = names("payer", 7).map((name) => chain.key(name));
        const txs = Array.from({ length: count }, () => ({
          signers,
          messages: [
            create(MsgMultiSendSchema, {
              inputs: signers.map(({ address }) => ({ address, coins: utoken(1n) })),
              outputs: [{ address: chain.key("second").address, coins: utoken(7n) }],
            }),
          ],
        }));
        return { chain, txs };
      },
    },
    {
      content: "one account 500 times",
      count: 1,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const txs = Array.from({ length: count }, () =>
          one(
            from,
            create(MsgMultiSendSchema, {
              inputs: [{ address: from.address, coins: utoken(500n) }],
              outputs: Array.from({ length: 500 }, () => ({ address: chain.key("second").address, coins: utoken(1n) })),
            }),
          ),
        );
        return { chain, txs };
      },
    },
  ],
};
