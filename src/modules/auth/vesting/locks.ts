import { create } from "@bufbuild/protobuf";
import { type CoinMessage, type Context, coinMessage } from "../../../runtime/index.ts";
import { addressKey, collection, type KVStore, protoValue, type ValueCodec } from "../../../store/index.ts";
import type { IntCoin } from "../../../util/index.ts";
import { BaseVestingAccountSchema } from "../../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import type { Vesting } from "./message.ts";
import { subtractCoins, type VestingDelegated, withDelegation, withUndelegation } from "./schedule.ts";
import { StoredSchedule, storedSchedule } from "./stored.ts";

const NANOS = 1_000_000_000n;

const NOTHING: VestingDelegated = { free: [], vesting: [] };

const parts = protoValue(BaseVestingAccountSchema);

/** The records of vesting accounts; the kind of an account tells whether it has one. */
export class VestingRecords {
  readonly schedules = collection({ name: "vesting schedule", prefix: 0x03, key: addressKey, value: storedSchedule });
  /** Only where something is delegated. */
  readonly delegated = collection({ name: "delegated coins", prefix: 0x04, key: addressKey, value: delegatedValue });

  get(store: KVStore, address: Uint8Array): Vesting {
    return { schedule: this.schedules.require(store, address), delegated: this.#delegated(store, address) };
  }

  set(store: KVStore, address: Uint8Array, { schedule, delegated }: Vesting): void {
    this.schedules.set(store, address, StoredSchedule.of(schedule));
    this.#setDelegated(store, address, delegated);
  }

  /** Amounts of these coins that the account may not spend in this block: locked and not delegated. */
  locked(ctx: Context, store: KVStore, [address, coins]: CoinsOf<Pick<IntCoin, "denom">>): IntCoin[] {
    const now = ctx.block.time / NANOS;
    const isWanted = (denom: string) => coins.some((coin) => coin.denom === denom);
    const locked = this.schedules.require(store, address).lockedAt(now, isWanted);
    return locked.length === 0 ? locked : subtractCoins(locked, this.#delegated(store, address).vesting);
  }

  trackDelegation(ctx: Context, store: KVStore, of: CoinsOf): void {
    const [address, coins] = of;
    const delegated = this.#delegated(store, address);
    this.#setDelegated(store, address, withDelegation(delegated, coins, this.locked(ctx, store, of)));
  }

  trackUndelegation(store: KVStore, [address, coins]: CoinsOf): void {
    this.#setDelegated(store, address, withUndelegation(this.#delegated(store, address), coins));
  }

  #delegated(store: KVStore, address: Uint8Array): VestingDelegated {
    return this.delegated.get(store, address) ?? NOTHING;
  }

  #setDelegated(store: KVStore, address: Uint8Array, delegated: VestingDelegated): void {
    if (delegated.free.length === 0 && delegated.vesting.length === 0) this.delegated.delete(store, address);
    else this.delegated.set(store, address, delegated);
  }
}

/** Coins of an account. */
type CoinsOf<C = IntCoin> = readonly [address: Uint8Array, coins: readonly C[]];

/** Delegated amounts change more often than the schedule, so they are stored apart. */
const delegatedValue: ValueCodec<VestingDelegated> = {
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
