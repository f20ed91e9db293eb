import type { Claim } from "../../../abci/index.ts";
import { Heap } from "./heap.ts";
import { type Entry, Lane } from "./lane.ts";
import { MAX_EVICTED } from "./limits.ts";

/** Room that a transaction needs. */
export interface Need {
  readonly txs: number;
  readonly bytes: number;
}

/** The waiting transactions in the order of blocks: by gas price, then by arrival; within an account by sequence. */
export class WaitingTxs {
  readonly #byKey = new Map<string, Entry>();
  readonly #lanes = new Map<string, Lane>();
  /** The transactions that may come next: none has to come before them. */
  readonly #ready = new Heap<Entry>(isBefore);
  readonly #cheapest = new Heap<Lane>(isCheaper);
  readonly #timeouts = new Heap<Entry>((a, b) => a.claim.timeoutHeight < b.claim.timeoutHeight);
  /** The transactions whose fees are paid by an account that does not sign them. */
  readonly #paidFor = new Map<string, Set<Entry>>();
  #bytes = 0;

  get size(): number {
    return this.#byKey.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  lane(account: string): Lane | undefined {
    return this.#lanes.get(account);
  }

  /** First signers of the transactions whose fees an account pays without signing them. */
  payingFor(account: string): Set<string> {
    const entries = this.#paidFor.get(account) ?? [];
    return new Set([...entries].flatMap(({ claim }) => claim.signers[0]?.account ?? []));
  }

  /** All entries, in no particular order. */
  entries(): IterableIterator<Entry> {
    return this.#byKey.values();
  }

  /** The transaction with the same signers at the same sequences. */
  placeOf({ signers }: Claim): Entry | undefined {
    const [first] = signers;
    const entry = first && this.#lanes.get(first.account)?.at(first.sequence);
    if (entry === undefined || entry.claim.signers.length !== signers.length) return undefined;
    const isSame = signers.every(({ account, sequence }) => this.#lanes.get(account)?.at(sequence) === entry);
    return isSame ? entry : undefined;
  }

  add(entry: Entry): void {
    this.#register(entry);
    for (const { account, sequence } of entry.claim.signers) {
      const lane = this.#laneFor(account);
      lane.add(entry, sequence);
      this.#cheapest.add(lane);
      this.#cheapest.moved(lane);
    }
    if (this.#isReady(entry)) this.#ready.add(entry);
  }

  /** Replaces the transaction with the same signers. */
  replace(old: Entry, entry: Entry): void {
    const wasReady = this.#ready.has(old);
    this.#forget(old);
    this.#register(entry);
    for (const { account, sequence } of entry.claim.signers) {
      const lane = this.#laneFor(account);
      lane.replace(old, entry, sequence);
      this.#cheapest.moved(lane);
    }
    if (wasReady) this.#ready.add(entry);
  }

  /** Removes a transaction that has none before it, or none after it. */
  delete(entry: Entry): void {
    if (this.#byKey.get(entry.key) !== entry) return;
    this.#forget(entry);
    for (const { account, sequence } of entry.claim.signers) this.#leave(account, sequence, entry);
  }

  /** Whether no transaction has to come before this one. */
  isFirst(entry: Entry): boolean {
    return this.#ready.has(entry);
  }

  /** The transactions that cannot come into a block without this one, the last first, and this one at the end. */
  withFollowers(entry: Entry): Entry[] {
    const found = new Set<Entry>();
    this.#follow(entry, found);
    return [...found];
  }

  /** A walk over the transactions in their order. */
  walk(): Walk {
    return new Walk(this.#ready.inOrder(), this.#lanes);
  }

  /** Removes entries that can no longer come into a block of this height; others may follow them. */
  *outdated(height: bigint): Generator<Entry> {
    for (let first = this.#timeouts.first; first !== undefined; first = this.#timeouts.first) {
      if (first.claim.timeoutHeight >= height) return;
      this.#timeouts.delete(first);
      yield first;
    }
  }

  /**
   * The transactions that could make room for one of a gas price: the last ones of the cheapest accounts, and none of
   * the accounts that sign it. Undefined when they are not enough; nothing is removed.
   */
  cheaperThan({ gasPrice, signers }: Claim, need: Need): Entry[] | undefined {
    const own = new Set(signers.map(({ account }) => account));
    const found = new Set<Entry>();
    for (const lane of this.#cheapest.inOrder()) {
      if (lane.floor >= gasPrice) return undefined;
      for (const entry of lane.cheapEnd()) {
        this.#follow(entry, found, MAX_EVICTED);
        if (found.size > MAX_EVICTED) return undefined;
        if (isEnough(found, need)) return touches(found, own) ? undefined : [...found];
      }
    }
    return undefined;
  }

  /** Adds the transactions that follow one, the last first, and then the one itself; ends early beyond `most`. */
  #follow(entry: Entry, found: Set<Entry>, most = Number.POSITIVE_INFINITY): void {
    const path = [entry];
    for (let last = path.at(-1); last !== undefined && found.size <= most; last = path.at(-1)) {
      const behind = found.has(last) ? undefined : this.#behind(last, found);
      if (behind !== undefined) path.push(behind);
      else found.add(path.pop() ?? last);
    }
  }

  /** A transaction that directly follows one in one of its lanes, and is not known yet. */
  #behind({ claim: { signers } }: Entry, known: ReadonlySet<Entry>): Entry | undefined {
    for (const { account, sequence } of signers) {
      const next = this.#lanes.get(account)?.at(sequence + 1n);
      if (next !== undefined && !known.has(next)) return next;
    }
    return undefined;
  }

  #register(entry: Entry): void {
    this.#byKey.set(entry.key, entry);
    this.#bytes += entry.tx.length;
    if (entry.claim.timeoutHeight > 0n) this.#timeouts.add(entry);
    const { allowance, payer } = entry.claim;
    if (allowance !== undefined) this.#paidFor.set(payer, (this.#paidFor.get(payer) ?? new Set()).add(entry));
  }

  #forget(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#bytes -= entry.tx.length;
    this.#timeouts.delete(entry);
    const { payer } = entry.claim;
    const paidFor = this.#paidFor.get(payer);
    if (paidFor?.delete(entry) === true && paidFor.size === 0) this.#paidFor.delete(payer);
    this.#ready.delete(entry);
  }

