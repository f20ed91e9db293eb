import { readTables, standardModules } from "../../app/index.ts";
import { CHAIN_TABLES, type ChainSource, type CheckedTx, type Genesis } from "../../engine/index.ts";
import type { Database } from "../../store/index.ts";
import type { Logger } from "../../util/index.ts";
import type { NodeConfig } from "../config.ts";
import { threadFile } from "./entry.ts";
import { ServingHost } from "./host.ts";
import type { Accepted, BlockThread } from "./link/link.ts";
import { type Addresses, openServers, type Servers } from "./servers/index.ts";

export interface ServingOptions {
  readonly home: string;
  readonly config: NodeConfig;
  readonly logger: Logger;
  readonly version: string;
  /** Hex of the node key's address. */
  readonly id: string;
  readonly genesis: Genesis;
  readonly validator: ChainSource["validator"];
  readonly database: Database;
}

/** The chain that is served. */
export interface ServedChain {
  readonly chain: ChainSource;
  /** Paths of the rpcs that the application answers. */
  readonly appRpcs: readonly string[];
  readonly pending: BlockThread["pending"];
}

/** The servers of a node, in a thread of their own where that can be. */
export interface Serving {
  /** Begins to serve a chain; returns the addresses. Throws one sentence when it cannot. */
  open(served: ServedChain): Promise<Addresses>;
  close(): Promise<void>;
}

/** Begins the thread of the servers; a program that runs from its sources, as in tests, runs them in this one. */
export function beginServing(options: ServingOptions): Serving {
  const file = threadFile();
  return file === undefined ? servingHere(options) : servingThread(options, file);
}

function servingThread({ database, logger, genesis, validator, ...others }: ServingOptions, file: URL): Serving {
  // LMDB cannot take new tables in two threads at once.
  for (const name of servedTables()) database.table(name);
  const { home, config, version, id } = others;
  const { publicKey, address } = validator;
  const data = { home, config, version, id, validator: { publicKey, address }, genesis: { ...genesis, appState: {} } };
  const host = new ServingHost({ file, data, logger });
  const started = host.start();
  // The caller reports the error when it opens the database.
  started.catch(() => {});
  return {
    async open({ chain, pending }) {
      await started;
      chain.events.listen(({ block }) => host.tell(block.header.height));
      return host.listen(blockThreadOf(chain, pending));
    },
    close: () => host.stop(),
  };
}

/** The tables that threads of a node read besides the thread that writes them. */
function servedTables(): string[] {
  return [...CHAIN_TABLES, ...readTables(standardModules())];
}

function blockThreadOf(
  { mempool, app, consensus, ask = noEngine }: ChainSource,
  pending: BlockThread["pending"],
): BlockThread {
  return {
    add: (tx) => {
      const added = mempool.add(tx);
      return added instanceof Promise ? added.then(toldOf) : toldOf(added);
    },
    waiting: (limit) => mempool.list(limit),
    mempoolSize: () => mempool.size(),
    checkTx: (request) => app.checkTx(request),
    query: (query) => app.query(query),
    consensus,
    ask,
    pending,
  };
}

function noEngine(): never {
  throw new Error("there is no engine beside the node");
}

/** The parts of a checked transaction that others than the mempool need. */
function toldOf({ hash, result }: CheckedTx): Accepted {
  return { hash, result: { ...result, claim: undefined } };
}

function servingHere(options: ServingOptions): Serving {
  let servers: Servers | undefined;
  return {
    async open({ chain, appRpcs }) {
      servers = await openServers({ ...options, chain, appRpcs });
      return servers.addresses;
    },
    close: async () => servers?.close(),
  };
}
