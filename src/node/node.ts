import { existsSync } from "node:fs";
import { type ApplicationOptions, createApp } from "../app/index.ts";
import {
  type ChainSource,
  type CommittedBlock,
  catchUp,
  EmbeddedEngine,
  embeddedSource,
  fileSignState,
  formatRfc3339,
  type Genesis,
  parseGenesis,
  type Retention,
  Signer,
} from "../engine/index.ts";
import { type Database, openLmdb, SnapshotDirectory, storeFault } from "../store/index.ts";
import { type Logger, makePrivateDirectory, toHexUpper } from "../util/index.ts";
import { encodeAddress } from "../wire/index.ts";
import type { NodeConfig } from "./config.ts";
import { nodeErrors } from "./errors.ts";
import { readGenesisBytes } from "./home/genesis.ts";
import { homePaths } from "./home/home.ts";
import { nodeId, readKeyFile } from "./home/keys.ts";
import { simulationTurns } from "./services/simulation-turn.ts";
import { type Addresses, beginServing, type Serving } from "./serving/index.ts";
import { SnapshotTaker } from "./snapshots/taker.ts";

export interface NodeOptions {
  readonly home: string;
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Our own version, `v1.2.3`. */
  readonly version: string;
}

/** Why a node has ended by itself: a fault, or the halt height. */
export interface NodeEnd {
  readonly error: unknown;
}

/** A running node: application, engine and servers over one database. */
export class Node {
  /** The engine that makes the blocks. */
  readonly engine: EmbeddedEngine;
  /** The chain as servers see it. */
  readonly chain: ChainSource;
  /** Where the servers are that are switched on. */
  readonly addresses: Addresses;
  /** Where JSON-RPC is, as `http://host:port`. */
  readonly rpcUrl: string;
  /** Where REST is, as `http://host:port`; undefined where it is not served. */
  readonly restUrl: string | undefined;
  /** Where gRPC is, as `host:port`; undefined where it is not served. */
  readonly grpcAddress: string | undefined;
  /** Resolves when the node ends by itself; it must then be stopped. */
  readonly ended: Promise<NodeEnd>;
  readonly #stop: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(parts: Pick<Node, "engine" | "chain" | "addresses" | "ended" | "stop">) {
    this.engine = parts.engine;
    this.chain = parts.chain;
    this.addresses = parts.addresses;
    this.rpcUrl = parts.addresses.rpc.address;
    this.restUrl = parts.addresses.rest?.address;
    this.grpcAddress = parts.addresses.grpc?.address;
    this.ended = parts.ended;
    this.#stop = parts.stop;
  }

  /** Stops serving and making blocks, and frees the home for other processes. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }
}

/** Starts a node; returns when it serves. Throws one sentence when it cannot, with nothing left open. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const { home, config, logger } = options;
  const paths = homePaths(home);
  const genesis = parseGenesis(readGenesisBytes(home), { longLists: true });
  const nodeSeed = readKeyFile(paths.nodeKey);
  const validatorSeed = readKeyFile(paths.validatorKey);
  if (!existsSync(paths.validatorState)) throw nodeErrors.noSignState(paths.validatorState);
  makePrivateDirectory(paths.database);
  const database = openLmdb(paths.database);
  let serving: Serving | undefined;
  try {
    const signer = new Signer(validatorSeed, fileSignState(paths.validatorState));
    // The thread of the servers starts while the state is read.
    serving = beginServing({ ...options, genesis, database, id: nodeId(nodeSeed), validator: signer });
    const { app, engine, ended, taker } = makeEngine({ ...options, database, genesis, signer });
    await catchUp(engine);
    const chain = embeddedSource(engine);
    const pending = (addresses: readonly Uint8Array[]) => app.pending(addresses);
    const addresses = await serving.open({ chain, appRpcs: app.rpcs, pending });
    engine.start();
    logWait(logger, engine, config.blockInterval);
    warnOfAbsent(logger, engine);
    const stop = async (): Promise<void> => {
      await serving?.close();
      await engine.stop();
      await taker.close();
      database.close();
    };
    return new Node({ engine, chain, ended, addresses, stop });
  } catch (error) {
    await serving?.close();
    database.close();
    throw storeFault(error, paths.database);
  }
}

function makeEngine(parts: NodeOptions & { database: Database; genesis: Genesis; signer: Signer }) {
  const { config, database, genesis, signer } = parts;
  const logger = parts.logger.child({ module: "engine" });
  const snapshots = new SnapshotDirectory(homePaths(parts.home).snapshots);
  const app = createApp({
    ...appOptions(parts, database),
    // This node alone makes blocks: no other has to change its version at the same height.
    upgrade: true,
    snapshots,
    simulationTurn: simulationTurns(),
  });
  let end: (end: NodeEnd) => void = () => {};
  const ended = new Promise<NodeEnd>((resolve) => {
    end = resolve;
  });
  const engine = new EmbeddedEngine({
    app,
    database,
    genesis,
    signer,
    blockInterval: config.blockInterval,
    mempool: config.mempool,
    haltHeight: config.haltHeight,
    retention: retentionOf(config),
    afterCommit: (block) => {
      logBlock(logger, block);
      taker.committed(block.block.header.height);
    },
    report: (error) => logger.error("a subscriber failed", { error }),
    onEnd: (error) => {
      if (error === undefined) logger.info("halt height reached", { height: engine.blocks.height });
      else logger.error("no more blocks are made", { error, height: engine.blocks.height });
      end({ error: storeFault(error, homePaths(parts.home).database) });
    },
  });
  const taker = new SnapshotTaker({
    ...config.stateSync,
    app,
    database,
    directory: snapshots,
    isBehind: () => engine.isBehind,
    logger: parts.logger.child({ module: "snapshots" }),
  });
  return { app, engine, ended, taker };
}

/** Blocks after a snapshot are kept as long as the snapshot is. */
function retentionOf({ minRetainBlocks, stateSync }: NodeConfig): Retention {
  const snapshotBlocks = stateSync.snapshotInterval * BigInt(stateSync.snapshotKeepRecent);
  return { minBlocks: minRetainBlocks, snapshotBlocks };
}

