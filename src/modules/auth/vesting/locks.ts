import type { Context } from "../../../runtime/index.ts";
import { addressKey, collection, type KVStore } from "../../../store/index.ts";
import type { IntCoin } from "../../../util/index.ts";
import type { Vesting } from "./message.ts";
import { delegatedValue, scheduleValue } from "./records.ts";
import { lockedCoins, type VestingDelegated, withDelegation, withUndelegation } from "./schedule.ts";

const NOTHING: VestingDelegated = { free: [], vesting: [] };

/** The records of vesting accounts; the kind of an account says whether it has one. */
export class VestingRecords {
  readonly schedules = collection({ name: "vesting schedule", prefix: 0x03, key: addressKey, value: scheduleValue });
  /** Only where something is delegated. */
  readonly delegated = collection({ name: "delegated coins", prefix: 0x04, key: addressKey, value: delegatedValue });

  get(store: KVStore, address: Uint8Array): Vesting {
    return { schedule: this.schedules.require(store, address), delegated: this.#delegated(store, address) };
  }

  set(store: KVStore, address: Uint8Array, { schedule, delegated }: Vesting): void {
    this.schedules.set(store, address, schedule);
    this.#setDelegated(store, address, delegated);
  }

  /** What of the account's coins may not be spent in this block. */
  locked(ctx: Context, store: KVStore, address: Uint8Array): IntCoin[] {
    const { schedule, delegated } = this.get(store, address);
    return lockedCoins(schedule, delegated, ctx.block.time);
  }

  trackDelegation(ctx: Context, store: KVStore, [address, coins]: DelegatedCoins): void {
    const { schedule, delegated } = this.get(store, address);
    this.#setDelegated(store, address, withDelegation(schedule, delegated, { coins, time: ctx.block.time }));
  }

  trackUndelegation(store: KVStore, [address, coins]: DelegatedCoins): void {
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

type DelegatedCoins = readonly [address: Uint8Array, coins: readonly IntCoin[]];
