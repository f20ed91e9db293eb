import { type BoundService, bindService, type Context, checkAddress, readSomeCoins } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import {
  Msg,
  type MsgCreatePeriodicVestingAccount,
  type MsgCreatePermanentLockedAccount,
  type MsgCreateVestingAccount,
} from "../../wire/gen/sdk/vesting/v1beta1/tx_pb.js";
import { vestingErrors as errors } from "../../wire/index.ts";
import { MAX_VESTING_PERIODS, periodicSchedule, type VestingSchedule } from "../auth/index.ts";
import { checkSchedule, type NewAccount, type VestingKeeper } from "./keeper.ts";

const NANOS = 1_000_000_000n;

export function vestingMsgs(keeper: VestingKeeper): BoundService {
  const make = (ctx: Context, account: NewAccount): object => {
    keeper.create(ctx, account);
    return {};
  };
  return bindService(
    Msg,
    {
      createVestingAccount: (ctx, msg) => make(ctx, { ...msg, schedule: scheduleOf(msg, ctx.block.time / NANOS) }),
      createPermanentLockedAccount: (ctx, msg) => make(ctx, { ...msg, schedule: lockedSchedule(msg) }),
      createPeriodicVestingAccount: (ctx, msg) => make(ctx, { ...msg, schedule: periodsOf(msg) }),
    },
    {
      createVestingAccount: (msg) => {
        checkParties(msg);
        readSomeCoins(msg.amount);
        if (msg.endTime <= 0n) throw sdkErrors.invalidRequest("invalid end time");
      },
      createPermanentLockedAccount: (msg) => {
        checkParties(msg);
        checkSchedule(lockedSchedule(msg));
      },
      createPeriodicVestingAccount: checkPeriodic,
    },
  );
}

function scheduleOf({ amount, endTime: end, delayed }: MsgCreateVestingAccount, now: bigint): VestingSchedule {
  if (end <= now)
    throw errors.invalidSchedule(`end time ${end} is not after the time of the block, ${now}`, {
      hint: "give a time in the future",
    });
  const original = readSomeCoins(amount);
  return delayed
    ? { kind: "delayed", original, start: 0n, end, periods: [] }
    : { kind: "continuous", original, start: now, end, periods: [] };
}

function lockedSchedule({ amount }: MsgCreatePermanentLockedAccount): VestingSchedule {
  return { kind: "permanent", original: readSomeCoins(amount), start: 0n, end: 0n, periods: [] };
}

function periodsOf({ startTime, vestingPeriods }: MsgCreatePeriodicVestingAccount): VestingSchedule {
  const periods = vestingPeriods.map(({ length, amount }) => ({ length, amount: readSomeCoins(amount) }));
  return periodicSchedule(startTime, periods);
}

function checkPeriodic(msg: MsgCreatePeriodicVestingAccount): void {
  checkParties(msg);
  const { startTime, vestingPeriods } = msg;
  if (startTime < 1n) throw sdkErrors.invalidRequest(`invalid start time of ${startTime}, it must be greater than 0`);
  if (vestingPeriods.length === 0) throw sdkErrors.invalidRequest("vesting_periods: at least one is needed");
  if (vestingPeriods.length > MAX_VESTING_PERIODS)
    throw errors.invalidSchedule(`vesting_periods: at most ${MAX_VESTING_PERIODS} are allowed`);
  vestingPeriods.forEach(({ length }, i) => {
    if (length < 1n)
      throw sdkErrors.invalidRequest(`invalid period length of ${length} in period ${i}, it must be greater than 0`);
  });
  checkSchedule(periodsOf(msg));
}

function checkParties({ fromAddress, toAddress }: { readonly fromAddress: string; readonly toAddress: string }): void {
  checkAddress("from_address", fromAddress);
  checkAddress("to_address", toAddress);
}
