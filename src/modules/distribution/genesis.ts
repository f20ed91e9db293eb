import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, entryProblems, type GenesisPart, type RestartPart } from "../../runtime/index.ts";
import { DEC_ONE, parseDec, toHex } from "../../util/index.ts";
import {
  DelegatorStartingInfoSchema,
  FeePoolSchema,
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
  ValidatorAccumulatedCommissionSchema,
  ValidatorCurrentRewardsSchema,
  ValidatorHistoricalRewardsSchema,
  ValidatorOutstandingRewardsSchema,
  ValidatorSlashEventSchema,
} from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";
import { genesisProblem } from "./genesis-check.ts";
import { type DistributionKeeper, store } from "./keeper.ts";
import { beginAgain, withdrawRewards } from "./rewards.ts";

const COMMUNITY_TAX = `${parseDec("0.02")}`;

export function defaultParams(): Params {
  return create(ParamsSchema, {
    communityTax: COMMUNITY_TAX,
    baseProposerReward: "0",
    bonusProposerReward: "0",
    withdrawAddrEnabled: true,
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems({ communityTax, baseProposerReward, bonusProposerReward }: Params): string[] {
  const [tax, base, bonus] = [communityTax, baseProposerReward, bonusProposerReward].map(BigInt);
  const found: string[] = [];
  if (tax === undefined || tax < 0n || tax > DEC_ONE) found.push("params.community_tax: must be 0 to 1");
  if (base !== 0n || bonus !== 0n)
    found.push("params.base_proposer_reward, params.bonus_proposer_reward: proposers get nothing extra, write 0");
  return found;
}

export function distributionGenesis(keeper: DistributionKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams(), feePool: {} }),
    validate: problems,
    init: (ctx, state) => importState(keeper, ctx, state),
    check: (ctx) => genesisProblem(keeper, ctx),
    export: (ctx) => exportState(keeper, ctx),
    restart: distributionRestart(keeper),
  });
}

function importState(keeper: DistributionKeeper, ctx: Context, state: GenesisState): void {
  const { records } = keeper;
  const to = store(ctx);
  records.params.set(to, state.params ?? defaultParams());
  records.feePool.set(to, state.feePool ?? create(FeePoolSchema));
  if (state.previousProposer !== "") records.proposer.set(to, decodeAddress(state.previousProposer, "valcons"));
  for (const { delegatorAddress, withdrawAddress } of state.delegatorWithdrawInfos)
    records.withdrawAddresses.set(to, decodeAddress(delegatorAddress), decodeAddress(withdrawAddress));
  for (const { validatorAddress, outstandingRewards: rewards } of state.outstandingRewards)
    records.outstanding.set(to, valoper(validatorAddress), create(ValidatorOutstandingRewardsSchema, { rewards }));
  for (const { validatorAddress, accumulated } of state.validatorAccumulatedCommissions)
    records.commissions.set(to, valoper(validatorAddress), accumulated ?? create(ValidatorAccumulatedCommissionSchema));
  for (const { validatorAddress, period, rewards } of state.validatorHistoricalRewards)
    records.historical.set(
      to,
      [valoper(validatorAddress), period],
      rewards ?? create(ValidatorHistoricalRewardsSchema),
    );
  for (const { validatorAddress, rewards } of state.validatorCurrentRewards)
    records.current.set(to, valoper(validatorAddress), rewards ?? create(ValidatorCurrentRewardsSchema));
  for (const { delegatorAddress, validatorAddress, startingInfo } of state.delegatorStartingInfos) {
    const key = [valoper(validatorAddress), decodeAddress(delegatorAddress)] as const;
    records.starts.set(to, key, startingInfo ?? create(DelegatorStartingInfoSchema));
  }
  for (const { validatorAddress, height, period, validatorSlashEvent } of state.validatorSlashEvents) {
    const key = [valoper(validatorAddress), height, period] as const;
    records.slashes.set(to, key, validatorSlashEvent ?? create(ValidatorSlashEventSchema));
  }
}

