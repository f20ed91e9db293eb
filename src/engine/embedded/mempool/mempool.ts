import type { Application, CheckTxResult, Claim, TouchedAccounts, TxResult } from "../../../abci/index.ts";
import { SvcError, toHexUpper } from "../../../util/index.ts";
import { txHash } from "../blocks/hashes.ts";
import type { Entry, Lane } from "./lane.ts";
import {
  DEFAULT_MEMPOOL_LIMITS,
  MAX_LISTED_BYTES,
  MAX_PASSED_OVER,
  type MempoolLimits,
  REPLACEMENT_RAISE,
} from "./limits.ts";
import { WaitingTxs } from "./waiting.ts";

export interface MempoolTx {
  readonly tx: Uint8Array;
  readonly hash: Uint8Array;
}

export interface CheckedTx extends MempoolTx {
  readonly result: CheckTxResult;
}

export interface ReapLimits {
  readonly maxTxs: number;
  readonly maxBytes: number;
  /** Negative = no limit. */
  readonly maxGas: bigint;
}

/** Results of a block for its transactions. */
export interface BlockOutcome {
  readonly height: bigint;
  readonly hashes: readonly Uint8Array[];
  readonly results: readonly TxResult[];
  /** Accounts that the block changed. */
  readonly touched: TouchedAccounts;
}

type CheckingApplication = Pick<Application, "checkTx" | "holdClaims" | "releaseClaim">;

/** Tag and length of a transaction in the block's data. */
export const TX_OVERHEAD = 5;

/**
 * Transactions that wait for a block, ordered by gas price, then by arrival; within an account by sequence. In a full
 * mempool, the cheapest make room for dearer ones.
 *
 * All waiting transactions can be paid and come into one block, one after the other. So after a commit only the
 * accounts that the block changed are checked: if the first and the last transaction of an account still pass, so do
 * all between them.
 */
export class Mempool {
  readonly #app: CheckingApplication;
  #limits: MempoolLimits;
  readonly #waiting = new WaitingTxs();
  readonly #seen: SeenHashes;
  #arrivals = 0;

  constructor(app: CheckingApplication, limits: MempoolLimits = DEFAULT_MEMPOOL_LIMITS) {
    this.#app = app;
    this.#limits = limits;
    this.#seen = new SeenHashes(limits.cacheSize);
    app.holdClaims();
  }

  get size(): number {
    return this.#waiting.size;
  }

  get bytes(): number {
    return this.#waiting.bytes;
  }

