import type { MessagePort } from "node:worker_threads";
import type { AppQuery, AppQueryResult, CheckTx, CheckTxResult } from "../../../abci/index.ts";
import type { PendingState } from "../../../app/index.ts";
import type { AskEngine, Awaitable, CheckedTx, ConsensusRound } from "../../../engine/index.ts";
import { append, errorText, SvcError } from "../../../util/index.ts";
import { CALLS_SLICE_MS } from "../limits.ts";

/** The result of adding a transaction to the mempool; its bytes need not come back. */
export type Accepted = Omit<CheckedTx, "tx">;

/** Requests that only the block-making thread can answer: it alone has the mempool and the tree of the state. */
export interface BlockThread {
  add(tx: Uint8Array): Awaitable<Accepted>;
  waiting(limit: number): Awaitable<readonly Uint8Array[]>;
  mempoolSize(): Awaitable<{ readonly txs: number; readonly bytes: number }>;
  checkTx(request: CheckTx): Awaitable<CheckTxResult>;
  /** Queries with a proof. */
  query(query: AppQuery): Awaitable<AppQueryResult>;
  consensus(): Awaitable<ConsensusRound>;
  /** Asks an engine beside the node. */
  ask: AskEngine;
  /** Changes of waiting transactions to some accounts. */
  pending(addresses: readonly Uint8Array[]): Awaitable<PendingState>;
}

export type CallName = keyof BlockThread;

/** One call on its way to the block thread. */
export interface CallMessage {
  readonly id: number;
  readonly name: CallName;
  readonly args: readonly unknown[];
}

export interface AnswerMessage {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: ErrorShape;
}

/**
 * The messages of the block thread: answers, and each block when it is durable, in the order in which they occurred.
 */
export type LinkMessage =
  | { readonly answers: readonly AnswerMessage[] }
  /** Height of the last block. */
  | { readonly height: bigint };

type AnyCall = (...args: readonly unknown[]) => unknown;

/** The end of a link in the block thread. Calls are answered in slices of time, with room for blocks between them. */
export class LinkServer {
  readonly #port: MessagePort;
  readonly #calls: Readonly<Record<CallName, AnyCall>>;
  readonly #waiting: CallMessage[] = [];
  /** Answers of this turn of the event loop to calls of earlier ones. */
  #later: AnswerMessage[] = [];
  #isAnswering = false;
  #isClosed = false;

  constructor(port: MessagePort, blockThread: BlockThread) {
    this.#port = port;
    // Messages on the port come from `BlockThreadCalls`, which uses the same types.
    this.#calls = blockThread as unknown as Readonly<Record<CallName, AnyCall>>;
    port.on("message", (calls: readonly CallMessage[]) => this.#take(calls));
    port.on("close", () => {
      this.#isClosed = true;
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Informs the other end of a block. */
  tell(height: bigint): void {
    this.#sendLater();
    this.#send({ height });
  }

  close(): void {
    this.#isClosed = true;
    this.#port.close();
  }

  #take(calls: readonly CallMessage[]): void {
    append(this.#waiting, calls);
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    setImmediate(() => this.#answerSome());
  }

  #answerSome(): void {
    const end = performance.now() + CALLS_SLICE_MS;
    const answers: AnswerMessage[] = [];
    let done = 0;
    for (const call of this.#waiting) {
      if (this.#isClosed || (done > 0 && performance.now() >= end)) break;
      done += 1;
      const answer = this.#answer(call);
      if (answer !== undefined) answers.push(answer);
    }
    this.#waiting.splice(0, this.#isClosed ? this.#waiting.length : done);
    if (answers.length > 0) this.#send({ answers });
    this.#isAnswering = this.#waiting.length > 0;
    if (this.#isAnswering) setImmediate(() => this.#answerSome());
  }

  /** Undefined when the answer comes later. */
  #answer({ id, name, args }: CallMessage): AnswerMessage | undefined {
    try {
      const value = this.#calls[name](...args);
      if (!(value instanceof Promise)) return { id, value };
      value.then(
        (later) => this.#answerLater({ id, value: later }),
        (error) => this.#answerLater({ id, error: errorShape(error) }),
      );
      return undefined;
    } catch (error) {
      return { id, error: errorShape(error) };
    }
  }

  /** An engine answers many calls at once; they share a message. */
  #answerLater(answer: AnswerMessage): void {
    if (this.#later.length === 0) setImmediate(() => this.#sendLater());
    this.#later.push(answer);
  }

  #sendLater(): void {
    if (this.#later.length === 0) return;
    const answers = this.#later;
    this.#later = [];
    this.#send({ answers });
  }

  #send(message: LinkMessage): void {
    if (!this.#isClosed) this.#port.postMessage(message);
  }
}

/** An error on its way between threads. */
export interface ErrorShape {
  readonly svc: { readonly codespace: string; readonly code: number } | undefined;
  readonly message: string;
  readonly hint: string | undefined;
}

export function errorShape(error: unknown): ErrorShape {
  if (!(error instanceof SvcError)) return { svc: undefined, message: errorText(error), hint: undefined };
  const { codespace, code, message, hint } = error;
  return { svc: { codespace, code }, message, hint };
}

export function errorOf({ svc, message, hint }: ErrorShape): Error {
  if (svc === undefined) return new Error(message);
  return new SvcError(svc.codespace, svc.code, message, hint === undefined ? {} : { hint });
}