function exportState(keeper: DistributionKeeper, ctx: Context): GenesisState {
  const { records } = keeper;
  const from = store(ctx);
  const name = (operator: Uint8Array) => ({ validatorAddress: encodeAddress(operator, "valoper") });
  const proposer = records.proposer.get(from);
  return create(GenesisStateSchema, {
    params: keeper.getParams(ctx),
    feePool: records.feePool.get(from) ?? {},
    delegatorWithdrawInfos: [...records.withdrawAddresses.iterate(from)].map(([delegator, to]) => ({
      delegatorAddress: encodeAddress(delegator),
      withdrawAddress: encodeAddress(to),
    })),
    previousProposer: proposer === undefined ? "" : encodeAddress(proposer, "valcons"),
    outstandingRewards: [...records.outstanding.iterate(from)].map(([operator, { rewards }]) => ({
      ...name(operator),
      outstandingRewards: rewards,
    })),
    validatorAccumulatedCommissions: [...records.commissions.iterate(from)].map(([operator, accumulated]) => ({
      ...name(operator),
      accumulated,
    })),
    validatorHistoricalRewards: [...records.historical.iterate(from)].map(([[operator, period], rewards]) => ({
      ...name(operator),
      period,
      rewards,
    })),
    validatorCurrentRewards: [...records.current.iterate(from)].map(([operator, rewards]) => ({
      ...name(operator),
      rewards,
    })),
    delegatorStartingInfos: [...records.starts.iterate(from)].map(([[operator, delegator], startingInfo]) => ({
      delegatorAddress: encodeAddress(delegator),
      ...name(operator),
      startingInfo,
    })),
    validatorSlashEvents: [...records.slashes.iterate(from)].map(([[operator, height, period], event]) => ({
      ...name(operator),
      height,
      period,
      validatorSlashEvent: event,
    })),
  });
}

function valoper(text: string): Uint8Array {
  return decodeAddress(text, "valoper");
}

function problems(state: GenesisState): string[] {
  const once = <T extends { readonly validatorAddress: string }>(field: string, list: readonly T[]): string[] =>
    entryProblems(field, list, ({ validatorAddress }) => toHex(valoper(validatorAddress)));
  return [
    ...(state.params === undefined ? [] : paramsProblems(state.params)),
    ...once("outstanding_rewards", state.outstandingRewards),
    ...once("validator_accumulated_commissions", state.validatorAccumulatedCommissions),
    ...once("validator_current_rewards", state.validatorCurrentRewards),
    ...entryProblems("delegator_withdraw_infos", state.delegatorWithdrawInfos, (each) => {
      decodeAddress(each.withdrawAddress);
      return toHex(decodeAddress(each.delegatorAddress));
    }),
    ...entryProblems("validator_historical_rewards", state.validatorHistoricalRewards, (each) => {
      if ((each.rewards?.referenceCount ?? 0) < 1) throw new Error("reference_count must be positive");
      return `${toHex(valoper(each.validatorAddress))} ${each.period}`;
    }),
    ...entryProblems("delegator_starting_infos", state.delegatorStartingInfos, (each) =>
      [valoper(each.validatorAddress), decodeAddress(each.delegatorAddress)].map(toHex).join(" "),
    ),
    ...entryProblems("validator_slash_events", state.validatorSlashEvents, (each) => {
      const fraction = BigInt(each.validatorSlashEvent?.fraction ?? "-1");
      if (fraction < 0n || fraction > DEC_ONE) throw new Error("fraction must be 0 to 1");
      if (each.validatorSlashEvent?.validatorPeriod !== each.period)
        throw new Error("validator_period must be the period of the entry");
      return [toHex(valoper(each.validatorAddress)), each.height, each.period].join(" ");
    }),
  ];
}

/** All rewards and commissions are paid; the periods of every validator begin again. */
function distributionRestart(keeper: DistributionKeeper): RestartPart<GenesisState> {
  return { prepare: (ctx) => payAll(keeper, ctx), move: moved };
}

function payAll(keeper: DistributionKeeper, ctx: Context): void {
  const { outstanding, starts } = keeper.records;
  const operators = [...outstanding.keys(store(ctx))];
  for (const operator of operators)
    if (keeper.commission(ctx, operator).length > 0) keeper.withdrawCommission(ctx, operator);
  const rewards = [...starts.keys(store(ctx))].map(([operator, delegator]) => ({ operator, delegator }));
  for (const reward of rewards) withdrawRewards(keeper, ctx, reward);
  for (const operator of operators) beginAgain(keeper, ctx, operator);
}

function moved(state: GenesisState): GenesisState {
  const delegatorStartingInfos = state.delegatorStartingInfos.map(({ startingInfo: info, ...rest }) => ({
    ...rest,
    ...(info === undefined ? {} : { startingInfo: { ...info, height: 0n } }),
  }));
  return create(GenesisStateSchema, { ...state, delegatorStartingInfos });
}
