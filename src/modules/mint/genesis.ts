import { create } from "@bufbuild/protobuf";
import { defineGenesis, type GenesisPart } from "../../runtime/index.ts";
import { DEC_ONE, isDenom, NATIVE_DENOM, parseDec } from "../../util/index.ts";
import {
  type GenesisState,
  GenesisStateSchema,
  MinterSchema,
  type Params,
  ParamsSchema,
} from "../../wire/gen/sdk/mint/v1beta1/mint_pb.js";
import { type MintKeeper, store } from "./keeper.ts";

/** For blocks of five seconds. */
const BLOCKS_PER_YEAR = 6_311_520n;
const MOST_BLOCKS = 10n ** 12n;

const dec = (text: string): string => `${parseDec(text)}`;

export function defaultParams(): Params {
  return create(ParamsSchema, {
    mintDenom: NATIVE_DENOM,
    inflationRateChange: dec("0.13"),
    inflationMax: dec("0.20"),
    inflationMin: dec("0.07"),
    goalBonded: dec("0.67"),
    blocksPerYear: BLOCKS_PER_YEAR,
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const rates = {
    inflation_rate_change: BigInt(params.inflationRateChange),
    inflation_max: BigInt(params.inflationMax),
    inflation_min: BigInt(params.inflationMin),
  };
  const goal = BigInt(params.goalBonded);
  const isYear = params.blocksPerYear >= 1n && params.blocksPerYear <= MOST_BLOCKS;
  const found = [
    ...(isDenom(params.mintDenom) ? [] : ["mint_denom: must be a denomination"]),
    ...Object.entries(rates).flatMap(([name, rate]) =>
      rate < 0n || rate > DEC_ONE ? [`${name}: must be 0 to 1`] : [],
    ),
    ...(rates.inflation_max < rates.inflation_min ? ["inflation_max: must be at least inflation_min"] : []),
    ...(goal <= 0n || goal > DEC_ONE ? ["goal_bonded: must be more than 0 and at most 1"] : []),
    ...(isYear ? [] : [`blocks_per_year: must be 1 to ${MOST_BLOCKS}`]),
  ];
  return found.map((problem) => `params.${problem}`);
}

export function mintGenesis(keeper: MintKeeper): GenesisPart {
  const minter = () => create(MinterSchema, { inflation: dec("0.13"), annualProvisions: "0" });
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { minter: minter(), params: defaultParams() }),
    validate: problems,
    init: (ctx, state) => {
      keeper.params.set(store(ctx), state.params ?? defaultParams());
      keeper.minter.set(store(ctx), state.minter ?? minter());
    },
    export: (ctx) => create(GenesisStateSchema, { minter: keeper.getMinter(ctx), params: keeper.getParams(ctx) }),
  });
}

function problems({ minter, params }: GenesisState): string[] {
  const isNegative = minter !== undefined && BigInt(minter.inflation) < 0n;
  return [
    ...(isNegative ? ["minter.inflation: must not be negative"] : []),
    ...(params === undefined ? [] : paramsProblems(params)),
  ];
}
