import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import type { AppReader, PendingState } from "../../../app/index.ts";
import { type ChainSource, chainReader, type EventSource, type Genesis, StatusMemo } from "../../../engine/index.ts";
import type { DatabaseReader } from "../../../store/index.ts";
import type { BlockThread } from "../link/link.ts";
import { type Budget, tablesWithin } from "./budget.ts";

export interface ReadChainParts {
  readonly tables: DatabaseReader;
  readonly app: AppReader;
  readonly genesis: Genesis;
  readonly validator: ChainSource["validator"];
  readonly blockThread: BlockThread;
  readonly events: EventSource;
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
    const { app, blockThread, genesis, validator, events } = this.#parts;
    const tables = tablesWithin(this.#parts.tables, budget);
    const reader = chainReader({ tables, genesis, memo: this.#memo });
    const { blocks, txs } = reader;
    const status = () => budget.run(() => reader.status());
    return {
      genesis,
      validator,
      events,
      status,
      consensus: () => blockThread.consensus(),
      blocks: {
        record: (height) => budget.run(() => blocks.record(height)),
        block: (height) => budget.run(() => blocks.block(height)),
        txs: (height) => budget.run(() => blocks.txs(height)),
        validators: (height) => budget.run(() => blocks.validators(height)),
        consensusParams: (height) => budget.run(() => blocks.consensusParams(height)),
        heightOf: (hash) => budget.run(() => blocks.heightOf(hash)),
        search: (page) => budget.run(() => blocks.search(page)),
      },
      txs: {
        find: (hash) => budget.run(() => txs.find(hash)),
        search: (page) => budget.run(() => txs.search(page)),
      },
      mempool: {
        add: async (tx) => ({ ...(await blockThread.add(tx)), tx }),
        list: (limit) => blockThread.waiting(limit),
        size: () => blockThread.mempoolSize(),
      },
      app: {
        info: () => budget.run(() => app.info(tables, status().latest?.appHash ?? new Uint8Array())),
        checkTx: (request) => blockThread.checkTx(request),
        query: async (query) => (isProof(query) ? blockThread.query(query) : this.#query(query, tables, budget)),
      },
    };
  }

  async #query(query: AppQuery, tables: ReturnType<typeof tablesWithin>, budget: Budget): Promise<AppQueryResult> {
    const { app } = this.#parts;
    const signers = budget.run(() => app.signersOf(query));
    const pending = signers.length === 0 ? undefined : await this.#pendingOf(signers);
    const work = { checkTime: () => budget.checkTime(), ...(pending === undefined ? {} : { pending }) };
    return budget.run(() => app.query(tables, query, work));
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
