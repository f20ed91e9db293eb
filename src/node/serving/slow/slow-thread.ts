import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import { StatusError } from "../../../runtime/index.ts";
import { sdkErrors } from "../../../util/index.ts";
import { RpcError } from "../../rpc/calls/errors.ts";
import type { MethodCall } from "../../rpc/calls/method.ts";
import { type LogLine, THREAD_WORD, type ThreadData } from "../entry.ts";
import {
  MAX_SLOW_WAITING,
  SLOW,
  SLOW_GRACE_MS,
  SLOW_IDLE_MS,
  SLOW_START_MS,
  SLOW_WAIT_MS,
  THREAD_HEAP_MB,
} from "../limits.ts";

/** A request to the thread for slow queries, one at a time. */
export type SlowJob = { readonly query: AppQuery } | { readonly call: MethodCall };

/** An error of the JSON-RPC on its way between threads. */
export type RpcErrorShape = Pick<RpcError, "code" | "message" | "data">;

export type SlowAnswer =
  | { readonly result: AppQueryResult }
  /** JSON of the result of a method. */
  | { readonly text: string }
  | { readonly error: RpcErrorShape };

/** The messages of the thread. */
export type FromSlow =
  | { readonly answer: SlowAnswer }
  | { readonly log: LogLine }
  /** The first message. */
  | "begun";

interface Waiting {
  readonly job: SlowJob;
  readonly since: number;
  readonly resolve: (answer: SlowAnswer) => void;
  readonly reject: (error: Error) => void;
}

export interface SlowThreadParts {
  readonly file: URL;
  readonly data: Omit<ThreadData, "role" | "link">;
  /** Hands the other end of a link to the block thread. */
  connect(port: MessagePort): void;
  log(line: LogLine): void;
}

/**
 * One thread for everything slow: it begins with the first slow query and ends when there has been none for a while. A
 * query that does not finish in time ends with its thread; waiting queries go to the next thread.
 */
export class SlowThread {
  readonly #parts: SlowThreadParts;
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #hasBegun = false;
  /** The job that the thread has. */
  #running: Waiting | undefined;
  #late: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(parts: SlowThreadParts) {
    this.#parts = parts;
  }

  /** The result of a query. Rejects when too many wait. */
  async query(query: AppQuery): Promise<AppQueryResult> {
    const answer = await this.#ask({ query });
    if ("result" in answer) return answer.result;
    throw new Error("the thread for slow queries sent an unexpected answer");
  }

  /** JSON of the result of a method of the JSON-RPC. Rejects with its refusal, and when too many wait. */
  async run(call: MethodCall): Promise<string> {
    const answer = await this.#ask({ call });
    if ("text" in answer) return answer.text;
    if ("error" in answer) throw new RpcError(answer.error.code, answer.error.message, answer.error.data);
    throw new Error("the thread for slow queries sent an unexpected answer");
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#end(new Error("the node is stopping"));
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the node is stopping"));
  }

  #ask(job: SlowJob): Promise<SlowAnswer> {
    if (this.#waiting.length >= MAX_SLOW_WAITING) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, since: performance.now(), resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== undefined) return;
    clearTimeout(this.#idle);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) {
      this.#idle = setTimeout(() => this.#end(new Error("nothing is slow")), SLOW_IDLE_MS).unref();
      return;
    }
    if (performance.now() - waiting.since > SLOW_WAIT_MS) {
      waiting.reject(busy());
      this.#next();
      return;
    }
    this.#worker ??= this.#start();
    this.#running = waiting;
    if (this.#hasBegun) this.#endIn(SLOW.ms + SLOW_GRACE_MS, tooSlow());
    else this.#endIn(SLOW_START_MS, busy());
    this.#worker.postMessage(waiting.job);
  }

  /** Ends the thread if the job has not ended by itself by then. */
  #endIn(ms: number, error: Error): void {
    clearTimeout(this.#late);
    this.#late = setTimeout(() => this.#end(error), ms);
  }

  /** The thread has started, and takes the job that waited for it. On a busy machine its start takes seconds. */
  #begin(): void {
    this.#hasBegun = true;
    if (this.#running !== undefined) this.#endIn(SLOW.ms + SLOW_GRACE_MS, tooSlow());
  }

  #start(): Worker {
    const { file, data, connect, log } = this.#parts;
    const { port1, port2 } = new MessageChannel();
    connect(port2);
    const worker = new Worker(file, {
      argv: [THREAD_WORD],
      workerData: { ...data, role: "slow", link: port1 } satisfies ThreadData,
      transferList: [port1],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    worker.on("message", (message: FromSlow) => {
      if (message !== "begun" && "log" in message) log(message.log);
      else if (this.#worker !== worker) return;
      else if (message === "begun") this.#begin();
      else this.#settle(({ resolve }) => resolve(message.answer));
    });
    // Its end follows.
    worker.on("error", () => {});
    worker.on("exit", () => {
      if (this.#worker === worker) this.#end(tooSlow());
    });
    return worker;
  }

  #settle(tell: (waiting: Waiting) => void): void {
    const running = this.#running;
    this.#running = undefined;
    clearTimeout(this.#late);
    if (running !== undefined) tell(running);
    this.#next();
  }

  /** Ends the thread, and the job that runs in it with this error. */
  #end(error: Error): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#hasBegun = false;
    void worker?.terminate();
    if (this.#running !== undefined) this.#settle(({ reject }) => reject(error));
  }
}

/** The code of a full mempool: the condition passes, and clients that know the code try again. */
function busy(): StatusError {
  const text = "this node has reached its limit of slow queries: try again in a second, or ask for less";
  return new StatusError("ResourceExhausted", sdkErrors.mempoolFull(text), text);
}

/** A query that takes too much is the caller's fault. */
export function tooSlow(reason = `it takes more than ${SLOW.ms} ms`): StatusError {
  const text = `the query was aborted: ${reason}; ask for less`;
  return new StatusError("ResourceExhausted", sdkErrors.invalidRequest(text), text);
}
