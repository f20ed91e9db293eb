import type { TxResult } from "../../abci/index.ts";
import type { CommittedBlock, EventSource } from "../../engine/index.ts";
import { type QueryStatus, StatusError } from "../../runtime/index.ts";
import { SvcError, toHex } from "../../util/index.ts";

const MAX_WAITERS = 100;

export interface CommittedTx {
  readonly height: bigint;
  readonly result: TxResult;
}

type Finish = (tx: CommittedTx) => void;

/** Requests that are answered when their transaction is in a block. */
export class CommitWaiters {
  readonly #waiting = new Map<string, Set<Finish>>();
  readonly #stop: () => void;
  #count = 0;

  constructor(events: EventSource) {
    this.#stop = events.listen(
      (block) => this.#tell(block),
      () => this.#count > 0,
    );
  }

  close(): void {
    this.#stop();
  }

  /** Begins to wait; call it before the transaction goes to the mempool. Throws when too many wait. */
  wait(hash: Uint8Array, timeoutMilliseconds: number): { committed: Promise<CommittedTx>; cancel(): void } {
    if (this.#count >= MAX_WAITERS) {
      throw refuse(
        "ResourceExhausted",
        `${MAX_WAITERS} clients are already waiting for a commit; use broadcast_tx_sync and query the transaction`,
      );
    }
    const key = toHex(hash);
    let cancel = (): void => {};
    const committed = new Promise<CommittedTx>((resolve, reject) => {
      const finish = (tx: CommittedTx): void => {
        cancel();
        resolve(tx);
      };
      const timer = setTimeout(() => {
        cancel();
        reject(refuse("DeadlineExceeded", "timed out waiting for tx to be included in a block"));
      }, timeoutMilliseconds);
      cancel = () => {
        clearTimeout(timer);
        this.#remove(key, finish);
      };
      this.#add(key, finish);
    });
    return { committed, cancel: () => cancel() };
  }

  #add(key: string, finish: Finish): void {
    const known = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, known.add(finish));
    this.#count += 1;
  }

  #remove(key: string, finish: Finish): void {
    const known = this.#waiting.get(key);
    if (known?.delete(finish) !== true) return;
    this.#count -= 1;
    if (known.size === 0) this.#waiting.delete(key);
  }

  #tell({ block, txHashes, txResults }: CommittedBlock): void {
    if (this.#count === 0) return;
    for (const [i, hash] of txHashes.entries()) {
      const result = txResults[i];
      if (result === undefined) continue;
      for (const resolve of [...(this.#waiting.get(toHex(hash)) ?? [])])
        resolve({ height: block.header.height, result });
    }
  }
}

function refuse(status: QueryStatus, text: string): StatusError {
  return new StatusError(status, new SvcError("rpc", 1, text));
}
