import { create } from "@bufbuild/protobuf";
import { type TestKey, type TestMessage, testKey } from "../../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import {
  MsgDepositValidatorRewardsPoolSchema,
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgWithdrawDelegatorRewardSchema,
  MsgWithdrawValidatorCommissionSchema,
} from "../../../src/wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { MsgUnjailSchema } from "../../../src/wire/gen/sdk/slashing/v1beta1/tx_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgEditValidatorSchema,
  MsgUndelegateSchema,
} from "../../../src/wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { createValidatorMessage, operatorAddress } from "../../support/chain/index.ts";
import { OTHER_DENOMS } from "../chain.ts";
import {
  type Cases,
  type GasCase,
  names,
  newChain,
  OPERATORS,
  one,
  sending,
  shortProposal,
  splitVote,
  TENANT,
} from "./prepare.ts";

/** Waiting entries of a delegation before the one that is measured; seven are allowed. */
const ENTRIES = 6;
const STAKE = 10_000_000n;
const DELEGATORS = names("sponsor", 100);

const stake = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });
/** A coin of every kind in a balance. */
const allKinds = () => [...OTHER_DENOMS, NATIVE_DENOM].sort().map((denom) => ({ denom, amount: "1000000" }));

/** The longest texts with which a validator may describe itself. */
const DESCRIPTION = {
  moniker: "m".repeat(70),
  identity: "i".repeat(3000),
  website: "w".repeat(140),
  securityContact: "s".repeat(140),
  details: "d".repeat(280),
};

/** A chain with this many validators. */
export function validators(count: number) {
  const chain = newChain();
  const operators = OPERATORS.slice(0, count).map(testKey);
  chain.mustRun(
    ...operators.map((key) => one(key, createValidatorMessage(key, { amount: STAKE, minSelfDelegation: STAKE }))),
  );
  const operatorOf = (i: number): string => operatorAddress(operators[i % count] ?? testKey(""));
  return { chain, operators, operatorOf };
}

/**
 * Validators with delegations that have rewards in every kind of coin; each has the requested number of waiting
 * entries.
 */
function delegated() {
  const made = validators(2);
  const { chain, operatorOf } = made;
  const people = DELEGATORS.map(testKey);
  const delegate = (key: TestKey, to: number): TestMessage =>
    create(MsgDelegateSchema, {
      delegatorAddress: key.address,
      validatorAddress: operatorOf(to),
      amount: stake(STAKE),
    });
  chain.mustRun(...people.map((key) => ({ messages: [delegate(key, 0), delegate(key, 1)], signers: [key] })));
  return { ...made, people, delegate };
}

type Delegated = ReturnType<typeof delegated>;

/** Gives both validators coins of every kind, which their delegators have not fetched. */
function reward({ chain, operatorOf }: Pick<Delegated, "chain" | "operatorOf">): void {
  const from = chain.key(TENANT);
  for (const i of [0, 1])
    chain.mustSend(from, [
      create(MsgDepositValidatorRewardsPoolSchema, {
        depositor: from.address,
        validatorAddress: operatorOf(i),
        amount: allKinds(),
      }),
    ]);
}

const redelegation = (made: Delegated, key: TestKey) =>
  create(MsgBeginRedelegateSchema, {
    delegatorAddress: key.address,
    validatorSrcAddress: made.operatorOf(0),
    validatorDstAddress: made.operatorOf(1),
    amount: stake(1000n),
  });

const undelegation = (made: Delegated, key: TestKey) =>
  create(MsgUndelegateSchema, {
    delegatorAddress: key.address,
    validatorAddress: made.operatorOf(0),
    amount: stake(1000n),
  });

