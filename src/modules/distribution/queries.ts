import { type BoundService, bindService, type Context, StatusError } from "../../runtime/index.ts";
import { type SvcError, sdkErrors } from "../../util/index.ts";
import { Query, type QueryValidatorSlashesRequest } from "../../wire/gen/sdk/distribution/v1beta1/query_pb.js";
import { accountOfValidator, decodeAddress, encodeAddress, distributionErrors as errors } from "../../wire/index.ts";
import { type DecCoins, decCoinMessages, plus } from "./deccoins.ts";
import { type DistributionKeeper, store } from "./keeper.ts";
import { pendingRewards } from "./rewards.ts";

export function distributionQueries(keeper: DistributionKeeper): BoundService {
  return bindService(Query, {
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
    validatorDistributionInfo: (ctx, { validatorAddress }) => {
      const operator = known(keeper, ctx, validatorAddress);
      return {
        operatorAddress: accountOfValidator(validatorAddress),
        selfBondRewards: decCoinMessages(rewardsOf(keeper, ctx, operator, operator)),
        commission: decCoinMessages(keeper.commission(ctx, operator)),
      };
    },
    validatorOutstandingRewards: (ctx, { validatorAddress }) => {
      const operator = known(keeper, ctx, validatorAddress);
      return { rewards: { rewards: decCoinMessages(keeper.outstanding(ctx, operator)) } };
    },
    validatorCommission: (ctx, { validatorAddress }) => {
      const operator = known(keeper, ctx, validatorAddress);
      return { commission: { commission: decCoinMessages(keeper.commission(ctx, operator)) } };
    },
    validatorSlashes: (ctx, request) => slashes(keeper, ctx, request),
    delegationRewards: (ctx, { delegatorAddress, validatorAddress }) => {
      const operator = known(keeper, ctx, validatorAddress);
      const rewards = rewardsOf(keeper, ctx, decodeAddress(delegatorAddress), operator);
      return { rewards: decCoinMessages(rewards) };
    },
    delegationTotalRewards: (ctx, { delegatorAddress }) => totalRewards(keeper, ctx, decodeAddress(delegatorAddress)),
    delegatorValidators: (ctx, { delegatorAddress }) => ({
      validators: keeper.stake
        .validatorsOf(ctx, decodeAddress(delegatorAddress))
        .map((operator) => encodeAddress(operator, "valoper")),
    }),
    delegatorWithdrawAddress: (ctx, { delegatorAddress }) => ({
      withdrawAddress: encodeAddress(keeper.withdrawAddress(ctx, decodeAddress(delegatorAddress))),
    }),
    communityPool: (ctx) => ({ pool: decCoinMessages(keeper.communityPool(ctx)) }),
  });
}

function known(keeper: DistributionKeeper, ctx: Context, text: string): Uint8Array {
  const operator = decodeAddress(text, "valoper");
  if (keeper.stake.findValidator(ctx, operator) === undefined) throw missing(errors.validatorNotFound(text));
  return operator;
}

function rewardsOf(keeper: DistributionKeeper, ctx: Context, delegator: Uint8Array, operator: Uint8Array): DecCoins {
  if (keeper.stake.shares(ctx, delegator, operator) === undefined) throw missing(errors.delegationNotFound());
  return pendingRewards(keeper, ctx, { delegator, operator });
}

function missing(error: SvcError): StatusError {
  return new StatusError("NotFound", error);
}

function totalRewards(keeper: DistributionKeeper, ctx: Context, delegator: Uint8Array) {
  const rows = keeper.stake
    .validatorsOf(ctx, delegator)
    .map((operator) => ({ operator, reward: pendingRewards(keeper, ctx, { delegator, operator }) }));
  return {
    rewards: rows.map(({ operator, reward }) => ({
      validatorAddress: encodeAddress(operator, "valoper"),
      reward: decCoinMessages(reward),
    })),
    total: decCoinMessages(rows.reduce<DecCoins>((sum, { reward }) => plus(sum, reward), [])),
  };
}

/** The bounds are heights. */
function slashes(keeper: DistributionKeeper, ctx: Context, request: QueryValidatorSlashesRequest) {
  const { validatorAddress, startingHeight, endingHeight, pagination: page } = request;
  if (endingHeight < startingHeight)
    throw sdkErrors.invalidRequest(`starting height greater than ending height (${startingHeight} > ${endingHeight})`);
  const { items, pagination } = keeper.records.slashes.paginate(store(ctx), page, {
    prefix: [decodeAddress(validatorAddress, "valoper")],
    filter: (_, [, height]) => height >= startingHeight && height <= endingHeight,
  });
  return { slashes: items.map(([, slash]) => slash), pagination };
}
