import { sha256 } from "../../crypto/index.ts";
import { toHex } from "../../util/index.ts";
import type { PreparedTx } from "../ante/tx.ts";

interface Entry {
  readonly tx: PreparedTx;
  /** Signatures of the transaction that were found valid, each with all that its validity depends on. */
  readonly verified: Set<string>;
}

/**
 * Transactions that passed the mempool's checks, so that decoding and verification are not repeated when a block
 * executes them. Every entry follows from the hash of the bytes, so a node without it reaches the same result. Bounded
 * by the bytes of the transactions; the oldest leave first.
 */
export class TxCache {
  readonly #entries = new Map<string, Entry>();
  /**
   * Hashes of the added transactions: an engine in this process hands over the same bytes again, in its proposal and in
   * its block. Other bytes are not recognized by identity, since a database may reuse a buffer.
   */
  readonly #hashes = new WeakMap<Uint8Array, string>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The name of a transaction here. */
  hashOf(bytes: Uint8Array): string {
    return this.#hashes.get(bytes) ?? toHex(sha256(bytes));
  }

  get(hash: string): Entry | undefined {
    return this.#entries.get(hash);
  }

  add(hash: string, bytes: Uint8Array, entry: Entry): void {
    if (bytes.length > this.#maxBytes || this.#entries.has(hash)) return;
    this.#entries.set(hash, entry);
    this.#hashes.set(bytes, hash);
    this.#bytes += bytes.length;
    for (const [oldest, { tx }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest, tx);
    }
  }

  /** Forgets a transaction that has been in a block. */
  delete(hash: string): void {
    const entry = this.#entries.get(hash);
    if (entry !== undefined) this.#remove(hash, entry.tx);
  }

  #remove(hash: string, { size }: PreparedTx): void {
    this.#entries.delete(hash);
    this.#bytes -= size;
  }
}
