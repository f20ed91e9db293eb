import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import type { ChainSource } from "../../../engine/index.ts";
import { GivenUp } from "../../../runtime/index.ts";
import { SvcError } from "../../../util/index.ts";
import { Service } from "../../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { methodPath, toNamespace } from "../../../wire/index.ts";
import { Dispatcher, type DispatcherOptions, refusedQuery, spellings } from "../../dispatch.ts";
import { runMethod } from "../../rpc/calls/jsonrpc.ts";
import type { GenesisSource, RunMethod } from "../../rpc/calls/method.ts";
import { RPC_METHODS } from "../../rpc/methods/index.ts";
import { QUICK, QUICK_REQUEST_BYTES, TRIES } from "../limits.ts";
import { Budget } from "../reading/budget.ts";
import type { ReadChain } from "../reading/chain.ts";
import type { ServingDesk } from "../servers/index.ts";
import type { SlowThread } from "./slow-thread.ts";

/** Methods that read much, or turn it into long texts; a method that asks the application is divided there. */
const MAY_BE_SLOW: ReadonlySet<string> = new Set([
  "block",
  "block_by_hash",
  "block_results",
  "block_search",
  "blockchain",
  "genesis",
  "genesis_chunked",
  "tx",
  "tx_search",
]);

/** It runs only once: a second run would find its changes already made. */
const BROADCAST: ReadonlySet<string> = new Set(spellings(methodPath(Service.method.broadcastTx)));

export interface DeskParts {
  readonly chain: Pick<ReadChain, "within">;
  /** The same without a budget. */
  readonly whole: ChainSource;
  readonly slow: Pick<SlowThread, "query" | "run">;
}

/** Gives a request a little time of the serving thread, and hands it to the other thread if that is not enough. */
export class Desk implements ServingDesk {
  readonly #parts: DeskParts;
  readonly #tries: Tries;

  constructor(parts: DeskParts, now: () => number = () => performance.now()) {
    this.#parts = parts;
    this.#tries = new Tries(now);
  }

  /** Tries work of some kind within a small budget; work that does not finish within it is done by `slowly`. */
  async tryFirst<T>(kind: string, work: (budget: Budget) => Promise<T>, slowly: () => Promise<T>): Promise<T> {
    if (!this.#tries.mayTry(kind)) return await slowly();
    const budget = new Budget(QUICK);
    try {
      return await work(budget);
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
      this.#tries.count(kind, budget.usedMs);
      return await slowly();
    }
  }

  /** Runs a method of the JSON-RPC; its queries of the application have budgets of their own. */
  readonly run: RunMethod = (call, env) => {
    const { chain, slow } = this.#parts;
    if (!MAY_BE_SLOW.has(call.method)) return runMethod(env, call, RPC_METHODS);
    return this.tryFirst(
      call.method,
      (budget) => {
        const genesis = genesisWithin(env.genesis, budget);
        return runMethod({ ...env, chain: chain.within(budget), genesis }, call, RPC_METHODS);
      },
      () => slow.run(call),
    );
  };

  /** The dispatcher of all servers. */
  dispatcher(options: Omit<DispatcherOptions, "chain">): Dispatcher {
    return new DeskDispatcher(this, this.#parts, options);
  }
}

/** A genesis file whose reading is given up before it exceeds the budget. */
function genesisWithin(file: GenesisSource, budget: Budget): GenesisSource {
  return {
    size: () => file.size(),
    read: (start, length) => {
      budget.take(Math.max(0, Math.min(length, file.size() - start)));
      return file.read(start, length);
    },
  };
}

class DeskDispatcher extends Dispatcher {
  readonly #desk: Desk;
  readonly #parts: DeskParts;

  constructor(desk: Desk, parts: DeskParts, options: Omit<DispatcherOptions, "chain">) {
    super({ ...options, chain: parts.whole });
    this.#desk = desk;
    this.#parts = parts;
  }

  override async query(query: AppQuery): Promise<AppQueryResult> {
    try {
      return await this.#answer(query);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return refusedQuery(error, 0n);
    }
  }

  #answer(query: AppQuery): Promise<AppQueryResult> {
    const { chain, slow } = this.#parts;
    if (BROADCAST.has(query.path)) return super.query(query, this.#parts.whole);
    const slowly = () => slow.query(query);
    if (query.data.length > QUICK_REQUEST_BYTES) return slowly();
    return this.#desk.tryFirst(query.path, (budget) => super.query(query, chain.within(budget)), slowly);
  }
}

/** Failed tries of one kind get a share of the thread's time; other kinds are not affected. */
class Tries {
  readonly #now: () => number;
  readonly #kinds = new Map<string, { saved: number; seen: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  mayTry(kind: string): boolean {
    // Most of the time there is none: then a kind need not be looked up.
    const known = this.#kinds.size === 0 ? undefined : this.#kinds.get(spelt(kind));
    if (known === undefined) return true;
    const now = this.#now();
    known.saved = Math.min(TRIES.savedMs, known.saved + (now - known.seen) * TRIES.share);
    known.seen = now;
    return known.saved > 0;
  }

  count(kind: string, ms: number): void {
    const known = this.#kinds.get(spelt(kind)) ?? { saved: TRIES.savedMs, seen: this.#now() };
    this.#kinds.set(spelt(kind), known);
    known.saved -= ms;
  }
}

/** Both spellings of a path are one kind. */
function spelt(kind: string): string {
  return toNamespace(kind, "sdk");
}