  /**
   * Applies new limits from now on; waiting transactions that are too large for them are removed, with all that build
   * on them.
   */
  limit(limits: MempoolLimits): void {
    this.#limits = limits;
    for (const entry of [...this.#waiting.entries()])
      if (entry.tx.length > limits.maxTxBytes && this.#waiting.get(entry.key) === entry) this.#drop(entry);
  }

  /** The first `limit` waiting transactions, up to `MAX_LISTED_BYTES` together; the first one in any case. */
  list(limit: number): Uint8Array[] {
    const walk = this.#waiting.walk();
    const listed: Uint8Array[] = [];
    let bytes = 0;
    while (listed.length < limit) {
      const entry = walk.next();
      if (entry === undefined) break;
      bytes += entry.tx.length;
      if (listed.length > 0 && bytes > MAX_LISTED_BYTES) break;
      listed.push(entry.tx);
      walk.take(entry);
    }
    return listed;
  }

  /**
   * Lets the application check a transaction, and keeps it when the code is 0. Throws when it is already known, too
   * large, or when there is no room; clients recognise the texts.
   */
  add(tx: Uint8Array): CheckedTx {
    const { maxTxBytes } = this.#limits;
    if (tx.length > maxTxBytes)
      throw new SvcError("sdk", 21, `tx too large. Max size is ${maxTxBytes}, but got ${tx.length}`);
    const hash = txHash(tx);
    const key = toHexUpper(hash);
    if (this.#seen.has(key) || this.#waiting.get(key) !== undefined)
      throw new SvcError("sdk", 19, "tx already exists in cache");
    return { tx, hash, result: this.#check({ tx, hash, key }) };
  }

  /** The next transactions for a block within all limits. */
  reap(limits: ReapLimits): MempoolTx[] {
    const walk = this.#waiting.walk();
    const taken: MempoolTx[] = [];
    const room = { bytes: limits.maxBytes, gas: limits.maxGas };
    let passedOver = 0;
    while (taken.length < limits.maxTxs && passedOver < MAX_PASSED_OVER) {
      const entry = walk.next();
      if (entry === undefined) break;
      const size = entry.tx.length + TX_OVERHEAD;
      if (size > room.bytes || (limits.maxGas >= 0n && entry.gasWanted > room.gas)) {
        passedOver += 1;
        continue;
      }
      room.bytes -= size;
      room.gas -= entry.gasWanted;
      walk.take(entry);
      taken.push(entry);
    }
    return taken;
  }

  /**
   * Removes a block's transactions, of which failed ones may be sent again, and transactions that can no longer come
   * into a block.
   */
  committed({ height, hashes, results, touched }: BlockOutcome): void {
    const changed = new Set<string>();
    for (const [i, hash] of hashes.entries()) {
      const key = toHexUpper(hash);
      const hasFailed = results[i]?.code !== 0;
      const entry = this.#waiting.get(key);
      if (entry !== undefined) this.#leave(entry);
      if (hasFailed) for (const { account } of entry?.claim.signers ?? []) changed.add(account);
      if (hasFailed) this.#seen.delete(key);
      else this.#seen.add(key);
    }
    for (const entry of this.#waiting.outdated(height + 1n)) this.#drop(entry);
    if (touched === "all") this.#recheckAll();
    else for (const account of touched) changed.add(account);
    for (const account of [...changed]) for (const other of this.#waiting.payingFor(account)) changed.add(other);
    for (const account of changed) this.#recheck(this.#waiting.lane(account));
  }

  #check(found: Pick<Entry, "tx" | "hash" | "key">): CheckTxResult {
    const result = this.#app.checkTx({ tx: found.tx, kind: "new" });
    const { claim } = result;
    if (claim === undefined) return result;
    const entry = { ...found, gasWanted: result.gasWanted, claim, arrival: this.#arrivals++ };
    if (result.code !== 0) return this.#replace(entry) ?? result;
    try {
      this.#evict(this.#roomFor(entry));
    } catch (error) {
      this.#app.releaseClaim(claim);
      throw error;
    }
    this.#waiting.add(entry);
    this.#seen.add(entry.key);
    return result;
  }

  /** A refused transaction may be a replacement of a waiting one, at a higher gas price. */
  #replace(entry: Entry): CheckTxResult | undefined {
    const old = this.#waiting.placeOf(entry.claim);
    if (old === undefined || !isRaise(old.claim.gasPrice, entry.claim.gasPrice)) return undefined;
    const cheaper = this.#roomFor(entry, old);
    const result = this.#app.checkTx({ tx: entry.tx, kind: "new", place: old.claim });
    if (result.code !== 0) return result;
    this.#evict(cheaper);
    this.#waiting.replace(old, { ...entry, gasWanted: result.gasWanted });
    this.#seen.delete(old.key);
    this.#seen.add(entry.key);
    return result;
  }

  /**
   * The transactions that must make room for a new one, or for one that replaces another. Throws where it is refused.
   */
  #roomFor(entry: Entry, old?: Entry): readonly Entry[] {
    const need = { txs: old === undefined ? 1 : 0, bytes: entry.tx.length - (old?.tx.length ?? 0) };
    this.#checkSenders(entry.claim, need);
    const { maxTxs, maxBytes } = this.#limits;
    const { size, bytes } = this.#waiting;
    const missing = { txs: size + need.txs - maxTxs, bytes: bytes + need.bytes - maxBytes };
    if (missing.txs <= 0 && missing.bytes <= 0) return [];
    const claim = { ...entry.claim, gasPrice: this.#priceOf(entry.claim) };
    const cheaper = this.#waiting.cheaperThan(claim, missing);
    if (cheaper !== undefined) return cheaper;
    throw full(`number of txs ${size} (max: ${maxTxs}), total txs bytes ${bytes} (max: ${maxBytes})`);
  }

  #evict(entries: readonly Entry[]): void {
    for (const each of entries) this.#forget(each);
  }

  /** A transaction comes into a block no earlier than its senders' earlier transactions. */
  #priceOf({ signers, gasPrice }: Claim): bigint {
    let price = gasPrice;
    for (const { account } of signers) {
      const floor = this.#waiting.lane(account)?.floor;
      if (floor !== undefined && floor < price) price = floor;
    }
    return price;
  }

  #checkSenders({ signers }: Claim, need: { readonly txs: number; readonly bytes: number }): void {
    const { maxTxsPerSender, maxBytesPerSender } = this.#limits;
    for (const { account } of signers) {
      const { size = 0, bytes = 0 } = this.#waiting.lane(account) ?? {};
      if (size + need.txs <= maxTxsPerSender && bytes + need.bytes <= maxBytesPerSender) continue;
      throw full(
        `number of txs of this sender ${size} (max: ${maxTxsPerSender}), its txs bytes ${bytes} (max: ${maxBytesPerSender})`,
      );
    }
  }

  /**
   * Removes transactions that no longer pass: the first, if another transaction took its place, otherwise the last,
   * until the rest passes.
   */
  #recheck(lane: Lane | undefined): void {
    for (let last = lane?.highest; last !== undefined; last = lane?.highest) {
      const first = lane?.lowest ?? last;
      const passes = this.#passes(last);
      if (passes && (first === last || this.#passes(first))) return;
      if (passes) this.#leave(first);
      else this.#drop(last);
    }
  }

  #recheckAll(): void {
    for (const entry of [...this.#waiting.entries()]) {
      if (this.#waiting.get(entry.key) === entry && !this.#passes(entry)) this.#drop(entry);
    }
  }

  #passes({ tx, claim }: Entry): boolean {
    return this.#app.checkTx({ tx, kind: "recheck", place: claim }).code === 0;
  }

  /** For one that a block took, or another that took its place: it was the first of all its accounts. */
  #leave(entry: Entry): void {
    if (!this.#waiting.isFirst(entry)) {
      this.#drop(entry);
      return;
    }
    this.#waiting.delete(entry);
    this.#app.releaseClaim(entry.claim);
  }

  /** Removes a transaction with all that cannot come without it. */
  #drop(entry: Entry): void {
    for (const each of this.#waiting.withFollowers(entry)) this.#forget(each);
  }

  #forget(entry: Entry): void {
    this.#waiting.delete(entry);
    this.#app.releaseClaim(entry.claim);
    this.#seen.delete(entry.key);
  }
}

function isRaise(old: bigint, price: bigint): boolean {
  return price > old && price * 100n >= old * (100n + REPLACEMENT_RAISE);
}

function full(now: string): SvcError {
  return new SvcError("sdk", 20, `mempool is full: ${now}`, {
    hint: "wait for the next block, or offer a higher gas price",
  });
}

/** The hashes seen most recently. */
class SeenHashes {
  readonly #keys = new Set<string>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size <= this.#capacity) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      break;
    }
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }
}
