import { create } from "@bufbuild/protobuf";
import { type CoinMessage, coinMessage } from "../../../runtime/index.ts";
import { protoValue, type ValueCodec } from "../../../store/index.ts";
import type { IntCoin } from "../../../util/index.ts";
import { BaseVestingAccountSchema } from "../../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import type { VestingDelegated } from "./schedule.ts";

const parts = protoValue(BaseVestingAccountSchema);

/** Delegated amounts change more often than the schedule, so they are stored apart. */
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
