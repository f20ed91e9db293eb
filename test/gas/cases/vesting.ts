import { create } from "@bufbuild/protobuf";
import { MAX_VESTING_PERIODS } from "../../../src/modules/auth/index.ts";
import { MAX_PERIOD_COINS } from "../../../src/modules/auth/vesting/schedule.ts";
import type { TestMessage } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import { MsgSendSchema } from "../../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../../src/wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { OTHER_DENOMS } from "../chain.ts";
import { type Cases, type GasCase, newChain, one, TENANT, utoken } from "./prepare.ts";

const KINDS = [...OTHER_DENOMS, NATIVE_DENOM].sort().map((denom) => ({ denom, amount: "1000000" }));
/** Years before and after every chain of a test. */
const [EARLY, LATE] = [1_000_000_000n, 4_000_000_000n];

type Coins = readonly { readonly denom: string; readonly amount: string }[];

const made = (content: string, message: (fromAddress: string, toAddress: string) => TestMessage): GasCase => ({
  content,
  count: 5,
  prepare: (count) => {
    const chain = newChain();
    const from = chain.key(TENANT);
    const to = (i: number) => chain.key(`vested${i}`).address;
    return { chain, txs: Array.from({ length: count }, (_, i) => one(from, message(from.address, to(i)))) };
  },
});

const periodsOf = (count: number, amount: Coins) =>
  Array.from({ length: count }, () => ({ length: 4_000_000n, amount: [...amount] }));
const periodic = (count: number, amount: Coins) => (fromAddress: string, toAddress: string) =>
  create(MsgCreatePeriodicVestingAccountSchema, {
    ...{ fromAddress, toAddress, startTime: EARLY },
    vestingPeriods: periodsOf(count, amount),
  });
const manyKinds = Math.floor(MAX_PERIOD_COINS / KINDS.length);

/** Accounts with locked coins. */
export const VESTING: Cases = {
  "sdk.vesting.v1beta1.MsgCreateVestingAccount": [
    made("one kind of coins", (fromAddress, toAddress) =>
      create(MsgCreateVestingAccountSchema, { fromAddress, toAddress, amount: utoken(1n), endTime: LATE }),
    ),
    made("coins of sixty kinds", (fromAddress, toAddress) =>
      create(MsgCreateVestingAccountSchema, { fromAddress, toAddress, amount: KINDS, endTime: LATE }),
    ),
  ],
  "sdk.vesting.v1beta1.MsgCreatePermanentLockedAccount": [
    made("coins of sixty kinds", (fromAddress, toAddress) =>
      create(MsgCreatePermanentLockedAccountSchema, { fromAddress, toAddress, amount: KINDS }),
    ),
  ],
  "sdk.vesting.v1beta1.MsgCreatePeriodicVestingAccount": [
    made(`${MAX_VESTING_PERIODS} periods`, periodic(MAX_VESTING_PERIODS, utoken(1_000_000n))),
    made(`${manyKinds} periods of coins of sixty kinds`, periodic(manyKinds, KINDS)),
  ],
};

const sent = (content: string, message: (fromAddress: string, toAddress: string) => TestMessage): GasCase => ({
  content: `from an account with ${content}`,
  count: 20,
  prepare: (count) => {
    const chain = newChain();
    const from = chain.key("vested");
    chain.mustSend(chain.key(TENANT), [message(chain.key(TENANT).address, from.address)]);
    chain.adopt(from);
    const transfer = { fromAddress: from.address, toAddress: chain.key("second").address, amount: utoken(1n) };
    return { chain, txs: Array.from({ length: count }, () => one(from, create(MsgSendSchema, transfer))) };
  },
});

/** Transfers of accounts with locked coins: the fee and the transfer each check the locks. */
export const LOCKED_SENDS: readonly GasCase[] = [
  sent(`${MAX_VESTING_PERIODS} periods`, periodic(MAX_VESTING_PERIODS, utoken(1_000_000n))),
  sent(`${manyKinds} periods of coins of sixty kinds`, periodic(manyKinds, KINDS)),
];
