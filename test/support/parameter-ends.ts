import type { DescMessage } from "@bufbuild/protobuf";
import { standardModules } from "../../src/app/index.ts";
import { type BoundMethod, MAX_GAS_PRICE } from "../../src/runtime/index.ts";
import { MOST_ATTRIBUTES, SIZE_LIMITS } from "../../src/sdl/index.ts";
import { testKey } from "../../src/testing/index.ts";
import { LimitsSchema } from "../../src/wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { fromJson, type JsonObject, type JsonValue, toJson } from "../../src/wire/index.ts";
import { operatorAddress } from "./chain/index.ts";

const { modules } = standardModules();

export interface Ends {
  readonly good: readonly JsonValue[];
  readonly bad: readonly JsonValue[];
}

const TINY = "0.000000000000000001";
const CENTURY = "3153600000s";
const BEYOND_A_CENTURY = "3153600000.000000001s";
const ABOVE_ONE = "1.000000000000000001";

/** By module and parameter: values at an end of the allowed range, and values one beyond. */
export const ENDS: Readonly<Record<string, Readonly<Record<string, Ends>>>> = {
  auth: {
    max_memo_characters: { good: ["0", "65536"], bad: ["65537", "18446744073709551615"] },
    tx_sig_limit: { good: ["1", "100"], bad: ["0", "101"] },
    tx_size_cost_per_byte: { good: ["0", "200"], bad: ["201", "1000000000001"] },
    sig_verify_cost_ed25519: { good: ["0", "11800"], bad: ["11801", "1000000000001"] },
    sig_verify_cost_secp256k1: { good: ["1", "200000"], bad: ["0", "200001", "1000000000001"] },
    store_gas: storeGasEnds(),
  },
  bank: {
    send_enabled: {
      good: [[], [{ denom: "utoken", enabled: false }]],
      bad: [[{ denom: "1" }], [{ denom: "utoken" }, { denom: "utoken" }], denoms(501)],
    },
  },
  staking: {
    unbonding_time: { good: ["0.000000001s", CENTURY], bad: ["0s", "-1s", BEYOND_A_CENTURY, "9223372037s"] },
    max_validators: { good: [1, 10_000], bad: [0, 10_001, 4_294_967_295] },
    max_entries: { good: [1, 1000], bad: [0, 1001] },
    historical_entries: { good: [0, 1_000_000], bad: [1_000_001] },
    bond_denom: { good: ["uother"], bad: ["", "1", "a b"] },
    min_commission_rate: { good: ["0", "1"], bad: ["1.000000000000000001", "-0.000000000000000001"] },
  },
  distribution: {
    community_tax: { good: ["0", "1"], bad: ["1.000000000000000001", "-0.000000000000000001"] },
    base_proposer_reward: { good: ["0"], bad: ["0.000000000000000001"] },
    bonus_proposer_reward: { good: ["0"], bad: ["0.000000000000000001"] },
  },
  slashing: {
    signed_blocks_window: { good: ["1", "1000000"], bad: ["0", "1000001", "-1"] },
    min_signed_per_window: { good: ["0", "1"], bad: ["1.000000000000000001"] },
    downtime_jail_duration: { good: ["0.000000001s", CENTURY], bad: ["0s", BEYOND_A_CENTURY, "253402300800s"] },
    slash_fraction_double_sign: { good: ["0", "1"], bad: ["1.000000000000000001"] },
    slash_fraction_downtime: { good: ["0", "1"], bad: ["1.000000000000000001"] },
  },
  mint: {
    mint_denom: { good: ["uother"], bad: [""] },
    inflation_rate_change: { good: ["0", "1"], bad: ["1.000000000000000001"] },
    inflation_max: { good: ["0.07", "1"], bad: ["0.069999999999999999", "1.000000000000000001"] },
    inflation_min: { good: ["0", "0.2"], bad: ["0.200000000000000001"] },
    goal_bonded: { good: ["0.000000000000000001", "1"], bad: ["0", "1.000000000000000001"] },
    blocks_per_year: { good: ["1", "1000000000000"], bad: ["0", "1000000000001"] },
  },
  gov: {
    min_deposit: { good: [utoken(1)], bad: [[], utoken(0), utoken(50_000_000), coins(21)] },
    expedited_min_deposit: { good: [utoken(10_000_001)], bad: [[], utoken(10_000_000), coins(21)] },
    max_deposit_period: { good: ["0.000000001s", "315360000s"], bad: ["0s", "-1s", "315360000.000000001s"] },
    voting_period: { good: ["86400.000000001s", "315360000s"], bad: ["0s", "86400s", "315360000.000000001s"] },
    expedited_voting_period: { good: ["0.000000001s", "172799.999999999s"], bad: ["0s", "172800s"] },
    quorum: ratioEnds("0"),
    threshold: { good: [TINY, "0.666999999999999999"], bad: ["0", "0.667", ABOVE_ONE] },
    expedited_threshold: { good: ["0.500000000000000001", "1"], bad: ["0", "0.5", ABOVE_ONE] },
    veto_threshold: ratioEnds(TINY),
    min_initial_deposit_ratio: ratioEnds("0"),
    proposal_cancel_ratio: ratioEnds("0"),
    min_deposit_ratio: ratioEnds("0"),
    proposal_cancel_dest: { good: ["", testKey("alice").address], bad: ["x", operatorAddress(testKey("alice"))] },
  },
  escrow: {
    max_endblock_records: { good: [1, 100_000], bad: [0, 100_001] },
    message_gas: { good: [[]], bad: [[{ message: "MsgUpdateParams", gas: "1" }]] },
    low_balance_blocks: { good: ["0", "1099511627776"], bad: ["-1", "1099511627777"] },
  },
  deployment: {
    min_start_blocks: { good: ["1", "1000000000"], bad: ["0", "1000000001"] },
    retention_blocks: { good: ["1", "1000000000"], bad: ["0", "1000000001"] },
    max_prune_records: { good: [1, 100_000], bad: [0, 100_001] },
    min_deposits: { good: [coins(100)], bad: [[], coins(101), [{ denom: "utoken", amount: "0" }]] },
    min_sponsor_deposits: { good: [[], coins(100)], bad: [coins(101), [{ denom: "utoken", amount: "0" }]] },
    limits: limitEnds(),
    message_gas: gasEnds("deployment"),
  },
  market: {
    order_max_bids: { good: [1, 500], bad: [0, 501] },
    order_max_open_blocks: { good: ["1", "1099511627776"], bad: ["0", "1099511627777"] },
    bid_min_deposits: { good: [coins(100)], bad: [[], coins(101), [{ denom: "utoken", amount: "-1" }]] },
    message_gas: gasEnds("market"),
  },
  provider: { ...attributeEnds(), message_gas: gasEnds("provider") },
  audit: { ...attributeEnds(), message_gas: gasEnds("audit") },
  cert: { message_gas: gasEnds("cert") },
};

