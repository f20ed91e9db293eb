import { create } from "@bufbuild/protobuf";
import { type CoinMessage, coinMessage } from "../../../runtime/index.ts";
import { protoValue, type ValueCodec } from "../../../store/index.ts";
import { assert, concatBytes, type IntCoin } from "../../../util/index.ts";
import {
  BaseVestingAccountSchema,
  PeriodicVestingAccountSchema,
} from "../../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { periodMessage } from "./message.ts";
import type { VestingDelegated, VestingKind, VestingSchedule } from "./schedule.ts";

/** The first byte of a stored schedule is the place of its kind here: these numbers never change. */
const KINDS: readonly VestingKind[] = ["continuous", "delayed", "periodic", "permanent"];

const schedules = protoValue(PeriodicVestingAccountSchema);
const parts = protoValue(BaseVestingAccountSchema);

/** A byte for the kind, then the message of periodic accounts, which can say all that the others say. */
export const scheduleValue: ValueCodec<VestingSchedule> = {
  encode({ kind, original, start, end, periods }) {
    const message = create(PeriodicVestingAccountSchema, {
      baseVestingAccount: { originalVesting: original.map(coinMessage), endTime: end },
      startTime: start,
      vestingPeriods: periods.map(periodMessage),
    });
    return concatBytes(Uint8Array.of(KINDS.indexOf(kind)), schedules.encode(message));
  },
  decode(bytes) {
    const kind = KINDS[bytes[0] ?? KINDS.length];
    assert(kind !== undefined, "a stored schedule has a known kind");
    const { baseVestingAccount, startTime, vestingPeriods } = schedules.decode(bytes.subarray(1));
    const periods = vestingPeriods.map(({ length, amount }) => ({ length, amount: amount.map(intCoin) }));
    const original = baseVestingAccount?.originalVesting.map(intCoin) ?? [];
    return { kind, original, start: startTime, end: baseVestingAccount?.endTime ?? 0n, periods };
  },
};

/** What is delegated changes more often than the schedule, so it stands apart. */
export const delegatedValue: ValueCodec<VestingDelegated> = {
  encode: ({ free, vesting }) =>
    parts.encode(
      create(BaseVestingAccountSchema, {
        delegatedFree: free.map(coinMessage),
        delegatedVesting: vesting.map(coinMessage),
      }),
    ),
  decode(bytes) {
    const { delegatedFree, delegatedVesting } = parts.decode(bytes);
    return { free: delegatedFree.map(intCoin), vesting: delegatedVesting.map(intCoin) };
  },
};

/** A coin that was written here. */
function intCoin({ denom, amount }: CoinMessage): IntCoin {
  return { denom, amount: BigInt(amount) };
}
