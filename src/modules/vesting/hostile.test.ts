import { create, type Message } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  consensusKey,
  createValidatorMessage,
  groupSpec,
  operatorAddress,
  orderOf,
  TestMarket,
} from "../../../test/support/chain/index.ts";
import { consensusAddress } from "../../crypto/index.ts";
import {
  type SendSettings,
  type SentTx,
  type TestChain,
  type TestKey,
  testChain,
  testKey,
  toAny,
} from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { GenericAuthorizationSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { MsgExecSchema, MsgGrantSchema } from "../../wire/gen/sdk/authz/v1beta1/tx_pb.js";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { MsgMultiSendSchema, MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import {
  MsgDepositValidatorRewardsPoolSchema,
  MsgFundCommunityPoolSchema,
  MsgSetWithdrawAddressSchema,
  MsgWithdrawDelegatorRewardSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { BasicAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { MsgGrantAllowanceSchema } from "../../wire/gen/sdk/feegrant/v1beta1/tx_pb.js";
import { MsgDepositSchema, MsgSubmitProposalSchema } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { Query as Staking } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgCancelUnbondingDelegationSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  MsgCreatePeriodicVestingAccountSchema,
  MsgCreatePermanentLockedAccountSchema,
  MsgCreateVestingAccountSchema,
} from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { DepositDeploymentAuthorizationSchema } from "../../wire/gen/svc/deployment/v1beta1/authz_pb.js";
import { MsgCreateDeploymentSchema, MsgDepositDeploymentSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { MsgCreateBidSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { packAny } from "../../wire/index.ts";

/** A holder of locked coins, with a helper who may do everything in her name, tries to spend them in every way there is. */

const M = 1_000_000n;
const LOCKED = 1_000n * M;
const coin = (amount: bigint) => ({ denom: NATIVE_DENOM, amount: `${amount}` });
const [vera, bob, alice, dave] = ["vera", "bob", "alice", "dave"].map(testKey) as [TestKey, TestKey, TestKey, TestKey];
const validator = operatorAddress(alice);
const STAKING = {
  ...{ unbonding_time: "12s", max_validators: 5, max_entries: 7 },
  ...{ historical_entries: 0, bond_denom: NATIVE_DENOM },
};

const balanceOf = (chain: TestChain, { address }: TestKey) => chain.balance(address);
const spendable = (chain: TestChain, { address }: TestKey) =>
  BigInt(chain.query(Bank.method.spendableBalanceByDenom, { address, denom: NATIVE_DENOM }).balance?.amount ?? "none");

function setUp(): TestChain {
  const params = { ...STAKING, min_commission_rate: "0" };
  const chain = testChain({ genesis: { staking: { params, last_total_power: "0" } } });
  for (const from of [alice, dave]) chain.mustSend(createValidatorMessage(from, { amount: 100n * M }), { from });
  const pair = { fromAddress: alice.address, toAddress: vera.address };
  chain.mustSend(create(MsgCreatePermanentLockedAccountSchema, { ...pair, amount: [coin(LOCKED)] }), { from: alice });
  return chain;
}

const send = (amount: bigint, to = bob.address) =>
  create(MsgSendSchema, { fromAddress: vera.address, toAddress: to, amount: [coin(amount)] });
const grantOf = (authorization: ReturnType<typeof packAny>) =>
  create(MsgGrantSchema, { granter: vera.address, grantee: bob.address, grant: { authorization } });
const delegation = (amount: bigint) => ({
  ...{ delegatorAddress: vera.address, validatorAddress: validator },
  amount: coin(amount),
});
const proposal = (from: TestKey, deposit: bigint) =>
  create(MsgSubmitProposalSchema, {
    ...{ proposer: from.address, title: "t", summary: "s", metadata: "m" },
    initialDeposit: [coin(deposit)],
  });
const deployment = (owner: TestKey, depositor: string) =>
  create(MsgCreateDeploymentSchema, {
    ...{ id: { owner: owner.address, dseq: 9n }, groups: [groupSpec("web")], version: new Uint8Array(32).fill(1) },
    ...{ deposit: coin(5n * M), depositor },
  });

type Try = [name: string, messages: (chain: TestChain) => Message[] | Message, settings?: Partial<SendSettings>];

const WAYS: readonly Try[] = [
  ["a transfer", () => send(1n)],
  ["a transfer to herself", () => send(1n, vera.address)],
  [
    "a transfer to many",
    () =>
      create(MsgMultiSendSchema, {
        inputs: [{ address: vera.address, coins: [coin(2n)] }],
        outputs: [bob, dave].map(({ address }) => ({ address, coins: [coin(1n)] })),
      }),
  ],
  [
    "a transfer by her helper",
    () => create(MsgExecSchema, { grantee: bob.address, msgs: [toAny(send(1n))] }),
    { from: bob },
  ],
  [
    "a fee",
    () => create(MsgSetWithdrawAddressSchema, { delegatorAddress: vera.address, withdrawAddress: bob.address }),
    { fee: [{ denom: NATIVE_DENOM, amount: 1n }] },
  ],
  [
    "the fee of her helper",
    () => create(MsgSendSchema, { fromAddress: bob.address, toAddress: dave.address, amount: [coin(1n)] }),
    { from: bob, granter: vera.address, fee: [{ denom: NATIVE_DENOM, amount: 1n }] },
  ],
  ["the deposit of a new proposal", () => proposal(vera, M)],
  [
    "a deposit for a proposal of somebody else",
    () => create(MsgDepositSchema, { proposalId: 1n, depositor: vera.address, amount: [coin(M)] }),
  ],
  ["the deposit of a deployment", () => deployment(vera, "")],
  ["the deposit of her helper's deployment", () => deployment(bob, vera.address), { from: bob }],
  [
    "more money for somebody's deployment",
    () =>
      create(MsgDepositDeploymentSchema, {
        ...{ id: { owner: bob.address, dseq: 5n }, amount: coin(M), depositor: vera.address },
      }),
  ],
  [
    "the deposit of a bid",
    () =>
      create(MsgCreateBidSchema, {
        ...{ order: orderOf({ owner: bob.address, dseq: 5n }), provider: vera.address },
        ...{ price: { denom: NATIVE_DENOM, amount: "1" }, deposit: coin(5n * M) },
      }),
  ],
  ["the community", () => create(MsgFundCommunityPoolSchema, { depositor: vera.address, amount: [coin(1n)] })],
  [
    "rewards of a validator",
    () =>
      create(MsgDepositValidatorRewardsPoolSchema, {
        ...{ depositor: vera.address, validatorAddress: validator, amount: [coin(1n)] },
      }),
  ],
  [
    "another account with locked coins",
    () =>
      create(MsgCreateVestingAccountSchema, {
        ...{
          fromAddress: vera.address,
          toAddress: testKey("new").address,
          amount: [coin(1n)],
          endTime: 2_000_000_000n,
        },
      }),
  ],
  [
    "an account that locks them for good",
    () =>
      create(MsgCreatePermanentLockedAccountSchema, {
        ...{ fromAddress: vera.address, toAddress: testKey("new").address, amount: [coin(1n)] },
      }),
  ],
  [
    "an account with periods",
    () =>
      create(MsgCreatePeriodicVestingAccountSchema, {
        ...{ fromAddress: vera.address, toAddress: testKey("new").address, startTime: 1n },
        vestingPeriods: [{ length: 1n, amount: [coin(1n)] }],
      }),
  ],
  [
    "taking them into stake and out again in one transaction",
    () => [create(MsgDelegateSchema, delegation(M)), create(MsgUndelegateSchema, delegation(M)), send(1n)],
  ],
];

/** A chain with the objects that she attacks, and a helper with every permission. */
function prepared(): TestChain {
  const chain = setUp();
  const market = new TestMarket(chain);
  for (const message of [
    ...[send(0n), proposal(vera, 1n), deployment(vera, "")].map((each) =>
      grantOf(packAny(GenericAuthorizationSchema, { msg: toAny(each).typeUrl })),
    ),
    grantOf(packAny(DepositDeploymentAuthorizationSchema, { spendLimit: coin(LOCKED) })),
    create(MsgGrantAllowanceSchema, {
      ...{ granter: vera.address, grantee: bob.address, allowance: packAny(BasicAllowanceSchema, {}) },
    }),
  ])
    chain.mustSend(message, { from: vera });
  chain.mustSend(proposal(alice, M), { from: alice });
  market.deploy(bob, { dseq: 5n });
  market.register(vera);
  return chain;
}

describe("locked coins are spent by no message:", () => {
  const whole = prepared();

  test.each<Try>([...WAYS])("%s", (_, messages, settings = {}) => {
    const chain = whole.fork();
    const sent: SentTx = chain.send(messages(chain), { from: vera, gas: 1_000_000n, ...settings });
    expect([sent.codespace, sent.code, sent.log]).toEqual(["sdk", 5, expect.stringContaining("insufficient funds")]);
    expect(balanceOf(chain, vera)).toBe(LOCKED);
    expect(spendable(chain, vera)).toBe(0n);
    // Not one coin more than is free, once one is.
    const gift = create(MsgSendSchema, { fromAddress: alice.address, toAddress: vera.address, amount: [coin(7n)] });
    chain.mustSend(gift, { from: alice });
    expect(chain.send(send(8n), { from: vera })).toMatchObject({ codespace: "sdk", code: 5 });
    chain.mustSend(send(7n), { from: vera });
  });
});

describe("locked coins come out of stake as they went in", () => {
  const staked = (chain: TestChain) => {
    const { delegationResponses } = chain.query(Staking.method.delegatorDelegations, { delegatorAddr: vera.address });
    const { unbondingResponses } = chain.query(Staking.method.delegatorUnbondingDelegations, {
      delegatorAddr: vera.address,
    });
    const held = delegationResponses.map(({ balance }) => BigInt(balance?.amount ?? "0"));
    const leaving = unbondingResponses.flatMap(({ entries }) => entries.map(({ balance }) => BigInt(balance)));
    return [...held, ...leaving].reduce((sum, each) => sum + each, 0n);
  };
  /** She delegates to another, moves it, takes it back, and takes that back. */
  const roundTrips = (chain: TestChain) => {
    const from = vera;
    chain.mustSend(create(MsgDelegateSchema, delegation(LOCKED)), { from });
    const away = { validatorSrcAddress: validator, validatorDstAddress: operatorAddress(dave) };
    const half = { delegatorAddress: vera.address, amount: coin(LOCKED / 2n) };
    chain.mustSend(create(MsgBeginRedelegateSchema, { ...half, ...away }), { from });
    chain.mustSend(create(MsgUndelegateSchema, delegation(LOCKED / 4n)), { from });
    const cancel = { ...delegation(LOCKED / 8n), creationHeight: chain.height };
    chain.mustSend(create(MsgCancelUnbondingDelegationSchema, cancel), { from });
    chain.nextBlock(4);
  };

  test("through moves, unbondings and cancelled ones; only rewards are free", () => {
    const chain = setUp();
    roundTrips(chain);
    expect([balanceOf(chain, vera), spendable(chain, vera)]).toEqual([
      LOCKED / 8n + spendable(chain, vera),
      spendable(chain, vera),
    ]);
    const rewards = spendable(chain, vera);
    expect(staked(chain) + balanceOf(chain, vera) - rewards).toBe(LOCKED);
    // Rewards go where she wants; the coins themselves do not.
    const elsewhere = testKey("purse").address;
    const set = { delegatorAddress: vera.address, withdrawAddress: elsewhere };
    chain.mustSend(create(MsgSetWithdrawAddressSchema, set), { from: vera });
    const withdraw = { delegatorAddress: vera.address, validatorAddress: validator };
    chain.mustSend(create(MsgWithdrawDelegatorRewardSchema, withdraw), { from: vera });
    for (const { validatorAddress, amount } of chain
      .query(Staking.method.delegatorDelegations, { delegatorAddr: vera.address })
      .delegationResponses.map(({ delegation: of, balance }) => ({
        validatorAddress: of?.validatorAddress ?? "",
        amount: BigInt(balance?.amount ?? "0"),
      })))
      chain.mustSend(
        create(MsgUndelegateSchema, { delegatorAddress: vera.address, validatorAddress, amount: coin(amount) }),
        { from: vera },
      );
    chain.nextBlock(4);
    expect(balanceOf(chain, vera)).toBe(LOCKED + rewards);
    expect(spendable(chain, vera)).toBe(rewards);
  });

  test("a stake that was slashed leaves what is left locked, even for a validator of her own", () => {
    const chain = setUp();
    chain.mustSend(createValidatorMessage(vera, { amount: LOCKED }), { from: vera });
    chain.nextBlock(2);
    const address = consensusAddress(consensusKey("vera"));
    const proof = { kind: "duplicateVote", validator: { address, power: 1000n }, totalVotingPower: 1200n } as const;
    chain.block([], [{ ...proof, height: chain.height, time: chain.time }]);
    const left = (LOCKED * 95n) / 100n;
    expect(staked(chain)).toBe(left);
    const back = { delegatorAddress: vera.address, validatorAddress: operatorAddress(vera), amount: coin(left) };
    const free = () => spendable(chain, vera);
    const before = free();
    chain.mustSend(create(MsgUndelegateSchema, back), { from: vera });
    chain.nextBlock(4);
    expect(balanceOf(chain, vera) - free()).toBe(left);
    expect(chain.send(send(free() + 1n), { from: vera })).toMatchObject({ codespace: "sdk", code: 5 });
    expect(free()).toBeGreaterThanOrEqual(before);
  });
});

describe("schedules at the ends of numbers", () => {
  const lock = (endTime: bigint, amount = 5n, delayed = false) =>
    create(MsgCreateVestingAccountSchema, {
      ...{ fromAddress: alice.address, toAddress: vera.address, amount: [coin(amount)], endTime, delayed },
    });
  const periodic = (startTime: bigint, ...periods: readonly (readonly [bigint, string])[]) =>
    create(MsgCreatePeriodicVestingAccountSchema, {
      ...{ fromAddress: alice.address, toAddress: vera.address, startTime },
      vestingPeriods: periods.map(([length, amount]) => ({ length, amount: [{ denom: NATIVE_DENOM, amount }] })),
    });
  const ends = [2n ** 63n - 1n, 2n ** 62n, -1n, -(2n ** 63n), 253_402_300_800n];

  test.each([
    ...ends.flatMap((end) => [lock(end), lock(end, 5n, true), periodic(end, [1n, "1"]), periodic(1n, [end, "1"])]),
    periodic(2n ** 63n - 1n, [2n ** 63n - 1n, "1"], [2n ** 63n - 1n, "1"]),
    periodic(1n, [1n, "1"], [-1n, "1"], [1n, "1"]),
    periodic(1n, [1n, "-1"], [1n, "2"]),
    periodic(1n, [1n, "0"], [1n, "2"]),
    periodic(1n, [1n, "1.5"]),
    periodic(1n, [1n, ""]),
    periodic(1n, [1n, `${2n ** 256n}`]),
    periodic(1n, [1n, `${2n ** 256n - 1n}`], [1n, "1"]),
  ])("are refused, and nothing is made: case %#", (message) => {
    const chain = testChain();
    const before = balanceOf(chain, alice);
    const sent = chain.send(message, { from: alice });
    expect([sent.code === 0, sent.codespace, chain.problems]).toEqual([
      false,
      expect.stringMatching(/^(sdk|vesting)$/),
      [],
    ]);
    expect(balanceOf(chain, alice)).toBe(before);
    expect(() => chain.account(vera.address)).toThrow("not found");
  });

  test("the last second of all calendars is taken, and half of everything is free half way", () => {
    const chain = testChain();
    chain.mustSend(lock(253_402_300_799n, 10n ** 9n), { from: alice });
    expect(spendable(chain, vera)).toBe(0n);
    chain.nextBlock();
    // Six seconds of eight millennia, of a thousand tokens.
    expect(spendable(chain, vera)).toBe(0n);
  });

  test("nobody makes a schedule for an account that is there, one of a module, or one that only holds a grant", () => {
    const chain = testChain();
    const grant = create(MsgGrantAllowanceSchema, {
      ...{ granter: alice.address, grantee: vera.address, allowance: packAny(BasicAllowanceSchema, {}) },
    });
    chain.mustSend(grant, { from: alice });
    expect(chain.send(lock(2_000_000_000n), { from: alice })).toMatchObject({ codespace: "sdk", code: 18 });
  });

  test("all coins of the chain come free evenly without a fault", () => {
    const most = 2n ** 255n;
    const base_vesting_account = {
      base_account: { address: vera.address },
      original_vesting: [{ denom: "uhuge", amount: `${most}` }],
      ...{ delegated_free: [], delegated_vesting: [], end_time: "2000000000" },
    };
    const account = {
      "@type": "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
      base_vesting_account,
      start_time: "1",
    };
    const coins = [{ denom: "uhuge", amount: `${most}` }];
    const chain = testChain({
      genesis: { auth: { accounts: [account] }, bank: { balances: [{ address: vera.address, coins }] } },
    });
    const { balance } = chain.query(Bank.method.spendableBalanceByDenom, { address: vera.address, denom: "uhuge" });
    const free = BigInt(balance?.amount ?? "0");
    expect(free).toBeGreaterThan(most / 2n);
    const all = { fromAddress: vera.address, toAddress: bob.address, amount: [{ denom: "uhuge", amount: `${most}` }] };
    expect(chain.send(create(MsgSendSchema, all), { from: vera })).toMatchObject({ codespace: "sdk", code: 5 });
    chain.mustSend(create(MsgSendSchema, { ...all, amount: [{ denom: "uhuge", amount: `${free}` }] }), { from: vera });
  });
});