/** Options of the application; also used to open the state without a running node. */
export function appOptions(
  { config, logger, version }: Pick<NodeOptions, "config" | "logger" | "version">,
  database: Database,
): Omit<ApplicationOptions, "set"> {
  const log = logger.child({ module: "app" });
  return {
    database,
    version,
    minGasPrices: config.minGasPrices,
    checkInvariants: config.checkInvariants,
    pruning: config.pruning,
    report: (problem) => log.error("a contained failure", { ...problem }),
  };
}

/** With a wrong clock or a genesis time in the future, the node seems to do nothing. */
function logWait(logger: Logger, { nextBlockTime, blocks }: EmbeddedEngine, blockInterval: number): void {
  if (nextBlockTime === undefined || nextBlockTime <= BigInt(Date.now() + blockInterval) * 1_000_000n) return;
  const reason = blocks.last === undefined ? "the genesis time is in the future" : "the clock is behind the last block";
  logger.warn(`no block before ${formatRfc3339(nextBlockTime)}: ${reason}`, { module: "engine" });
}

function warnOfAbsent(logger: Logger, { absent }: EmbeddedEngine): void {
  if (absent.length === 0) return;
  const text =
    "this engine signs with the key of its home alone: the other validators are reported as absent, and jailed for downtime; " +
    "svc export --for-zero-height --jail-allowed-addrs <operator of this home> leaves them out";
  const validators = absent.map(({ address }) => encodeAddress(address, "valcons"));
  logger.warn(text, { module: "engine", validators: validators.join(",") });
}

function logBlock(logger: Logger, { block, commit, txResults, appHash }: CommittedBlock): void {
  const failed = txResults.filter(({ code }) => code !== 0).length;
  logger.info("committed block", {
    height: block.header.height,
    txs: block.txs.length,
    ...(failed === 0 ? {} : { failed }),
    hash: toHexUpper(commit.blockId.hash),
    "app-hash": toHexUpper(appHash),
  });
}
