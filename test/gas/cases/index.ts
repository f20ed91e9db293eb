import { BANK } from "./bank.ts";
import { CERTIFICATES } from "./certificates.ts";
import { DEPLOYMENTS } from "./deployments.ts";
import { GRANTS } from "./grants.ts";
import { MARKET } from "./market.ts";
import type { Cases } from "./prepare.ts";
import { PROVIDER_CASES } from "./providers.ts";

export { deployed, type GasCase, newWorld, TENANT, withBids } from "./prepare.ts";

/** The dearest legal contents of every message: what they cost in CPU time for their gas is measured and compared. */
export const CASES: Cases = {
  ...BANK,
  ...CERTIFICATES,
  ...GRANTS,
  ...PROVIDER_CASES,
  ...DEPLOYMENTS,
  ...MARKET,
};

const parametersChange = "nobody can send it: a module's account would have to sign";
const lockedCoins = "a transfer, and a record that pays for each of its bytes";
const proofOfStake = "metered by store operation, with a bound on entries; its worst content is not written down yet";

/** Messages without a measured content, and why. */
export const NOT_MEASURED: Readonly<Record<string, string>> = {
  "sdk.staking.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.mint.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.slashing.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgUpdateParams": parametersChange,
  "sdk.distribution.v1beta1.MsgCommunityPoolSpend": parametersChange,
  "sdk.staking.v1beta1.MsgCreateValidator": proofOfStake,
  "sdk.staking.v1beta1.MsgEditValidator": proofOfStake,
  "sdk.staking.v1beta1.MsgDelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgBeginRedelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgUndelegate": proofOfStake,
  "sdk.staking.v1beta1.MsgCancelUnbondingDelegation": proofOfStake,
  "sdk.slashing.v1beta1.MsgUnjail": proofOfStake,
  "sdk.distribution.v1beta1.MsgDepositValidatorRewardsPool": proofOfStake,
  "sdk.distribution.v1beta1.MsgFundCommunityPool": proofOfStake,
  "sdk.distribution.v1beta1.MsgSetWithdrawAddress": proofOfStake,
  "sdk.distribution.v1beta1.MsgWithdrawDelegatorReward": proofOfStake,
  "sdk.distribution.v1beta1.MsgWithdrawValidatorCommission": proofOfStake,
  "sdk.vesting.v1beta1.MsgCreateVestingAccount": lockedCoins,
  "sdk.vesting.v1beta1.MsgCreatePermanentLockedAccount": lockedCoins,
  "sdk.vesting.v1beta1.MsgCreatePeriodicVestingAccount": lockedCoins,
};
