import {
  type BoundService,
  bindService,
  type Context,
  checkAddress,
  checkAuthority,
  coinMessage,
  readSomeCoins,
  updateParams,
} from "../../runtime/index.ts";
import {
  Msg,
  type MsgCommunityPoolSpend,
  type MsgDepositValidatorRewardsPool,
  type MsgFundCommunityPool,
  type MsgSetWithdrawAddress,
  type MsgWithdrawDelegatorReward,
  type MsgWithdrawValidatorCommission,
} from "../../wire/gen/sdk/distribution/v1beta1/tx_pb.js";
import { accountOfValidator, decodeAddress, distributionErrors as errors } from "../../wire/index.ts";
import { checkOperator } from "../staking/index.ts";
import { giveRewards } from "./allocation.ts";
import { fromCoins } from "./deccoins.ts";
import { paramsProblems } from "./genesis.ts";
import { ACCOUNT, type DistributionKeeper, store } from "./keeper.ts";
import { withdrawRewards } from "./rewards.ts";

/** Beside its small record the message costs the account and the sequence of its signer. */
const WITHDRAW_ADDRESS_GAS = 10_000n;

export function distributionMsgs(keeper: DistributionKeeper): BoundService {
  const update = updateParams({
    set: (ctx, params) => keeper.records.params.set(store(ctx), params),
    problems: paramsProblems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      setWithdrawAddress: (ctx, msg) => setWithdrawAddress(keeper, ctx, msg),
      withdrawDelegatorReward: (ctx, msg) => withdraw(keeper, ctx, msg),
      withdrawValidatorCommission: (ctx, msg) => withdrawCommission(keeper, ctx, msg),
      fundCommunityPool: (ctx, msg) => fund(keeper, ctx, msg),
      updateParams: update.handle,
      communityPoolSpend: (ctx, msg) => spend(keeper, ctx, msg),
      depositValidatorRewardsPool: (ctx, msg) => deposit(keeper, ctx, msg),
    },
    {
      setWithdrawAddress: (msg) => {
        checkAddress("delegator_address", msg.delegatorAddress);
        checkAddress("withdraw_address", msg.withdrawAddress);
      },
      withdrawDelegatorReward: (msg) => {
        checkAddress("delegator_address", msg.delegatorAddress);
        checkOperator("validator_address", msg.validatorAddress);
      },
      withdrawValidatorCommission: (msg) => checkOperator("validator_address", msg.validatorAddress),
      fundCommunityPool: (msg) => {
        checkAddress("depositor", msg.depositor);
        readSomeCoins(msg.amount);
      },
      updateParams: update.check,
      communityPoolSpend: (msg) => {
        checkAddress("recipient", msg.recipient);
        readSomeCoins(msg.amount);
      },
      depositValidatorRewardsPool: (msg) => {
        checkAddress("depositor", msg.depositor);
        checkOperator("validator_address", msg.validatorAddress);
        readSomeCoins(msg.amount);
      },
    },
  );
}

function setWithdrawAddress(keeper: DistributionKeeper, ctx: Context, msg: MsgSetWithdrawAddress): object {
  ctx.gas.consume(WITHDRAW_ADDRESS_GAS, "withdraw address");
  keeper.setWithdrawAddress(ctx, decodeAddress(msg.delegatorAddress), decodeAddress(msg.withdrawAddress));
  return told(ctx, msg.delegatorAddress);
}

function withdraw(keeper: DistributionKeeper, ctx: Context, msg: MsgWithdrawDelegatorReward) {
  const operator = decodeAddress(msg.validatorAddress, "valoper");
  const paid = withdrawRewards(keeper, ctx, { delegator: decodeAddress(msg.delegatorAddress), operator });
  told(ctx, msg.delegatorAddress);
  return { amount: paid.map(coinMessage) };
}

function withdrawCommission(keeper: DistributionKeeper, ctx: Context, msg: MsgWithdrawValidatorCommission) {
  const paid = keeper.withdrawCommission(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  told(ctx, accountOfValidator(msg.validatorAddress));
  return { amount: paid.map(coinMessage) };
}

function fund(keeper: DistributionKeeper, ctx: Context, msg: MsgFundCommunityPool): object {
  keeper.fundPool(ctx, decodeAddress(msg.depositor), readSomeCoins(msg.amount));
  return told(ctx, msg.depositor);
}

function spend(keeper: DistributionKeeper, ctx: Context, msg: MsgCommunityPoolSpend): object {
  checkAuthority(msg.authority);
  keeper.spendPool(ctx, decodeAddress(msg.recipient), readSomeCoins(msg.amount));
  return {};
}

/** Gives coins to a validator and its delegators, as if they were fees. */
function deposit(keeper: DistributionKeeper, ctx: Context, msg: MsgDepositValidatorRewardsPool): object {
  const validator = keeper.stake.findValidator(ctx, decodeAddress(msg.validatorAddress, "valoper"));
  if (validator === undefined) throw errors.validatorNotFound(msg.validatorAddress);
  const coins = readSomeCoins(msg.amount);
  keeper.bank.sendToModule(ctx, decodeAddress(msg.depositor), ACCOUNT, coins);
  giveRewards(keeper, ctx, validator, fromCoins(coins));
  return told(ctx, msg.depositor);
}

function told(ctx: Context, sender: string): object {
  ctx.events.emit("message", { module: "distribution", sender });
  return {};
}