/** Each of some people sends a message, with rewards of every kind waiting; `before` is sent by them first, in blocks of its own. */
function byPeople(
  content: string,
  message: (made: Delegated, key: TestKey) => TestMessage,
  before: readonly ((made: Delegated, key: TestKey) => TestMessage)[] = [],
): GasCase {
  return {
    content,
    count: 5,
    prepare: (count) => {
      const made = delegated();
      const people = made.people.slice(0, count);
      for (const each of before) made.chain.mustRun(...people.map((key) => one(key, each(made, key))));
      reward(made);
      return { chain: made.chain, txs: people.map((key) => one(key, message(made, key))) };
    },
  };
}

/** Messages of accounts that have voted on this many open proposals, for four options on each. */
function byVoters(message: (made: Delegated, key: TestKey) => TestMessage, proposals = 20): GasCase {
  return {
    content: `of one who voted on ${proposals} open proposals`,
    count: 5,
    prepare: (count) => {
      const made = delegated();
      const people = made.people.slice(0, count);
      const from = made.chain.key(TENANT);
      made.chain.mustSend(
        from,
        Array.from({ length: proposals }, () => shortProposal(from)),
      );
      for (const key of people)
        made.chain.mustSend(
          key,
          Array.from({ length: proposals }, (_, i) => splitVote(key, BigInt(i + 1))),
        );
      return { chain: made.chain, txs: people.map((key) => one(key, message(made, key))) };
    },
  };
}

const repeat = <T>(value: T): T[] => Array.from({ length: ENTRIES }, () => value);

/** Operators that each send a message, after one that all have sent. */
function byOperators(
  content: string,
  message: (key: TestKey) => TestMessage,
  before?: (key: TestKey) => readonly TestMessage[],
): GasCase {
  return {
    content,
    count: 5,
    prepare: (count) => {
      const { chain, operators } = validators(Math.min(count, OPERATORS.length));
      if (before !== undefined)
        chain.mustRun(...operators.map((key) => ({ messages: [...before(key)], signers: [key] })));
      return { chain, txs: operators.map((key) => one(key, message(key))) };
    },
  };
}

const KINDS = "coins of sixty kinds";

/** Validators and delegations. */
export const STAKING: Cases = {
  "sdk.staking.v1beta1.MsgCreateValidator": ["m", "long"].map((words) => ({
    content: words === "m" ? "with a short name" : "with the longest texts",
    count: 5,
    prepare: (count: number) => {
      const chain = newChain();
      const keys = OPERATORS.slice(0, count).map(testKey);
      const description = words === "m" ? { moniker: words } : DESCRIPTION;
      return {
        chain,
        txs: keys.map((key) => one(key, createValidatorMessage(key, { amount: STAKE }, { description }))),
      };
    },
  })),
  "sdk.staking.v1beta1.MsgEditValidator": [
    byOperators("with the longest texts", (key) =>
      create(MsgEditValidatorSchema, { validatorAddress: operatorAddress(key), description: DESCRIPTION }),
    ),
    byOperators("with a short name", (key) =>
      create(MsgEditValidatorSchema, { validatorAddress: operatorAddress(key), description: { moniker: "n" } }),
    ),
  ],
  "sdk.staking.v1beta1.MsgDelegate": [
    byPeople(`with ${KINDS} to fetch`, (made, key) => made.delegate(key, 0)),
    byVoters((made, key) => made.delegate(key, 0)),
    byPeople("to a new validator's pool", (made, key) =>
      create(MsgDelegateSchema, {
        delegatorAddress: key.address,
        validatorAddress: made.operatorOf(1),
        amount: stake(1n),
      }),
    ),
  ],
  "sdk.staking.v1beta1.MsgBeginRedelegate": [
    byPeople(`with six entries before, and ${KINDS} to fetch`, redelegation, repeat(redelegation)),
    byVoters(redelegation),
  ],
  "sdk.staking.v1beta1.MsgUndelegate": [
    byPeople(`with six entries before, and ${KINDS} to fetch`, undelegation, repeat(undelegation)),
  ],
  "sdk.staking.v1beta1.MsgCancelUnbondingDelegation": [
    {
      content: `one of six entries, with ${KINDS} to fetch`,
      count: 5,
      prepare: (count) => {
        const made = delegated();
        const { chain } = made;
        const people = made.people.slice(0, count);
        for (let i = 0; i < ENTRIES; i++) chain.mustRun(...people.map((key) => one(key, undelegation(made, key))));
        const creationHeight = chain.height;
        reward(made);
        const txs = people.map((key) =>
          one(
            key,
            create(MsgCancelUnbondingDelegationSchema, {
              delegatorAddress: key.address,
              validatorAddress: made.operatorOf(0),
              amount: stake(500n),
              creationHeight,
            }),
          ),
        );
        return { chain, txs };
      },
    },
  ],
  "sdk.slashing.v1beta1.MsgUnjail": [
    byOperators(
      "of one that had too little of its own",
      (key) => create(MsgUnjailSchema, { validatorAddr: operatorAddress(key) }),
      (key) => {
        const pair = { delegatorAddress: key.address, validatorAddress: operatorAddress(key), amount: stake(1n) };
        return [create(MsgUndelegateSchema, pair), create(MsgDelegateSchema, pair)];
      },
    ),
  ],
};

