import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import type { AppReader, PendingState } from "../../../app/index.ts";
import {
  type Awaitable,
  type BlockSource,
  type ChainReader,
  type ChainSource,
  type ChainStatus,
  chainReader,
  type EventSource,
  type Genesis,
  StatusMemo,
  type TxSource,
} from "../../../engine/index.ts";
import type { Database, DatabaseReader } from "../../../store/index.ts";
import type { BlockThread } from "../link/link.ts";
import { type Budget, tablesWithin } from "./budget.ts";

export interface ReadChainParts {
  readonly tables: DatabaseReader;
  readonly app: AppReader;
  readonly genesis: Genesis;
  readonly validator: ChainSource["validator"];
  readonly blockThread: BlockThread;
  readonly events: EventSource;
  readonly engine: ChainStatus["engine"];
}

/** How often the pending transactions are asked for when blocks come in between. */
const PENDING_TRIES = 3;

/**
 * The chain of another thread: tables are read here, within the budget of a request; everything else is asked of the
 * thread that makes the blocks.
 */
export class ReadChain {
  readonly #parts: ReadChainParts;
  readonly #memo = new StatusMemo();

  constructor(parts: ReadChainParts) {
    this.#parts = parts;
  }

  within(budget: Budget): ChainSource {
    return new ChainWithin(this.#parts, this.#memo, budget);
  }
}

/** Each request has one of its own, and most need little of it: its parts are made when they are asked for. */
class ChainWithin implements ChainSource {
  readonly #parts: ReadChainParts;
  readonly #memo: StatusMemo;
  readonly #budget: Budget;
  readonly #tables: Pick<Database, "table">;
  #made: ChainReader | undefined;

  constructor(parts: ReadChainParts, memo: StatusMemo, budget: Budget) {
    this.#parts = parts;
    this.#memo = memo;
    this.#budget = budget;
    this.#tables = tablesWithin(parts.tables, budget);
  }

  get genesis(): Genesis {
    return this.#parts.genesis;
  }

  get validator(): ChainSource["validator"] {
    return this.#parts.validator;
  }

  get events(): EventSource {
    return this.#parts.events;
  }

  status(): ChainStatus {
    return this.#budget.run(() => this.#reader.status());
  }

  consensus(): ReturnType<ChainSource["consensus"]> {
    return this.#parts.blockThread.consensus();
  }

  get ask(): ChainSource["ask"] {
    const { engine, blockThread } = this.#parts;
    return engine === "cometbft" ? (method, params) => blockThread.ask(method, params) : undefined;
  }

  get blocks(): BlockSource {
    const budget = this.#budget;
    const { blocks } = this.#reader;
    return {
      record: (height) => budget.run(() => blocks.record(height)),
      block: (height) => budget.run(() => blocks.block(height)),
      txs: (height) => budget.run(() => blocks.txs(height)),
      validators: (height) => budget.run(() => blocks.validators(height)),
      consensusParams: (height) => budget.run(() => blocks.consensusParams(height)),
      heightOf: (hash) => budget.run(() => blocks.heightOf(hash)),
      search: (page) => budget.run(() => blocks.search(page)),
    };
  }

  get txs(): TxSource {
    const budget = this.#budget;
    const { txs } = this.#reader;
    return {
      find: (hash) => budget.run(() => txs.find(hash)),
      search: (page) => budget.run(() => txs.search(page)),
    };
  }

  get mempool(): ChainSource["mempool"] {
    const { blockThread } = this.#parts;
    return {
      add: async (tx) => ({ ...(await blockThread.add(tx)), tx }),
      list: (limit) => blockThread.waiting(limit),
      size: () => blockThread.mempoolSize(),
    };
  }

  get app(): ChainSource["app"] {
    const { app, blockThread } = this.#parts;
    return {
      info: () => {
        const { height, latest } = this.status();
        const info = this.#budget.run(() => app.info(this.#tables, latest?.appHash ?? new Uint8Array()));
        return { ...info, lastBlockHeight: height };
      },
      checkTx: (request) => blockThread.checkTx(request),
      query: (query) => this.#query(query),
    };
  }

  get #reader(): ChainReader {
    const { genesis, engine } = this.#parts;
    this.#made ??= chainReader({ tables: this.#tables, genesis, memo: this.#memo, engine });
    return this.#made;
  }

  #query(query: AppQuery): Awaitable<AppQueryResult> {
    const { app, blockThread } = this.#parts;
    if (isProof(query)) return blockThread.query(query);
    if (app.isSimulation(query)) return this.#simulate(query);
    return this.#budget.run(() => app.query(this.#tables, query, this.#budget));
  }

  async #simulate(query: AppQuery): Promise<AppQueryResult> {
    const { app } = this.#parts;
    const budget = this.#budget;
    const signers = budget.run(() => app.signersOf(query));
    const pending = signers.length === 0 ? undefined : await this.#pendingOf(signers);
    const work = { checkTime: () => budget.checkTime(), ...(pending === undefined ? {} : { pending }) };
    return budget.run(() => app.query(this.#tables, query, work));
  }

  /** Pending transactions on top of the state that is read here: one that waited may be in a block by now. */
  async #pendingOf(signers: readonly Uint8Array[]): Promise<PendingState> {
    const { blockThread, tables, app } = this.#parts;
    for (let tries = 1; ; tries++) {
      const pending = await blockThread.pending(signers);
      tables.refresh();
      if (tries === PENDING_TRIES || app.height(tables) === pending.height) return pending;
    }
  }
}

/** Only the tree of the state can prove its contents. */
function isProof({ path, prove }: AppQuery): boolean {
  return prove && path.startsWith("/store/");
}
