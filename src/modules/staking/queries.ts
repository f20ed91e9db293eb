import type { MessageInitShape } from "@bufbuild/protobuf";
import { type BoundService, bindService, type Context, readState } from "../../runtime/index.ts";
import type { Page } from "../../store/index.ts";
import { type Dec, decTruncate, sdkErrors } from "../../util/index.ts";
import { Query, type QueryRedelegationsRequest } from "../../wire/gen/sdk/staking/v1beta1/query_pb.js";
import {
  BondStatus,
  type DelegationResponseSchema,
  type HistoricalInfo,
  type Redelegation,
  type RedelegationResponseSchema,
  type Validator,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { decodeAddress, publicKeyFromAny, publicKeyToAny } from "../../wire/index.ts";
import { BONDED_POOL, NOT_BONDED_POOL, pairText, type StakingKeeper, store } from "./keeper.ts";
import type { DelegationKey, RedelegationKey } from "./records.ts";
import { tokensForShares } from "./validator.ts";

export function stakingQueries(keeper: StakingKeeper): BoundService {
  const { records } = keeper;
  return bindService(Query, {
    validators: (ctx, { status, pagination: page }) => {
      const wanted = readStatus(status);
      const filter = (validator: Validator): boolean => wanted === undefined || validator.status === wanted;
      const options = wanted === undefined ? {} : { filter };
      const { items, pagination } = records.validators.paginate(store(ctx), page, options);
      return { validators: items.map(([, validator]) => shown(ctx, validator)), pagination };
    },
    validator: (ctx, { validatorAddr }) => ({ validator: shown(ctx, requireValidator(keeper, ctx, validatorAddr)) }),
    delegation: (ctx, request) => ({ delegationResponse: oneDelegation(keeper, ctx, request) }),
    delegatorDelegations: (ctx, { delegatorAddr, pagination: page }) => {
      const options = { prefix: [decodeAddress(delegatorAddr)] } as const;
      const { items, pagination } = records.delegations.paginate(store(ctx), page, options);
      return { delegationResponses: items.map(([key, shares]) => delegation(keeper, ctx, key, shares)), pagination };
    },
    validatorDelegations: (ctx, { validatorAddr, pagination: page }) => {
      const options = { prefix: [decodeAddress(validatorAddr, "valoper")] } as const;
      const { items, pagination } = records.delegations.by.validator.paginate(store(ctx), page, options);
      return { delegationResponses: items.map(([key, shares]) => delegation(keeper, ctx, key, shares)), pagination };
    },
    unbondingDelegation: (ctx, { delegatorAddr, validatorAddr }) => {
      const key = [decodeAddress(delegatorAddr), decodeAddress(validatorAddr, "valoper")] as const;
      const unbond = records.unbondings.get(store(ctx), key);
      if (unbond !== undefined) return { unbond };
      throw sdkErrors.keyNotFound(
        `unbonding delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`,
      );
    },
    delegatorUnbondingDelegations: (ctx, { delegatorAddr, pagination: page }) => {
      const options = { prefix: [decodeAddress(delegatorAddr)] } as const;
      const { items, pagination } = records.unbondings.paginate(store(ctx), page, options);
      return { unbondingResponses: items.map(([, unbonding]) => unbonding), pagination };
    },
    validatorUnbondingDelegations: (ctx, { validatorAddr, pagination: page }) => {
      const options = { prefix: [decodeAddress(validatorAddr, "valoper")] } as const;
      const { items, pagination } = records.unbondings.by.validator.paginate(store(ctx), page, options);
      return { unbondingResponses: items.map(([, unbonding]) => unbonding), pagination };
    },
    redelegations: (ctx, request) => {
      const { items, pagination } = redelegationPage(keeper, ctx, request);
      return { redelegationResponses: items.map(([, found]) => redelegation(keeper, ctx, found)), pagination };
    },
    delegatorValidators: (ctx, { delegatorAddr, pagination: page }) => {
      const options = { prefix: [decodeAddress(delegatorAddr)] } as const;
      const { items, pagination } = records.delegations.paginate(store(ctx), page, options);
      return { validators: items.map(([[, operator]]) => shown(ctx, keeper.validator(ctx, operator))), pagination };
    },
    delegatorValidator: (ctx, request) => {
      oneDelegation(keeper, ctx, request);
      return { validator: shown(ctx, requireValidator(keeper, ctx, request.validatorAddr)) };
    },
    historicalInfo: (ctx, { height }) => ({ hist: history(keeper, ctx, height) }),
    pool: (ctx) => {
      const denom = keeper.bondDenom(ctx);
      const held = (pool: string): string => `${keeper.bank.moduleBalance(ctx, pool, denom)}`;
      return { pool: { notBondedTokens: held(NOT_BONDED_POOL), bondedTokens: held(BONDED_POOL) } };
    },
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
  });
}

function readStatus(status: string): BondStatus | undefined {
  return readState(status.replace(/^BOND_STATUS_/, ""), BondStatus);
}

function requireValidator(keeper: StakingKeeper, ctx: Context, text: string): Validator {
  const found = keeper.findValidator(ctx, decodeAddress(text, "valoper"));
  if (found === undefined) throw sdkErrors.keyNotFound(`validator ${text} not found`);
  return found;
}

/** A validator with its key in the spelling that was asked. */
function shown(ctx: Context, validator: Validator): Validator {
  const { consensusPubkey: key } = validator;
  if (key === undefined || ctx.namespace === "sdk") return validator;
  return { ...validator, consensusPubkey: publicKeyToAny(publicKeyFromAny(key), ctx.namespace) };
}

function oneDelegation(
  keeper: StakingKeeper,
  ctx: Context,
  { delegatorAddr, validatorAddr }: { readonly delegatorAddr: string; readonly validatorAddr: string },
): MessageInitShape<typeof DelegationResponseSchema> {
  const key = [decodeAddress(delegatorAddr), decodeAddress(validatorAddr, "valoper")] as const;
  const shares = keeper.shares(ctx, ...key);
  if (shares !== undefined) return delegation(keeper, ctx, key, shares);
  throw sdkErrors.keyNotFound(`delegation with delegator ${delegatorAddr} not found for validator ${validatorAddr}`);
}

function delegation(
  keeper: StakingKeeper,
  ctx: Context,
  key: DelegationKey,
  shares: Dec,
): MessageInitShape<typeof DelegationResponseSchema> {
  const { delegator, validator } = pairText(...key);
  const tokens = decTruncate(tokensForShares(keeper.validator(ctx, key[1]), shares));
  return {
    delegation: { delegatorAddress: delegator, validatorAddress: validator, shares: `${shares}` },
    balance: { denom: keeper.bondDenom(ctx), amount: `${tokens}` },
  };
}

/** By delegator and both validators, by the validator that the money left, or by the delegator. */
function redelegationPage(
  keeper: StakingKeeper,
  ctx: Context,
  request: QueryRedelegationsRequest,
): Page<[RedelegationKey, Redelegation]> {
  const { delegatorAddr, srcValidatorAddr, dstValidatorAddr, pagination: page } = request;
  const { redelegations } = keeper.records;
  const [source, destination] = [srcValidatorAddr, dstValidatorAddr].map((text) =>
    text === "" ? undefined : decodeAddress(text, "valoper"),
  );
  if (delegatorAddr === "" && source !== undefined)
    return redelegations.by.source.paginate(store(ctx), page, { prefix: [source] });
  const delegator = decodeAddress(delegatorAddr);
  if (source === undefined) return redelegations.paginate(store(ctx), page, { prefix: [delegator] });
  if (destination === undefined) return redelegations.paginate(store(ctx), page, { prefix: [delegator, source] });
  const key: RedelegationKey = [delegator, source, destination];
  const found = redelegations.get(store(ctx), key);
  if (found === undefined)
    throw sdkErrors.keyNotFound(
      `redelegation not found for delegator address ${delegatorAddr} from validator address ${srcValidatorAddr}`,
    );
  return { items: [[key, found]], pagination: { nextKey: new Uint8Array(0), total: 0n } };
}

function redelegation(
  keeper: StakingKeeper,
  ctx: Context,
  found: Redelegation,
): MessageInitShape<typeof RedelegationResponseSchema> {
  const validator = keeper.findValidator(ctx, decodeAddress(found.validatorDstAddress, "valoper"));
  const worth = (shares: string): bigint =>
    validator === undefined ? 0n : decTruncate(tokensForShares(validator, BigInt(shares)));
  return {
    redelegation: { ...found, entries: [] },
    entries: found.entries.map((entry) => ({ redelegationEntry: entry, balance: `${worth(entry.sharesDst)}` })),
  };
}

function history(keeper: StakingKeeper, ctx: Context, height: bigint): HistoricalInfo {
  if (height < 0n) throw sdkErrors.invalidRequest("height cannot be negative");
  const found = keeper.records.history.get(store(ctx), height);
  if (found === undefined) throw sdkErrors.keyNotFound(`historical info for height ${height} not found`);
  return { ...found, valset: found.valset.map((validator) => shown(ctx, validator)) };
}
