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

/** Limits of an engine's mempool. */
export interface MempoolRoom {
  readonly maxTxs: number;
  readonly maxBytes: number;
}

/** Resolves with the answers to the calls, which a client waits for since that time. */
type Ask = (calls: readonly EngineCall[], since: number) => Promise<unknown>;

interface Waiting {
  readonly tx: Uint8Array;
  /** Time of its arrival. */
  readonly at: number;
  readonly resolve: (answer: EngineJson) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hands transactions to an engine in batches. The engine holds checks back for 20 ms unless a `check_tx` sends them on, so each batch
 * ends with a `check_tx`. When that is answered, the transactions before it are checked, and the good ones wait for a block.
 *
 * An engine drops a good transaction without a word if its mempool became full between the call and the check. So a batch is no larger
 * than the room that is left for certain, and the mempool is counted when that is used up.
 */
export class Broadcasts {
  readonly #ask: Ask;
  /** Most transactions of a batch: another call ends it. */
  readonly #maxTxs: number;
  readonly #room: MempoolRoom;
  #waiting: Waiting[] = [];
  #underWay = 0;
  /** The mempool holds no more than this, batches under way included. */
  #held = { txs: 0, bytes: 0 };
  /** Whether nothing was handed over since the mempool was counted. */
  #isCounted = false;

  /** Without a room the limits of the mempool are unknown. */
  constructor(ask: Ask, maxCalls: number, room: MempoolRoom = NO_LIMITS) {
    this.#ask = ask;
    this.#maxTxs = maxCalls - 1;
    this.#room = room;
  }

  /** Resolves with the answer of the engine's mempool. */
  add(tx: Uint8Array): Promise<EngineJson> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tx, at: performance.now(), resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#next());
    });
  }

  /** The application has found a transaction good, from whomever it came. */
  checked({ length }: Uint8Array): void {
    this.#hold(1, length);
  }

  #hold(txs: number, bytes: number): void {
    this.#held.txs += txs;
    this.#held.bytes += bytes;
  }

  #next(): void {
    while (this.#underWay < MAX_BATCHES && this.#waiting.length > 0) {
      const batch = this.#take();
      if (batch.length > 0) this.#start(() => this.#send(batch));
      else if (this.#underWay === 0) this.#start(() => this.#count());
      else return;
    }
  }

  #start(work: () => Promise<void>): void {
    this.#underWay += 1;
    void work().finally(() => {
      this.#underWay -= 1;
      this.#next();
    });
  }

  /** The next batch, empty where the mempool may be full. A mempool that was counted decides about one transaction itself. */
  #take(): readonly Waiting[] {
    const txs = Math.min(this.#maxTxs, this.#room.maxTxs - this.#held.txs);
    const room = this.#room.maxBytes - this.#held.bytes;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ tx }, i) => {
      bytes += tx.length;
      if (i === 0) return !this.#isCounted && (txs < 1 || bytes > room);
      return i >= txs || bytes > Math.min(BATCH_BYTES, room);
    });
    if (end !== 0) this.#isCounted = false;
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const calls = batch.map(({ tx }, id) => call(id, "broadcast_tx_async", tx));
    const bytes = batch.reduce((sum, { tx }) => sum + tx.length, 0);
    this.#hold(batch.length, bytes);
    try {
      const last = call(batch.length, "check_tx", new Uint8Array(0));
      const answers = await this.#ask([...calls, last], batch[0]?.at ?? 0);
      for (const [id, { resolve }] of batch.entries()) resolve(answerOf(answers, id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.#hold(-batch.length, -bytes);
    }
  }

  /** Counts the mempool. A full one refuses all that wait, in the engine's words. */
  async #count(): Promise<void> {
    const { txs: txsBefore, bytes: bytesBefore } = this.#held;
    try {
      const calls = [{ id: 0, method: "num_unconfirmed_txs", params: {} }];
      const { result = {} } = answerOf(await this.#ask(calls, this.#waiting[0]?.at ?? 0), 0);
      const { total, total_bytes } = Object(result);
      const [txs, bytes] = [Number(total), Number(total_bytes)];
      if (!Number.isSafeInteger(txs + bytes)) throw new Error("the engine's answer has another form");
      this.#held = { txs: txs + this.#held.txs - txsBefore, bytes: bytes + this.#held.bytes - bytesBefore };
      const { maxTxs, maxBytes } = this.#room;
      this.#isCounted = txs < maxTxs;
      if (this.#isCounted) return;
      const words = `mempool is full: number of txs ${txs} (max: ${maxTxs}), total txs bytes ${bytes} (max: ${maxBytes})`;
      for (const { resolve } of this.#waiting.splice(0)) resolve({ error: { message: words } });
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    }
  }
}

const NO_LIMITS: MempoolRoom = { maxTxs: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

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
