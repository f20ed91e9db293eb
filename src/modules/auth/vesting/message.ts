import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { coinMessage, readCoins } from "../../../runtime/index.ts";
import { type IntCoin, sdkErrors } from "../../../util/index.ts";
import type { BaseAccount, BaseAccountSchema } from "../../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import {
  type BaseVestingAccount,
  ContinuousVestingAccountSchema,
  DelayedVestingAccountSchema,
  type Period,
  PeriodicVestingAccountSchema,
  PermanentLockedAccountSchema,
} from "../../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { type Namespace, packAny, unpackAs } from "../../../wire/index.ts";
import {
  amountOf,
  scheduleProblem,
  type VestingDelegated,
  type VestingPeriod,
  type VestingSchedule,
} from "./schedule.ts";

/** The locked coins of an account, and the delegated part. */
export interface Vesting {
  readonly schedule: VestingSchedule;
  readonly delegated: VestingDelegated;
}

/** A vesting account as clients read it. */
export function vestingAny(
  baseAccount: MessageInitShape<typeof BaseAccountSchema>,
  { schedule, delegated }: Vesting,
  namespace: Namespace,
): Any {
  const baseVestingAccount = {
    baseAccount,
    originalVesting: schedule.original.map(coinMessage),
    delegatedFree: delegated.free.map(coinMessage),
    delegatedVesting: delegated.vesting.map(coinMessage),
    endTime: schedule.end,
  };
  const startTime = schedule.start;
  switch (schedule.kind) {
    case "continuous":
      return packAny(ContinuousVestingAccountSchema, { baseVestingAccount, startTime }, namespace);
    case "delayed":
      return packAny(DelayedVestingAccountSchema, { baseVestingAccount }, namespace);
    case "permanent":
      return packAny(PermanentLockedAccountSchema, { baseVestingAccount }, namespace);
    case "periodic": {
      const vestingPeriods = schedule.periods.map(periodMessage);
      return packAny(PeriodicVestingAccountSchema, { baseVestingAccount, startTime, vestingPeriods }, namespace);
    }
  }
}

export function periodMessage({ length, amount }: VestingPeriod) {
  return { length, amount: amount.map(coinMessage) };
}

export function readPeriod({ length, amount }: Period): VestingPeriod {
  return { length, amount: readCoins(amount) };
}

/** Reads one of the four kinds of a genesis file; undefined for every other account. Throws one clear sentence. */
export function readVestingAny(any: Any): { readonly base: BaseAccount; readonly vesting: Vesting } | undefined {
  const continuous = unpackAs(ContinuousVestingAccountSchema, any);
  if (continuous !== undefined)
    return read(continuous.baseVestingAccount, { kind: "continuous", start: continuous.startTime, periods: [] });
  const delayed = unpackAs(DelayedVestingAccountSchema, any);
  if (delayed !== undefined) return read(delayed.baseVestingAccount, { kind: "delayed", start: 0n, periods: [] });
  const permanent = unpackAs(PermanentLockedAccountSchema, any);
  if (permanent !== undefined) return read(permanent.baseVestingAccount, { kind: "permanent", start: 0n, periods: [] });
  const periodic = unpackAs(PeriodicVestingAccountSchema, any);
  if (periodic === undefined) return undefined;
  const periods = periodic.vestingPeriods.map(readPeriod);
  return read(periodic.baseVestingAccount, { kind: "periodic", start: periodic.startTime, periods });
}

function read(
  account: BaseVestingAccount | undefined,
  rest: Pick<VestingSchedule, "kind" | "start" | "periods">,
): { readonly base: BaseAccount; readonly vesting: Vesting } {
  const base = account?.baseAccount;
  if (account === undefined || base === undefined) throw sdkErrors.invalidType("a vesting account has a base_account");
  const schedule = { ...rest, original: readCoins(account.originalVesting), end: account.endTime };
  const delegated = { free: readCoins(account.delegatedFree), vesting: readCoins(account.delegatedVesting) };
  const problem = scheduleProblem(schedule) ?? delegatedProblem(schedule.original, delegated.vesting);
  if (problem !== undefined) throw sdkErrors.invalidRequest(`${base.address.slice(0, 100)}: ${problem}`);
  return { base, vesting: { schedule, delegated } };
}

export function delegatedProblem(original: readonly IntCoin[], vesting: readonly IntCoin[]): string | undefined {
  const beyond = vesting.find(({ denom, amount }) => amount > amountOf(original, denom));
  return beyond === undefined ? undefined : `delegated_vesting of ${beyond.denom} is more than original_vesting`;
}
