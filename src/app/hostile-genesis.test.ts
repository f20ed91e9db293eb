import { create } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, it } from "vitest";
import { consensusKey, createValidatorMessage, operatorAddress } from "../../test/support/chain/index.ts";
import { memoryDatabase } from "../store/index.ts";
import { type TestChain, testChain, testKey } from "../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../util/index.ts";
import { CoinSchema } from "../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  MsgBeginRedelegateSchema,
  MsgDelegateSchema,
  MsgUndelegateSchema,
} from "../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import { encodeAddress } from "../wire/index.ts";
import { createApp } from "./app.ts";

// biome-ignore lint/suspicious/noExplicitAny: the rows edit JSON where they like.
type Json = any;

const M = 1_000_000n;
const coin = (amount: bigint) => create(CoinSchema, { denom: NATIVE_DENOM, amount: `${amount}` });
const operator = (name: string) => operatorAddress(testKey(name));

/** A chain with two voters, one in jail, a delegation, an unbonding and a redelegation. */
function lively(): TestChain {
  const params = { signed_blocks_window: "10", min_signed_per_window: "0.5", downtime_jail_duration: "60s" };
  const fractions = { slash_fraction_double_sign: "0.05", slash_fraction_downtime: "0.01" };
  const chain = testChain({ genesis: { slashing: { params: { ...params, ...fractions } } } });
  for (const [name, amount] of [
    ["alice", 10n * M],
    ["bob", 20n * M],
    ["carol", 30n * M],
  ] as const)
    chain.mustSend(createValidatorMessage(chain.key(name), { amount }), { from: chain.key(name) });
  const [alice, bob, carol] = [operator("alice"), operator("bob"), operator("carol")];
  const dave = chain.key("dave");
  const from = { delegatorAddress: dave.address };
  for (const validatorAddress of [alice, bob, carol])
    chain.mustSend(create(MsgDelegateSchema, { ...from, validatorAddress, amount: coin(5n * M) }), { from: dave });
  chain.voters.absent.add(toHex(consensusKey("carol")));
  chain.nextBlock(12);
  const part = { ...from, amount: coin(M) };
  chain.mustSend(create(MsgUndelegateSchema, { ...part, validatorAddress: bob }), { from: dave });
  chain.mustSend(create(MsgBeginRedelegateSchema, { ...part, validatorSrcAddress: bob, validatorDstAddress: alice }), {
    from: dave,
  });
  return chain;
}

let chain: TestChain;
let text = "";
beforeAll(() => {
  chain = lively();
  text = JSON.stringify(chain.app.restartAt(chain.height, {})?.appState);
});