  #leave(account: string, sequence: bigint, entry: Entry): void {
    const lane = this.#lanes.get(account);
    if (lane === undefined) return;
    lane.delete(entry, sequence);
    const { lowest } = lane;
    if (lowest === undefined) {
      this.#lanes.delete(account);
      this.#cheapest.delete(lane);
      return;
    }
    this.#cheapest.moved(lane);
    if (this.#isReady(lowest)) this.#ready.add(lowest);
  }

  #laneFor(account: string): Lane {
    let lane = this.#lanes.get(account);
    if (lane === undefined) {
      lane = new Lane(account);
      this.#lanes.set(account, lane);
    }
    return lane;
  }

  #isReady(entry: Entry): boolean {
    return entry.claim.signers.every(({ account }) => this.#lanes.get(account)?.lowest === entry);
  }
}

/** Goes through waiting transactions in their order; the followers of one come only after it was taken. */
export class Walk {
  readonly #ready: Iterator<Entry>;
  readonly #lanes: ReadonlyMap<string, Lane>;
  /** Followers of taken transactions. */
  readonly #freed = new Heap<Entry>(isBefore);
  /** By account, the next sequence after the taken transactions. */
  readonly #next = new Map<string, bigint>();
  #peeked: Entry | undefined;

  constructor(ready: Iterator<Entry>, lanes: ReadonlyMap<string, Lane>) {
    this.#ready = ready;
    this.#lanes = lanes;
    this.#peeked = this.#pull();
  }

  next(): Entry | undefined {
    const { first } = this.#freed;
    const ready = this.#peeked;
    if (first !== undefined && (ready === undefined || isBefore(first, ready))) return this.#freed.take();
    this.#peeked = this.#pull();
    return ready;
  }

  /** The followers of this one may come now. */
  take({ claim: { signers } }: Entry): void {
    for (const { account, sequence } of signers) this.#next.set(account, sequence + 1n);
    for (const { account, sequence } of signers) {
      const follower = this.#lanes.get(account)?.at(sequence + 1n);
      if (follower !== undefined && this.#isFree(follower)) this.#freed.add(follower);
    }
  }

  #pull(): Entry | undefined {
    const { done, value } = this.#ready.next();
    return done === true ? undefined : value;
  }

  #isFree({ claim: { signers } }: Entry): boolean {
    return signers.every(({ account, sequence }) => {
      const lane = this.#lanes.get(account);
      return this.#next.get(account) === sequence || (lane?.lowest !== undefined && lane.lowest === lane.at(sequence));
    });
  }
}

function isEnough(entries: ReadonlySet<Entry>, need: Need): boolean {
  if (entries.size < need.txs) return false;
  let bytes = 0;
  for (const { tx } of entries) bytes += tx.length;
  return bytes >= need.bytes;
}

function touches(entries: ReadonlySet<Entry>, accounts: ReadonlySet<string>): boolean {
  return [...entries].some(({ claim }) => claim.signers.some(({ account }) => accounts.has(account)));
}

function isBefore(a: Entry, b: Entry): boolean {
  if (a.claim.gasPrice !== b.claim.gasPrice) return a.claim.gasPrice > b.claim.gasPrice;
  return a.arrival < b.arrival;
}

/** At equal prices, the lane whose last transaction came later is cheaper. */
function isCheaper(a: Lane, b: Lane): boolean {
  if (a.floor !== b.floor) return a.floor < b.floor;
  return (a.highest?.arrival ?? 0) > (b.highest?.arrival ?? 0);
}
