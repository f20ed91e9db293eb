import type { EngineJson } from "../source.ts";

/** Calls that an engine takes in a batch by default, and that a child of the node takes. */
export const BATCH_CALLS = { default: 10, child: 100 } as const;
/** Bytes of the transactions of a batch; a longer one goes alone. */
export const BATCH_BYTES = 256 * 1024;
/** Batches under way; transactions that come meanwhile share the next ones. */
const MAX_BATCHES = 2;

/** A call with its place in a batch. */
export interface EngineCall {
  readonly id: number;
  readonly method: string;
  readonly params: EngineJson;
}

interface Waiting {
  readonly tx: Uint8Array;
  readonly resolve: (answer: EngineJson) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hands transactions to an engine in batches. The engine holds checks back for 20 ms unless a `check_tx` sends them on, so each batch
 * ends with a `check_tx`. When that is answered, the transactions before it are checked, and the good ones wait for a block.
 */
export class Broadcasts {
  readonly #ask: (calls: readonly EngineCall[]) => Promise<unknown>;
  /** Most transactions of a batch: another call ends it. */
  readonly #maxTxs: number;
  #waiting: Waiting[] = [];
  #underWay = 0;

  /** `ask` resolves with the answers of a batch. */
  constructor(ask: (calls: readonly EngineCall[]) => Promise<unknown>, maxCalls: number) {
    this.#ask = ask;
    this.#maxTxs = maxCalls - 1;
  }

  /** Resolves with the answer of the engine's mempool. */
  add(tx: Uint8Array): Promise<EngineJson> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tx, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  #next(): void {
    while (this.#underWay < MAX_BATCHES && this.#waiting.length > 0) {
      this.#underWay += 1;
      void this.#send(this.#take()).finally(() => {
        this.#underWay -= 1;
        this.#next();
      });
    }
  }

  #take(): readonly Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ tx }, i) => {
      bytes += tx.length;
      return i > 0 && (i >= this.#maxTxs || bytes > BATCH_BYTES);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const calls = batch.map(({ tx }, id) => call(id, "broadcast_tx_async", tx));
    try {
      const answers = await this.#ask([...calls, call(batch.length, "check_tx", new Uint8Array(0))]);
      for (const [id, { resolve }] of batch.entries()) resolve(answerOf(answers, id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

function call(id: number, method: string, tx: Uint8Array): EngineCall {
  return { id, method, params: { tx: Buffer.from(tx).toString("base64") } };
}

/** The answer to one call of a batch; a batch that is refused as a whole has one answer. */
function answerOf(answers: unknown, id: number): EngineJson {
  const found: unknown = Array.isArray(answers) ? answers.find((each) => each?.id === id) : answers;
  if (typeof found !== "object" || found === null)
    return { error: { message: "the engine's answer has another form" } };
  return Object.fromEntries(Object.entries(found));
}
