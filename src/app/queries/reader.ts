import type { AppInfo, AppQuery, AppQueryResult, Claimed } from "../../abci/index.ts";
import { type BlockInfo, type BlockProblem, Router, TxRunner } from "../../runtime/index.ts";
import {
  CacheMultiStore,
  type Database,
  HISTORY_TABLES,
  type KVReader,
  type MultiReader,
  stateTable,
} from "../../store/index.ts";
import { readLastBlock, UNHASHED_TABLE } from "../lastblock.ts";
import { type ModuleSet, storeNames } from "../module-set.ts";
import { pastStates } from "./past.ts";
import { answerQuery } from "./query.ts";
import { isSimulation, simulatedSigners, simulation } from "./simulate.ts";

type Tables = Pick<Database, "table">;

interface Simulated {
  readonly state: MultiReader;
  readonly block: BlockInfo;
  readonly work: QueryWork;
}

export interface AppReaderOptions {
  readonly set: ModuleSet;
  readonly version: string;
  /** Receives programming errors. */
  readonly report?: (problem: BlockProblem) => void;
}

/** Reservations of waiting transactions on some accounts, over the state of a height. */
export interface PendingState {
  readonly height: bigint;
  /** By account, as claims name it. */
  readonly claimed: ReadonlyMap<string, Claimed>;
}

/** Limits of one query, and a simulation's additional inputs besides the last block. */
export interface QueryWork {
  /** Called often; an error that it throws ends the work, and `GivenUp` ends the query too. */
  checkTime(): void;
  readonly pending?: PendingState;
}

/**
 * The application for readers: queries of the modules and simulations over the tables of the last commit, no matter who
 * writes them. It holds no state and no tree, so it knows no proofs.
 */
export class AppReader {
  readonly #options: AppReaderOptions;
  readonly #storeNames: readonly string[];
  readonly #router: Router;
  readonly #runner: TxRunner;
  /** Inputs of the current simulation. */
  #simulated: Simulated | undefined;

  constructor(options: AppReaderOptions) {
    const { set, report } = options;
    const maxBlockGas = () => this.#maxBlockGas();
    this.#options = options;
    this.#storeNames = storeNames(set.modules);
    this.#runner = new TxRunner({
      router: new Router(set.modules),
      ante: { ...set.ante, minGasPrices: [], maxBlockGas },
      cacheBytes: 0,
      ...(report === undefined ? {} : { report }),
    });
    const simulate = simulation({
      runner: this.#runner,
      environment: () => this.#environment(),
      maxBlockGas,
      turn: (run) => run(() => this.#simulated?.work.checkTime()),
    });
    this.#router = new Router(set.modules, [simulate]);
  }

  /** Paths of the rpcs that `query` answers. */
  get rpcs(): readonly string[] {
    return this.#router.queryPaths;
  }

  /** Answers a query; only `GivenUp` is thrown, every other error becomes a result. */
  query(tables: Tables, query: AppQuery, work: QueryWork): AppQueryResult {
    const { version, report } = this.#options;
    const state = stateIn(tables);
    const block = readLastBlock(tables);
    this.#simulated = block === undefined ? undefined : { state, block, work };
    const sources = {
      router: this.#router,
      state: { committed: () => state, snapshot: () => ({ ...state, close: () => {} }) },
      storeNames: this.#storeNames,
      version,
      block,
      past: pastStates(tables),
      report: (problem: BlockProblem) => report?.(problem),
    };
    return answerQuery(sources, query);
  }

  info(tables: Tables, appHash: Uint8Array): AppInfo {
    return { version: this.#options.version, lastBlockHeight: this.height(tables), lastBlockAppHash: appHash };
  }

  /** Gas of a whole block, at the state of the current simulation. */
  #maxBlockGas(): bigint {
    const { set } = this.#options;
    if (this.#simulated === undefined) return -1n;
    return set.consensus.read(this.#simulated.state.store("consensus"))?.block.maxGas ?? -1n;
  }

  /** Height of the last commit; 0 before the first. */
  height(tables: Tables): bigint {
    return readLastBlock(tables)?.height ?? 0n;
  }

  /** Whether a query depends on pending transactions. */
  isSimulation(query: AppQuery): boolean {
    return isSimulation(query);
  }

  /** The accounts whose pending transactions affect a query: the signers of the transaction that it simulates. */
  signersOf(query: AppQuery): readonly Uint8Array[] {
    return simulatedSigners(query, this.#runner);
  }

  /** Transactions are simulated for the next block, after the waiting ones of their signers. */
  #environment() {
    if (this.#simulated === undefined) throw new Error("a simulation runs within a query");
    const { state, block, work } = this.#simulated;
    const { claimed } = work.pending ?? {};
    const waiting = claimed && { claims: { of: (account: string) => claimed.get(account) } };
    const next = { ...block, height: block.height + 1n };
    return { block: next, stores: new CacheMultiStore(state), ...(waiting === undefined ? {} : { waiting }) };
  }
}

/** The tables that an `AppReader` of these modules reads. */
export function readTables({ modules }: ModuleSet): string[] {
  return [UNHASHED_TABLE, ...HISTORY_TABLES, ...storeNames(modules).map(stateTable)];
}

function stateIn(tables: Tables): MultiReader {
  return { store: (name): KVReader => tables.table(stateTable(name)) };
}
