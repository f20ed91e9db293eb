import type { Claim } from "../../../abci/index.ts";

/** A transaction that waits for a block. */
export interface Entry {
  readonly tx: Uint8Array;
  readonly hash: Uint8Array;
  /** The hash in hex. */
  readonly key: string;
  readonly gasWanted: bigint;
  readonly claim: Claim;
  /** Rises with every new transaction. */
  readonly arrival: number;
}

/** The waiting transactions of one signer, by sequence, without gaps. */
export class Lane {
  readonly account: string;
  readonly #entries = new Map<bigint, Entry>();
  #low = 0n;
  #high = -1n;
  #bytes = 0;
  #floor = 0n;
  #atFloor = 0;

  constructor(account: string) {
    this.account = account;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get lowest(): Entry | undefined {
    return this.#entries.get(this.#low);
  }

  get highest(): Entry | undefined {
    return this.#entries.get(this.#high);
  }

  /** The least gas price of all: the transactions after it come into a block no earlier. */
  get floor(): bigint {
    return this.#floor;
  }

  /** How many transactions pay that price. */
  get atFloor(): number {
    return this.#atFloor;
  }

  at(sequence: bigint): Entry | undefined {
    return this.#entries.get(sequence);
  }

  /** The transactions from the last one backwards, until none is left at the floor. */
  *cheapEnd(): Generator<Entry> {
    let left = this.#atFloor;
    for (let at = this.#high; left > 0; at -= 1n) {
      const entry = this.#entries.get(at);
      if (entry === undefined) return;
      if (entry.claim.gasPrice === this.#floor) left -= 1;
      yield entry;
    }
  }

  /** Adds a transaction after the last, or before the first. */
  add(entry: Entry, sequence: bigint): void {
    if (this.size === 0 || sequence < this.#low) this.#low = sequence;
    if (this.size === 0 || sequence > this.#high) this.#high = sequence;
    this.#entries.set(sequence, entry);
    this.#bytes += entry.tx.length;
    this.#count(entry.claim.gasPrice);
  }

  /** Removes the first or the last transaction. */
  delete(entry: Entry, sequence: bigint): void {
    if (this.#entries.get(sequence) !== entry) return;
    this.#entries.delete(sequence);
    this.#bytes -= entry.tx.length;
    if (sequence === this.#low) this.#low += 1n;
    else if (sequence === this.#high) this.#high -= 1n;
    this.#forget(entry.claim.gasPrice);
  }

  /** Replaces a transaction by another. */
  replace(old: Entry, entry: Entry, sequence: bigint): void {
    if (this.#entries.get(sequence) !== old) return;
    this.#entries.set(sequence, entry);
    this.#bytes += entry.tx.length - old.tx.length;
    this.#count(entry.claim.gasPrice);
    this.#forget(old.claim.gasPrice);
  }

  #count(price: bigint): void {
    if (this.#atFloor > 0 && price > this.#floor) return;
    this.#atFloor = this.#atFloor > 0 && price === this.#floor ? this.#atFloor + 1 : 1;
    this.#floor = price;
  }

  /** Finds the new floor when the last transaction at the old one leaves; a lane has no more entries than its limit. */
  #forget(price: bigint): void {
    if (price !== this.#floor) return;
    this.#atFloor -= 1;
    if (this.#atFloor > 0) return;
    for (const { claim } of this.#entries.values()) this.#count(claim.gasPrice);
  }
}