/** Rewards and the community's money. */
export const DISTRIBUTION: Cases = {
  "sdk.distribution.v1beta1.MsgDepositValidatorRewardsPool": [
    {
      content: KINDS,
      count: 5,
      prepare: (count) => {
        const { chain, operatorOf } = validators(2);
        const from = chain.key(TENANT);
        const message = create(MsgDepositValidatorRewardsPoolSchema, {
          depositor: from.address,
          validatorAddress: operatorOf(0),
          amount: allKinds(),
        });
        return { chain, txs: Array.from({ length: count }, () => one(from, message)) };
      },
    },
  ],
  "sdk.distribution.v1beta1.MsgFundCommunityPool": [
    {
      content: KINDS,
      count: 5,
      prepare: (count) => {
        const chain = newChain();
        const from = chain.key(TENANT);
        const message = create(MsgFundCommunityPoolSchema, { depositor: from.address, amount: allKinds() });
        return { chain, txs: Array.from({ length: count }, () => one(from, message)) };
      },
    },
  ],
  "sdk.distribution.v1beta1.MsgSetWithdrawAddress": [
    byPeople("another account", (made, key) =>
      create(MsgSetWithdrawAddressSchema, {
        delegatorAddress: key.address,
        withdrawAddress: made.chain.key(TENANT).address,
      }),
    ),
    sending("another account each time", 20, () => {
      const { chain, people } = delegated();
      const personOf = (i: number) => people[i % people.length] ?? testKey("");
      // There are more operators than accounts, so an address is not set twice in a row.
      const message = (i: number) =>
        create(MsgSetWithdrawAddressSchema, {
          delegatorAddress: personOf(i).address,
          withdrawAddress: testKey(OPERATORS[i % OPERATORS.length] ?? "").address,
        });
      return { chain, from: personOf, message };
    }),
  ],
  "sdk.distribution.v1beta1.MsgWithdrawDelegatorReward": [
    byPeople(KINDS, (made, key) =>
      create(MsgWithdrawDelegatorRewardSchema, { delegatorAddress: key.address, validatorAddress: made.operatorOf(0) }),
    ),
  ],
  "sdk.distribution.v1beta1.MsgWithdrawValidatorCommission": [
    {
      content: KINDS,
      count: 1,
      prepare: (count) => {
        const { chain, operators } = validators(Math.max(2, Math.min(count, OPERATORS.length)));
        const from = chain.key(TENANT);
        for (const key of operators)
          chain.mustSend(from, [
            create(MsgDepositValidatorRewardsPoolSchema, {
              depositor: from.address,
              validatorAddress: operatorAddress(key),
              amount: allKinds(),
            }),
          ]);
        const txs = operators.map((key) =>
          one(key, create(MsgWithdrawValidatorCommissionSchema, { validatorAddress: operatorAddress(key) })),
        );
        return { chain, txs };
      },
    },
  ],
};
