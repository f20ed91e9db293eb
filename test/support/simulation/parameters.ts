import { create } from "@bufbuild/protobuf";
import { standardModules } from "../../../src/app/index.ts";
import { moduleAddress } from "../../../src/crypto/index.ts";
import { NATIVE_DENOM } from "../../../src/util/index.ts";
import {
  type Any,
  encodeAddress,
  fromJson,
  isObject,
  type JsonObject,
  type JsonValue,
  packAny,
  toJson,
} from "../../../src/wire/index.ts";
import type { SimRandom } from "./operation.ts";

type Choices = Readonly<Record<string, readonly [JsonValue, ...JsonValue[]]>>;

const coins = (amount: string) => [{ denom: NATIVE_DENOM, amount }];

/**
 * By module and parameter: initial values of random chains, and values of random proposals. Periods are short, limits
 * near.
 */
const CHOICES: Readonly<Record<string, Choices>> = {
  audit: { attributes_max: [128, 2] },
  auth: { max_memo_characters: ["256", "0"], tx_size_cost_per_byte: ["10", "1"] },
  bank: { send_enabled: [[], [{ denom: "uother", enabled: false }], [{ denom: NATIVE_DENOM, enabled: true }]] },
  cert: {},
  deployment: {
    min_deposits: [coins("1"), coins("40")],
    min_start_blocks: ["1", "2", "5"],
    retention_blocks: ["5", "15", "60"],
    max_prune_records: [3, 12, 60],
  },
  distribution: { community_tax: ["0.02", "0", "1"], withdraw_addr_enabled: [true, true, true, false] },
  escrow: { max_endblock_records: [2, 5, 100], low_balance_blocks: ["3", "6"] },
  gov: {
    min_deposit: [coins("10000000")],
    expedited_min_deposit: [coins("50000000")],
    max_deposit_period: ["30s", "90s"],
    voting_period: ["30s", "60s"],
    expedited_voting_period: ["12s"],
    quorum: ["0.05", "0.334", "0.000000000000000001"],
    min_initial_deposit_ratio: ["0.005", "0"],
    min_deposit_ratio: ["0.01", "0.5"],
    proposal_cancel_ratio: ["0.333", "1", "0"],
    burn_vote_veto: [true, false],
    burn_vote_quorum: [true, false],
    burn_proposal_deposit_prevote: [true, false],
  },
  market: { order_max_bids: [1, 3, 20], order_max_open_blocks: ["5", "12", "100"] },
  mint: {
    inflation_max: ["0.2", "1"],
    goal_bonded: ["0.67", "0.000000000000000001", "1"],
    blocks_per_year: ["6311520", "1000"],
  },
  provider: { attributes_max: [64, 1] },
  slashing: {
    signed_blocks_window: ["5", "10", "40"],
    min_signed_per_window: ["0.5", "0.05", "0.999"],
    downtime_jail_duration: ["1s", "30s"],
    slash_fraction_double_sign: ["0.333333333333333333", "1", "0.05"],
    slash_fraction_downtime: ["0.0123456789", "0", "0.5"],
  },
  staking: {
    unbonding_time: ["30s", "60s", "600s"],
    max_validators: [2, 3, 5],
    max_entries: [1, 2, 7],
    // An export leaves history out, like the reference's: stored history would not return.
    historical_entries: [0],
    min_commission_rate: ["0", "0.05"],
  },
};

/** Modules whose genesis states test chains fill with accounts. */
const WITH_ACCOUNTS = ["auth", "bank"];

/** Genesis states of the modules whose parameters are chosen. */
export function chosenGenesis(random: SimRandom): Record<string, JsonObject> {
  const others = Object.entries(CHOICES).filter(([name]) => !WITH_ACCOUNTS.includes(name));
  const chosen = others.map(([name, choices]): [string, JsonObject] => {
    const state = defaults(name);
    return [name, { ...state, params: { ...state.params, ...choose(choices, random) } }];
  });
  return Object.fromEntries(chosen);
}

/** A message of governance that changes parameters of one module. */
export function chosenUpdate(random: SimRandom): Any {
  const [name, choices] = random.pick(Object.entries(CHOICES)) ?? ["", {}];
  const update = moduleOf(name)?.msg?.methods.get("UpdateParams");
  if (update === undefined) throw new Error(`${name} has no MsgUpdateParams`);
  const params = { ...defaults(name).params, ...choose(choices, random) };
  const message = fromJson(update.input, { authority: encodeAddress(moduleAddress("gov")), params });
  return packAny(update.input, create(update.input, message));
}

function choose(choices: Choices, random: SimRandom): JsonObject {
  return Object.fromEntries(Object.entries(choices).map(([name, values]) => [name, random.pick(values)]));
}

const { modules } = standardModules();

function moduleOf(name: string) {
  return modules.find((each) => each.name === name);
}

/** The genesis state with which a module begins by itself. */
function defaults(name: string): { readonly params: JsonObject } {
  const module = moduleOf(name);
  const state = module === undefined ? {} : toJson(module.genesis.schema, module.genesis.defaults());
  if (!isObject(state) || !isObject(state.params)) throw new Error(`${name} has no parameters`);
  return { ...state, params: state.params };
}