/** The sentence with which a chain refuses to begin with an edited state. */
function refusal(edit: (state: Json) => void): string {
  const appState = JSON.parse(text);
  edit(appState);
  try {
    const { consensusParams } = chain.app;
    if (consensusParams === undefined) throw new Error("the chain has begun");
    const place = { chainId: "again-1", time: chain.time, initialHeight: 1n, validators: [], consensusParams };
    createApp({ database: memoryDatabase() }).initChain({ ...place, appState });
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const isJailed = ({ jailed }: Json): boolean => jailed;
const jailedOf = ({ staking }: Json): Json => staking.validators.find(isJailed);
const voterOf = ({ staking }: Json): Json => staking.validators.find((each: Json) => !isJailed(each));
const ofVoter = (state: Json, list: readonly Json[]): Json =>
  list.find((each) => each.validator_address === voterOf(state).operator_address);

const ROWS: readonly (readonly [name: string, edit: (state: Json) => void, sentence: RegExp])[] = [
  // Shares and tokens.
  [
    "negative shares",
    ({ staking: s }) => (s.delegations[0].shares = "-1.000000000000000000"),
    /shares must be positive/,
  ],
  ["no shares", ({ staking: s }) => (s.delegations[0].shares = "0.000000000000000000"), /shares must be positive/],
  ["more shares", ({ staking: s }) => (s.delegations[0].shares = "99999999.0"), /not the sum of the delegations/],
  ["negative tokens", ({ staking: s }) => (s.validators[0].tokens = "-5"), /tokens must not be negative/],
  ["more tokens than the pool", ({ staking: s }) => (s.validators[0].tokens = "999999999999"), /their pool holds/],
  [
    "a voter without delegations",
    (s) => {
      const { operator_address: name } = voterOf(s);
      s.staking.delegations = s.staking.delegations.filter((each: Json) => each.validator_address !== name);
    },
    /delegator_shares is not the sum/,
  ],
  [
    "a slashed validator without delegations",
    (s) => {
      const validator = jailedOf(s);
      const isOther = (each: Json) => each.validator_address !== validator.operator_address;
      s.staking.delegations = s.staking.delegations.filter(isOther);
      validator.delegator_shares = "0.000000000000000000";
    },
    /there is no delegation of/,
  ],
  [
    "a delegation to nobody",
    ({ staking: s }) => (s.delegations[0].validator_address = NOBODY),
    /there is no validator/,
  ],
  ["a delegation twice", ({ staking: s }) => s.delegations.push(s.delegations[0]), /appears twice/],
  ["a validator twice", ({ staking: s }) => s.validators.push(s.validators[0]), /appears twice/],
  ["no validator", ({ staking: s }) => (s.validators = []), /there is no validator/],
  ["a voter in jail", (s) => (voterOf(s).jailed = true), /a jailed validator is not bonded/],
  ["a bad status", ({ staking: s }) => (s.validators[0].status = "BOND_STATUS_UNSPECIFIED"), /status is missing/],
  // Voters.
  ["a wrong total power", ({ staking: s }) => (s.last_total_power = "1"), /last_total_power: must be \d+/],
  ["a negative power", ({ staking: s }) => (s.last_validator_powers[0].power = "-1"), /power must be positive/],
  ["a voter less", ({ staking: s }) => s.last_validator_powers.pop(), /last_total_power/],
  // Unbondings.
  [
    "a negative unbonding",
    ({ staking: s }) => (s.unbonding_delegations[0].entries[0].balance = "-1"),
    /balance must be/,
  ],
  [
    "a larger unbonding",
    ({ staking: s }) => (s.unbonding_delegations[0].entries[0].balance = "9000000"),
    /balance must be/,
  ],
  [
    "a smaller unbonding",
    ({ staking: s }) => (s.unbonding_delegations[0].entries[0].balance = "9"),
    /not bonded, their pool holds/,
  ],
  [
    "an unbonding without end",
    ({ staking: s }) => delete s.unbonding_delegations[0].entries[0].completion_time,
    /completion_time is missing/,
  ],
  [
    "an unbonding without entries",
    ({ staking: s }) => (s.unbonding_delegations[0].entries = []),
    /entries are missing/,
  ],
  ["a redelegation without entries", ({ staking: s }) => (s.redelegations[0].entries = []), /entries are missing/],
  [
    "a redelegation before the beginning",
    ({ staking: s }) => (s.redelegations[0].entries[0].creation_height = "-1"),
    /creation_height must not be negative/,
  ],
  ["an id that comes again", ({ staking: s }) => (s.last_unbonding_id = "0"), /last_unbonding_id: must be at least/],
  // Signing infos.
  [
    "no signing infos",
    ({ slashing: s }) => (s.signing_infos = []),
    /signing_infos: the bonded validator svcvaloper1\w+ is missing/,
  ],
  ["a signing info twice", ({ slashing: s }) => s.signing_infos.push(s.signing_infos[0]), /appears twice/],
  [
    "all tombstoned",
    ({ slashing: s }) => {
      for (const each of s.signing_infos) each.validator_signing_info.tombstoned = true;
    },
    /is tombstoned/,
  ],
  [
    "a later start",
    ({ slashing: s }) => {
      for (const each of s.signing_infos) each.validator_signing_info.start_height = "99";
    },
    /start_height 99 is in the future/,
  ],
  [
    "a signing info of another",
    ({ slashing: s }) => (s.signing_infos[0].validator_signing_info.address = s.signing_infos[1].address),
    /validator_signing_info.address must be/,
  ],
  [
    "a negative offset",
    ({ slashing: s }) => (s.signing_infos[0].validator_signing_info.index_offset = "-1"),
    /index_offset must be/,
  ],
  [
    "a missed block outside the window",
    ({ slashing: s }) => (s.missed_blocks[0].missed_blocks = [{ index: "10", missed: true }]),
    /outside the window/,
  ],
  // Rewards.
  [
    "no outstanding rewards",
    ({ distribution: d }) => (d.outstanding_rewards = []),
    /outstanding_rewards: the validator svcvaloper1\w+ is missing/,
  ],
  [
    "no commissions",
    ({ distribution: d }) => (d.validator_accumulated_commissions = []),
    /validator_accumulated_commissions: .* is missing/,
  ],
  [
    "no current rewards",
    ({ distribution: d }) => (d.validator_current_rewards = []),
    /validator_current_rewards: .* is missing/,
  ],
  ["no periods", ({ distribution: d }) => (d.validator_historical_rewards = []), /count from period/],
  [
    "no starting infos",
    ({ distribution: d }) => (d.delegator_starting_infos = []),
    /delegator_starting_infos: .* is missing/,
  ],
  [
    "a starting info of a stranger",
    ({ distribution: d }) => (d.delegator_starting_infos[0].delegator_address = STRANGER),
    /delegator_starting_infos: .* is missing/,
  ],
  [
    "a starting info with more stake",
    (s) => (ofVoter(s, s.distribution.delegator_starting_infos).starting_info.stake = "99999999999.000000000000000000"),
    /stake is more than/,
  ],
  [
    "a starting info with negative stake",
    (s) => (ofVoter(s, s.distribution.delegator_starting_infos).starting_info.stake = "-1.000000000000000000"),
    /stake must not be negative/,
  ],
  [
    "a starting info of later",
    (s) => (ofVoter(s, s.distribution.delegator_starting_infos).starting_info.height = "7"),
    /height 7 is in the future/,
  ],
  [
    "a starting info of a later period",
    (s) => (ofVoter(s, s.distribution.delegator_starting_infos).starting_info.previous_period = "9"),
    /count from period/,
  ],
  [
    "a wrong count",
    ({ distribution: d }) => (d.validator_historical_rewards[0].rewards.reference_count = 7),
    /which says 7/,
  ],
  [
    "rewards that nobody holds",
    ({ distribution: d }) =>
      (d.outstanding_rewards[0].outstanding_rewards = [{ denom: NATIVE_DENOM, amount: "5.000000000000000000" }]),
    /distribution\/account: the account owes 5utoken and holds nothing/,
  ],
  [
    "a pool that nobody holds",
    ({ distribution: d }) =>
      (d.fee_pool.community_pool = [{ denom: NATIVE_DENOM, amount: "999999999.000000000000000000" }]),
    /the account owes 999999999utoken/,
  ],
  [
    "a negative pool",
    ({ distribution: d }) => (d.fee_pool.community_pool = [{ denom: NATIVE_DENOM, amount: "-1.000000000000000000" }]),
    /distribution/,
  ],
  // Totals of coins.
  ["a wrong supply", ({ bank: b }) => (b.supply[0].amount = "1"), /supply/],
  ["a negative balance", ({ bank: b }) => (b.balances[0].coins[0].amount = "-1"), /bank/],
  ["a pool of validators without coins", ({ bank: b }) => b.balances.splice(0), /supply|pool/],
];

const NOBODY = encodeAddress(new Uint8Array(20).fill(9), "valoper");
const STRANGER = encodeAddress(new Uint8Array(20).fill(9));

describe("an edited state of another chain", () => {
  it("is taken as it was exported", () => expect(refusal(() => {})).toBe(""));

  it.each(ROWS)("with %s is refused", (_, edit, sentence) => {
    const told = refusal(edit);
    expect(told).toMatch(sentence);
    expect(told).not.toContain("\n");
    // Users never read about faults in the program.
    expect(told).not.toMatch(/undefined|TypeError|assert/i);
  });
});
