import type { Context } from "../../runtime/index.ts";
import {
  addressKey,
  collection,
  type Due,
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

/** Entries of numbers of their own that go for each number that comes, once the watermark stands above them. */
const SWEPT = 2;

/**
 * Closed deployments that will leave the state, and the numbers of those that have left it: none is ever used again, since
 * manifests and records of providers know deployments by their numbers. One watermark an owner stands for all numbers up to
 * it. It does not rise above the height of the chain, which is the number that clients choose: a deployment of a number far
 * above uses up this one number, not all below.
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

  /** The highest number of an owner up to which all are used up; 0 where none is. */
  watermark(reader: KVReader, owner: Uint8Array): bigint {
    return this.watermarks.get(reader, owner) ?? 0n;
  }

  isSpent(reader: KVReader, [owner, dseq]: DeploymentPath): boolean {
    return dseq <= this.watermark(reader, owner) || this.spent.has(reader, [owner, dseq]);
  }

  /** Uses a number up for ever. */
  spend(ctx: Context, store: KVStore, [owner, dseq]: DeploymentPath): void {
    if (dseq > ctx.height) {
      this.spent.set(store, [owner, dseq], true);
      return;
    }
    const watermark = this.watermark(store, owner);
    if (dseq > watermark) this.watermarks.set(store, owner, dseq);
    this.#sweep(store, owner, dseq > watermark ? dseq : watermark);
  }

  #sweep(store: KVStore, owner: Uint8Array, watermark: bigint): void {
    let left = SWEPT;
    for (const key of this.spent.keys(store, { prefix: [owner] })) {
      if (left === 0 || key[1] > watermark) return;
      this.spent.delete(store, key);
      left -= 1;
    }
  }
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
