import type { Application, CheckTxResult, TxResult } from "../../abci/index.ts";
import { SvcError, toHexUpper } from "../../util/index.ts";
import { txHash } from "./hashes.ts";

export interface MempoolLimits {
  readonly maxTxs: number;
  readonly maxBytes: number;
  readonly maxTxBytes: number;
  /** Number of hashes of seen transactions to remember. */
  readonly cacheSize: number;
}

export const DEFAULT_MEMPOOL_LIMITS: MempoolLimits = {
  maxTxs: 50_000,
  maxBytes: 64 * 1024 * 1024,
  maxTxBytes: 1024 * 1024,
  cacheSize: 100_000,
};

/** Transactions checked again at once after each block; the others wait until they are needed. */
const RECHECK_AT_ONCE = 1_000;

export interface MempoolTx {
  readonly tx: Uint8Array;
  readonly hash: Uint8Array;
}

export interface CheckedTx extends MempoolTx {
  readonly result: CheckTxResult;
}

interface Entry extends MempoolTx {
  readonly key: string;
  readonly gasWanted: bigint;
  readonly sender: string;
  /** Commits seen when the transaction was last checked. */
  checkedAt: number;
}

export interface ReapLimits {
  readonly maxTxs: number;
  readonly maxBytes: number;
  /** Negative = no limit. */
  readonly maxGas: bigint;
}

/**
 * Transactions that wait for a block, first come first served.
 *
 * After a commit the application checks against the new state, so what still waits must be checked again, in order:
 * some at once, each other one before it goes into a block or before a later transaction of its sender is refused.
 */
export class Mempool {
  readonly #app: Pick<Application, "checkTx">;
  readonly #limits: MempoolLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #bySender = new Map<string, Set<Entry>>();
  readonly #seen: SeenHashes;
  #bytes = 0;
  #commits = 0;

  constructor(app: Pick<Application, "checkTx">, limits: MempoolLimits = DEFAULT_MEMPOOL_LIMITS) {
    this.#app = app;
    this.#limits = limits;
    this.#seen = new SeenHashes(limits.cacheSize);
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The first `limit` waiting transactions. */
  list(limit: number): Uint8Array[] {
    return take(this.#entries.values(), limit).map(({ tx }) => tx);
  }

  /**
   * Lets the application check a transaction, and keeps it when the code is 0. Throws when it is already known, too
   * large, or when there is no room; clients recognise the texts.
   */
  add(tx: Uint8Array): CheckedTx {
    const hash = txHash(tx);
    const key = toHexUpper(hash);
    this.#checkRoom(tx);
    if (this.#seen.has(key) || this.#entries.has(key)) throw new SvcError("sdk", 19, "tx already exists in cache");
    const result = this.#check(tx);
    if (result.code === 0)
      this.#insert({ tx, hash, key, gasWanted: result.gasWanted, sender: result.sender, checkedAt: this.#commits });
    return { tx, hash, result };
  }

  /** The next transactions for a block, still valid, within all limits. */
  reap(limits: ReapLimits): MempoolTx[] {
    const taken: MempoolTx[] = [];
    let bytes = 0;
    let gas = 0n;
    for (const entry of this.#entries.values()) {
      if (taken.length >= limits.maxTxs) break;
      const size = entry.tx.length + TX_OVERHEAD;
      if (bytes + size > limits.maxBytes) break;
      if (limits.maxGas >= 0n && gas + entry.gasWanted > limits.maxGas) break;
      if (!this.#stillValid(entry)) continue;
      bytes += size;
      gas += entry.gasWanted;
      taken.push(entry);
    }
    return taken;
  }

  /** Forgets a block's transactions; those that failed may be sent again. */
  committed(hashes: readonly Uint8Array[], results: readonly TxResult[]): void {
    this.#commits += 1;
    for (const [i, hash] of hashes.entries()) {
      const key = toHexUpper(hash);
      const entry = this.#entries.get(key);
      if (entry !== undefined) this.#remove(entry);
      if (results[i]?.code === 0) this.#seen.add(key);
      else this.#seen.delete(key);
    }
    for (const entry of take(this.#entries.values(), RECHECK_AT_ONCE)) this.#stillValid(entry);
  }

  #checkRoom(tx: Uint8Array): void {
    const { maxTxs, maxBytes, maxTxBytes } = this.#limits;
    if (tx.length > maxTxBytes) {
      throw new SvcError("sdk", 21, `tx too large. Max size is ${maxTxBytes}, but got ${tx.length}`);
    }
    if (this.#entries.size < maxTxs && this.#bytes + tx.length <= maxBytes) return;
    const now = `number of txs ${this.#entries.size} (max: ${maxTxs}), total txs bytes ${this.#bytes} (max: ${maxBytes})`;
    throw new SvcError("sdk", 20, `mempool is full: ${now}`);
  }

  /** A sender's later transaction may be refused only because its earlier ones were not checked again yet. */
  #check(tx: Uint8Array): CheckTxResult {
    const result = this.#app.checkTx({ tx, kind: "new" });
    if (result.code === 0) return result;
    const stale = [...(this.#bySender.get(result.sender) ?? [])].filter(({ checkedAt }) => checkedAt < this.#commits);
    if (stale.length === 0) return result;
    for (const entry of stale) this.#stillValid(entry);
    return this.#app.checkTx({ tx, kind: "new" });
  }

  #stillValid(entry: Entry): boolean {
    if (entry.checkedAt === this.#commits) return true;
    entry.checkedAt = this.#commits;
    if (this.#app.checkTx({ tx: entry.tx, kind: "recheck" }).code === 0) return true;
    this.#remove(entry);
    this.#seen.delete(entry.key);
    return false;
  }

  #insert(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    this.#bytes += entry.tx.length;
    this.#seen.add(entry.key);
    const known = this.#bySender.get(entry.sender);
    if (known === undefined) this.#bySender.set(entry.sender, new Set([entry]));
    else known.add(entry);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.key);
    this.#bytes -= entry.tx.length;
    const known = this.#bySender.get(entry.sender);
    known?.delete(entry);
    if (known?.size === 0) this.#bySender.delete(entry.sender);
  }
}

/** Tag and length of a transaction in the block's data. */
export const TX_OVERHEAD = 5;

/** The hashes seen last. */
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

function take<T>(values: Iterable<T>, limit: number): T[] {
  const taken: T[] = [];
  if (limit <= 0) return taken;
  for (const value of values) {
    taken.push(value);
    if (taken.length >= limit) break;
  }
  return taken;
}