/** Ends of a ratio that must be at least `least`. */
function ratioEnds(least: "0" | typeof TINY): Ends {
  return { good: [least, "1"], bad: [least === "0" ? `-${TINY}` : "0", ABOVE_ONE] };
}

/** Prices of the store: all at once, and each one beyond separately. */
function storeGasEnds(): Ends {
  const dear = {
    ...{ has: "10000", delete: "10000", read_flat: "10000", read_byte: "120" },
    ...{ write_flat: "20000", write_byte: "300", iterate_flat: "400" },
  };
  const beyond = Object.entries(dear).map(([name, price]) => ({ [name]: `${BigInt(price) + 1n}` }));
  return { good: [{}, dear], bad: [...beyond, { write_byte: "1000000000001" }] };
}

function attributeEnds(): Record<string, Ends> {
  const { entries, keyMax, valueBytes } = MOST_ATTRIBUTES;
  return {
    attributes_max: { good: [1, entries], bad: [0, entries + 1] },
    attribute_key_max: { good: [2, keyMax], bad: [1, keyMax + 1] },
    attribute_value_max: { good: [1, valueBytes], bad: [0, valueBytes + 1] },
  };
}

function defaultsOf(name: string): JsonObject {
  const found = modules.find((module) => module.name === name);
  if (found === undefined) throw new Error(`there is no module ${name}`);
  const state = toJson(found.genesis.schema, found.genesis.defaults(), { exact: true }) as { params: JsonObject };
  return state.params;
}

/** Prices of a module's messages, row by row. */
function gasEnds(name: string): Ends {
  const rows = defaultsOf(name).message_gas as readonly JsonObject[];
  const priced = (gas: string) => rows.map((row, at) => rows.map((each, i) => (i === at ? { ...row, gas } : each)));
  const missing = rows.map((_, at) => rows.filter((_, i) => i !== at));
  const twice = rows.map((row) => [...rows, row]);
  const unpriced = ["MsgUpdateParams", "MsgNothing", ""].map((message) => [...rows, { message, gas: "1" }]);
  return {
    good: [...priced("0"), ...priced(`${MAX_GAS_PRICE}`)],
    bad: [[], ...missing, ...twice, ...unpriced, ...priced(`${MAX_GAS_PRICE + 1n}`)],
  };
}

/** Sizes and counts of groups, each separately. */
function limitEnds(): Ends {
  const limits = defaultsOf("deployment").limits as JsonObject;
  const fields = LimitsSchema.fields.filter(({ localName }) => localName in SIZE_LIMITS);
  const put = (value: (most: number) => number) =>
    fields.map(({ name, localName }) => ({
      ...limits,
      [name]: value(SIZE_LIMITS[localName as keyof typeof SIZE_LIMITS].most),
    }));
  return { good: put((most) => most), bad: [null, ...put((most) => most + 1), ...put(() => 0)] };
}

function utoken(amount: number): JsonValue {
  return [{ denom: "utoken", amount: `${amount}` }];
}

function denoms(count: number): JsonValue {
  return Array.from({ length: count }, (_, i) => ({ denom: `udenom${i}`, enabled: true }));
}

function coins(count: number): JsonValue {
  return Array.from({ length: count }, (_, i) => ({ denom: `udenom${i}`, amount: "1" }));
}

/** The message that changes the parameters of a module. */
export interface Updated {
  readonly update: BoundMethod;
  readonly defaults: JsonObject;
  readonly read: (json: JsonValue) => unknown;
}

export function updated(name: string): Updated {
  const found = modules.find((module) => module.name === name);
  const update = found?.msg?.methods.get("UpdateParams");
  const field = update?.input.fields.find(({ name: each }) => each === "params");
  if (found === undefined || update === undefined || field?.message === undefined)
    throw new Error(`module ${name} has no MsgUpdateParams`);
  const schema: DescMessage = field.message;
  return { update, defaults: defaultsOf(name), read: (json) => fromJson(schema, json) };
}
