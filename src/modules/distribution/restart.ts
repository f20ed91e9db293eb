import { create } from "@bufbuild/protobuf";
import type { Context, RestartPart } from "../../runtime/index.ts";
import { type GenesisState, GenesisStateSchema } from "../../wire/gen/sdk/distribution/v1beta1/distribution_pb.js";
import { type DistributionKeeper, store } from "./keeper.ts";
import { beginAgain, withdrawRewards } from "./rewards.ts";

/** All rewards and commissions are paid; the periods of every validator begin again. */
export function distributionRestart(keeper: DistributionKeeper): RestartPart<GenesisState> {
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
