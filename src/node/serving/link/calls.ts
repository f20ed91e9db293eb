import type { MessagePort } from "node:worker_threads";
import type { AppQuery, AppQueryResult, CheckTx, CheckTxResult } from "../../../abci/index.ts";
import type { PendingState } from "../../../app/index.ts";
import type { ConsensusRound, EngineJson, EngineMethod } from "../../../engine/index.ts";
import { sdkErrors } from "../../../util/index.ts";
import { MAX_CALL_BYTES, MAX_CALLS } from "../limits.ts";
import {
  type Accepted,
  type AnswerMessage,
  type BlockThread,
  type CallMessage,
  type CallName,
  errorOf,
  type LinkMessage,
} from "./link.ts";

interface Waiting {
  readonly bytes: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The end of a link in another thread: calls to the block thread, one message for all calls of one turn of the event
 * loop.
 */
export class BlockThreadCalls implements BlockThread {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: CallMessage[] = [];
  #lastId = 0;
  #bytes = 0;

  /** `onBlock` runs for every block, after the answers that preceded it. */
  constructor(port: MessagePort, onBlock: (height: bigint) => void) {
    this.#port = port;
    port.on("message", (message: LinkMessage) => {
      if ("height" in message) onBlock(message.height);
      else for (const answer of message.answers) this.#settle(answer);
    });
  }

  add(tx: Uint8Array): Promise<Accepted> {
    // A view of a larger buffer would send the whole buffer.
    return this.#call("add", [Uint8Array.from(tx)], tx.length);
  }

  waiting(limit: number): Promise<readonly Uint8Array[]> {
    return this.#call("waiting", [limit]);
  }

  mempoolSize(): Promise<{ readonly txs: number; readonly bytes: number }> {
    return this.#call("mempoolSize", []);
  }

  checkTx(request: CheckTx): Promise<CheckTxResult> {
    return this.#call("checkTx", [request], request.tx.length);
  }

  query(query: AppQuery): Promise<AppQueryResult> {
    return this.#call("query", [query], query.data.length);
  }

  consensus(): Promise<ConsensusRound> {
    return this.#call("consensus", []);
  }

  ask(method: EngineMethod, params: EngineJson): Promise<EngineJson> {
    return this.#call("ask", [method, params]);
  }

  pending(addresses: readonly Uint8Array[]): Promise<PendingState> {
    return this.#call("pending", [addresses.map((each) => Uint8Array.from(each))]);
  }

  #call<T>(name: CallName, args: readonly unknown[], bytes = 0): Promise<T> {
    if (this.#waiting.size >= MAX_CALLS || this.#bytes + bytes > MAX_CALL_BYTES) {
      const now = `${this.#waiting.size} requests with ${this.#bytes} bytes wait to be checked`;
      return Promise.reject(sdkErrors.mempoolFull(now));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    this.#bytes += bytes;
    if (this.#unsent.length === 0) setImmediate(() => this.#send());
    this.#unsent.push({ id, name, args });
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { bytes, resolve, reject });
    });
  }

  #send(): void {
    const calls = this.#unsent;
    this.#unsent = [];
    this.#port.postMessage(calls);
  }

  #settle({ id, value, error }: AnswerMessage): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#bytes -= waiting.bytes;
    if (error !== undefined) waiting.reject(errorOf(error));
    // The block thread answers each call with the type that `BlockThread` gives it.
    else waiting.resolve(value as never);
  }
}
