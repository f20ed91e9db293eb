import type { Context } from "../../runtime/index.ts";
import {
  addressKey,
  collection,
  type Due,
  item,
  type KVReader,
  type KVStore,
  presentValue,
  queue,
  tupleKey,
  uint64Key,
  uint64Value,
} from "../../store/index.ts";
import { type DeploymentKey, decodeAddress, encodeAddress } from "../../wire/index.ts";

/** Address of the owner and number. */
export type DeploymentPath = readonly [Uint8Array, bigint];

/** Remembered numbers below the height that are removed for each number that is added. */
const SWEPT = 2;

/**
 * Most numbers of an owner that are remembered one by one: each stays until the height gets there, which may be never.
 * Numbers up to `retention_blocks` above the height need no memory and are not counted: when their deployments leave the
 * state, the height has passed them.
 */
export const MAX_FAR_NUMBERS = 64;

/**
 * Closed deployments that will leave the state, and the used numbers of those that have left. Numbers are never reused,
 * because manifests and records of providers identify deployments by them. One watermark per owner stands for all
 * numbers up to it. It does not rise above the height of the chain, from which clients take numbers: a deployment with
 * a number far above uses up one number, not all below it.
 */
export class PrunedNumbers {
  readonly waiting = queue<DeploymentPath>({ name: "pruning", prefix: 0x07, key: tupleKey(addressKey, uint64Key) });
  readonly watermarks = collection({ name: "watermark", prefix: 0x08, key: addressKey, value: uint64Value });
  readonly spent = collection({
    name: "spent number",
    prefix: 0x09,
    key: tupleKey(addressKey, uint64Key),
    value: presentValue,
  });

  /** Blocks of the chains whose state this chain continues; absent if there are none. */
  readonly base = item({ name: "number base", prefix: 0x0a, value: uint64Value });

  /**
   * The height from which a deployment in this block takes its number: numbers continue where an earlier chain ended.
   */
  present(ctx: Context, reader: KVReader): bigint {
    return ctx.height + (this.base.get(reader) ?? 0n);
  }

  /** The highest number of an owner up to which all are used up; 0 if there is none. */
  watermark(reader: KVReader, owner: Uint8Array): bigint {
    return this.watermarks.get(reader, owner) ?? 0n;
  }

  isSpent(reader: KVReader, [owner, dseq]: DeploymentPath): boolean {
    return dseq <= this.watermark(reader, owner) || this.spent.has(reader, [owner, dseq]);
  }

  /** Whether the limit of remembered numbers above the height is reached, counting these deployments. */
  isFull(ctx: Context, reader: KVReader, [owner, deployments]: readonly [Uint8Array, Iterable<unknown>]): boolean {
    return isMore(MAX_FAR_NUMBERS - 1, this.spent.keys(reader, above(owner, this.present(ctx, reader))), deployments);
  }

  /** Uses a number up forever. */
  spend(ctx: Context, store: KVStore, [owner, dseq]: DeploymentPath): void {
    const present = this.present(ctx, store);
    const passed = this.#sweep(store, owner, present);
    if (dseq > present) this.spent.set(store, [owner, dseq], true);
    const highest = dseq > present || passed > dseq ? passed : dseq;
    if (highest > this.watermark(store, owner)) this.watermarks.set(store, owner, highest);
  }

  /** Deletes a few numbers below the height, and raises the watermark to the highest of them, which is returned. */
  #sweep(store: KVStore, owner: Uint8Array, height: bigint): bigint {
    let [left, highest] = [SWEPT, 0n];
    for (const key of this.spent.keys(store, { prefix: [owner] })) {
      if (left === 0 || key[1] > height) break;
      this.spent.delete(store, key);
      highest = key[1];
      left -= 1;
    }
    return highest;
  }
}

/** The numbers of an owner above a height. */
export function above(owner: Uint8Array, height: bigint): NumberRange {
  return { prefix: [owner], start: [owner, height + 1n] };
}

interface NumberRange {
  readonly prefix: readonly [owner: Uint8Array];
  readonly start: [owner: Uint8Array, dseq: bigint];
}

/** Whether the lists have more items together than this, without walking further. */
function isMore(most: number, ...lists: readonly Iterable<unknown>[]): boolean {
  let count = 0;
  for (const list of lists) {
    for (const _ of list) {
      count += 1;
      if (count > most) return true;
    }
  }
  return false;
}

export function pathOf({ owner, dseq }: DeploymentKey): [Uint8Array, bigint] {
  return [decodeAddress(owner), dseq];
}

export function idOfPath([owner, dseq]: DeploymentPath): DeploymentKey {
  return { owner: encodeAddress(owner), dseq };
}

/** The entries of a queue of deployments as genesis has them. */
export function waitingEntries(entries: Iterable<Due<DeploymentPath>>): { id: DeploymentKey; height: bigint }[] {
  return [...entries].map(({ height, key }) => ({ id: idOfPath(key), height }));
}
