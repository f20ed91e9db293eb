import {
  compareBytes,
  type Dec,
  decFromInt,
  decQuo,
  decQuoTruncate,
  decTruncate,
  sdkErrors,
} from "../../util/index.ts";
import { BondStatus, type Validator } from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import { decodeAddress, stakingErrors as errors, publicKeyAddress, publicKeyFromAny } from "../../wire/index.ts";

/** Tokens of one unit of voting power. */
export const POWER_REDUCTION = 1_000_000n;
/** The most voting power that an engine counts. */
const MAX_POWER = 2n ** 60n;

export function tokensOf({ tokens }: Pick<Validator, "tokens">): bigint {
  return BigInt(tokens);
}

/** Total shares of all delegations, as a decimal. */
export function sharesOf({ delegatorShares }: Pick<Validator, "delegatorShares">): Dec {
  return BigInt(delegatorShares);
}

export function operatorOf({ operatorAddress }: Validator): Uint8Array {
  return decodeAddress(operatorAddress, "valoper");
}

/** The 32 bytes of the key that signs blocks. */
export function consensusKeyOf({ consensusPubkey }: Validator): Uint8Array {
  if (consensusPubkey === undefined) throw errors.keyType("the key is missing");
  const key = publicKeyFromAny(consensusPubkey);
  if (key.type !== "ed25519") throw errors.keyType(`got: ${key.type}, expected: ed25519`);
  return key.key;
}

export function consensusAddressOf(validator: Validator): Uint8Array {
  return publicKeyAddress({ type: "ed25519", key: consensusKeyOf(validator) });
}

export function isBonded({ status }: Pick<Validator, "status">): boolean {
  return status === BondStatus.BONDED;
}

/** The power that the tokens are worth, bonded or not. */
export function powerOf(validator: Pick<Validator, "tokens">): bigint {
  return tokensOf(validator) / POWER_REDUCTION;
}

/** The strongest first, on a tie the smaller address. */
export function byPower(a: Validator, b: Validator): number {
  const [left, right] = [powerOf(a), powerOf(b)];
  return left === right ? compareBytes(operatorOf(a), operatorOf(b)) : left > right ? -1 : 1;
}

/** A slash took all its tokens, so a token has no worth in shares any more. */
export function hasNoRate(validator: Validator): boolean {
  return tokensOf(validator) === 0n && sharesOf(validator) > 0n;
}

/** The value of shares, rounded half to even. */
export function tokensForShares(validator: Validator, shares: Dec): Dec {
  return decQuo(shares * tokensOf(validator), sharesOf(validator));
}

/** The same, cut at the last digit. */
export function tokensForSharesTruncated(validator: Validator, shares: Dec): Dec {
  return decQuoTruncate(shares * tokensOf(validator), sharesOf(validator));
}

/** Shares of an amount of tokens, cut at the last digit. Throws `staking/27` where a share is worth nothing. */
export function sharesForTokens(validator: Validator, amount: bigint): Dec {
  const tokens = tokensOf(validator);
  if (tokens === 0n) throw errors.insufficientShares();
  return (sharesOf(validator) * amount) / tokens;
}

/** A validator with more tokens from delegators, and the shares that these get. */
export function addTokens(
  validator: Validator,
  amount: bigint,
): { readonly validator: Validator; readonly issued: Dec } {
  const shares = sharesOf(validator);
  const issued = shares === 0n ? decFromInt(amount) : sharesForTokens(validator, amount);
  const tokens = tokensOf(validator) + amount;
  if (tokens / POWER_REDUCTION > MAX_POWER)
    throw sdkErrors.invalidRequest("the validator would have more tokens than voting power can express");
  return { validator: { ...validator, tokens: `${tokens}`, delegatorShares: `${shares + issued}` }, issued };
}

/** A validator with fewer shares, and the whole tokens that they were worth; the last shares take the rest. */
export function removeShares(
  validator: Validator,
  shares: Dec,
): { readonly validator: Validator; readonly tokens: bigint } {
  const left = sharesOf(validator) - shares;
  const held = tokensOf(validator);
  const tokens = left === 0n ? held : decTruncate(tokensForShares(validator, shares));
  if (tokens > held) throw sdkErrors.logic("a validator would give more tokens than it has");
  return { validator: { ...validator, tokens: `${held - tokens}`, delegatorShares: `${left}` }, tokens };
}
