import { toHex } from "../util/index.ts";
import type { PreparedTx } from "./tx.ts";

interface Entry {
  readonly tx: PreparedTx;
  /** Signatures of the transaction that were found valid, each with all that its validity depends on. */
  readonly verified: Set<string>;
}

/**
 * Transactions that passed the checks of the mempool: what was decoded and which signatures were verified is not done
 * again when they come in a block. Everything kept follows from the key (the hash of the bytes), so a node with the
 * entry and one without it come to the same result. Bounded by the bytes of the transactions; the oldest leave first.
 */
export class TxCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(hash: Uint8Array): Entry | undefined {
    return this.#entries.get(toHex(hash));
  }

  add(tx: PreparedTx, verified: Set<string>): void {
    const key = toHex(tx.hash);
    if (tx.size > this.#maxBytes || this.#entries.has(key)) return;
    this.#entries.set(key, { tx, verified });
    this.#bytes += tx.size;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest, entry);
    }
  }

  /** Forgets a transaction that has been in a block. */
  delete(hash: Uint8Array): void {
    const key = toHex(hash);
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(key, entry);
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.tx.size;
  }
}
