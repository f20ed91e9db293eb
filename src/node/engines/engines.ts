import {
  type ApplicationOptions,
  createApp,
  type SvcApplication,
  snapshotTables,
  standardModules,
  storeNames,
  UNHASHED_TABLES,
  UpgradeNeeded,
} from "../../app/index.ts";
import { consensusAddress, ed25519PublicKey } from "../../crypto/index.ts";
import {
  type ChainSource,
  CometEngine,
  type CommittedBlock,
  catchUp,
  cometPaths,
  EmbeddedEngine,
  embeddedSource,
  fileSignState,
  findProgram,
  formatRfc3339,
  type Genesis,
  type Retention,
  Signer,
} from "../../engine/index.ts";
import { clearRestore, type Database, SnapshotDirectory, storeFault } from "../../store/index.ts";
import { type Logger, toHexUpper } from "../../util/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { monikerOf, type NodeConfig } from "../config.ts";
import { nodeErrors } from "../errors.ts";
import { homePaths, writeUpgradeInfo } from "../home/home.ts";
import { readKeyFile, readPublicKey } from "../home/keys.ts";
import { simulationTurns } from "../services/simulation-turn.ts";
import { SnapshotTaker, type TakerParts } from "../snapshots/taker.ts";
import { Follower } from "./follow.ts";

export interface NodeOptions {
  readonly home: string;
  readonly config: NodeConfig;
  readonly logger: Logger;
  /** Our own version, `v1.2.3`. */
  readonly version: string;
}

/** Why a node has ended by itself: a fault, the halt height, or an upgrade that it lacks (`UpgradeNeeded`). */
export interface NodeEnd {
  readonly error: unknown;
}

/** An engine with its application, before and while it runs. */
export interface NodeEngine {
  readonly app: SvcApplication;
  readonly chain: ChainSource;
  /** The engine, where it is in this process. */
  readonly embedded?: EmbeddedEngine;
  readonly ended: Promise<NodeEnd>;
  /** Resolves when the chain can be served. */
  prepare(): Promise<void>;
  /** Begins to make blocks. Resolves when transactions can be sent. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The chain that an engine continues. */
export interface EngineParts {
  readonly database: Database;
  readonly genesis: Genesis;
  /** Bytes of the genesis file. */
  readonly genesisBytes: number;
}

export interface ChosenEngine {
  /** The validator of this home. */
  readonly validator: ChainSource["validator"];
  readonly make: (parts: EngineParts) => NodeEngine;
}

/** The engine of the settings. Throws one sentence when it cannot run here. */
export function chooseEngine(options: NodeOptions): ChosenEngine {
  const { home, config } = options;
  checkStateSync(config.engine);
  if (config.engine.kind === "cometbft" && config.engine.follow !== undefined) throw nodeErrors.cannotFollow();
  if (config.engine.kind === "embedded") {
    const signer = new Signer(readKeyFile(homePaths(home).validatorKey), fileSignState(homePaths(home).validatorState));
    return { validator: signer, make: (parts) => embedded({ ...options, ...parts, signer }) };
  }
  const { isChild, program: given, abci, rpc } = config.engine;
  if (isChild && (abci ?? rpc) !== undefined) throw nodeErrors.ownProgram();
  const program = isChild ? findProgram({ given, home, path: process.env.PATH ?? "" }).path : undefined;
  const validator = cometValidator(options);
  return { validator, make: (parts) => besideCometbft({ ...options, ...parts, validator, program }) };
}

/** CometBFT signs, and keeps the record of the last vote; a remote signer has the private key elsewhere. */
function cometValidator({ home, config: { engine } }: NodeOptions): ChainSource["validator"] {
  const { validatorKey } = homePaths(home);
  const isSigner = engine.isChild && engine.signerLaddr === "";
  const publicKey = isSigner ? ed25519PublicKey(readKeyFile(validatorKey)) : readPublicKey(validatorKey);
  return { publicKey, address: consensusAddress(publicKey) };
}

function checkStateSync({ kind, stateSync }: NodeConfig["engine"]): void {
  const { rpcServers, trustHeight, trustHash } = stateSync;
  if (rpcServers.length === 0) return;
  if (kind === "embedded") throw nodeErrors.notHere();
  if (trustHeight === 0 || trustHash === "") throw nodeErrors.noTrust();
}

/** Time in which other validators receive the last block before an upgrade, with its votes, from this one. */
const LAST_BLOCK_MS = 5_000;

type MakeParts = NodeOptions & EngineParts;

interface CometParts extends Pick<ChosenEngine, "validator"> {
  readonly program: string | undefined;
}

/** CometBFT makes the blocks, as a child of this process or not. */
function besideCometbft(parts: MakeParts & CometParts): NodeEngine {
  const { config, database, genesis, genesisBytes, home, program, validator } = parts;
  const logger = parts.logger.child({ module: "engine" });
  clearRestore(database, snapshotTables(storeNames(standardModules().modules)), UNHASHED_TABLES);
  const snapshots = new SnapshotDirectory(homePaths(home).snapshots);
  const app = createApp({ ...appOptions(parts), snapshots, simulationTurn: simulationTurns() });
  const { ended, end } = endOf(parts);
  const { engine, blockInterval, mempool, haltHeight } = config;
  const paths = cometPaths(home, homePaths(home));
  let ending: NodeJS.Timeout | undefined;
  const comet = new CometEngine({
    ...{ app, database, genesis, genesisBytes, program, haltHeight, logger, validator },
    paths,
    places: { abci: engine.abci ?? { path: paths.abciSocket }, rpc: engine.rpc ?? { path: paths.rpcSocket } },
    settings: { ...engine, blockInterval, mempool, moniker: monikerOf(config, genesis, validator) },
    retention: retentionOf(config),
    afterCommit: (block) => {
      watch.blockCame();
      logBlock(logger, block);
      taker.committed(block.block.header.height);
      // Where too few other validators are left, no further proposal comes that would end this node.
      const error = nextBlockError(app);
      if (error !== undefined) ending = setTimeout(() => end(error), LAST_BLOCK_MS);
    },
    onEnd: (error) => {
      if (error === undefined) logger.info("halt height reached", { height: haltHeight });
      else logger.error("no more blocks are executed", { error });
      end(error);
    },
  });
  const watch = watchBlocks(logger, blockInterval);
  const isBehind = () => comet.isBehind;
  const taker = takerOf(parts, { app, directory: snapshots, isBehind });
  return {
    app,
    chain: comet.source,
    ended,
    prepare: () => {
      if (app.info().lastBlockHeight > 0n) app.tryNextBlock();
      return comet.listen();
    },
    start: () => {
      comet.start();
      if (genesis.time > BigInt(Date.now()) * 1_000_000n)
        logger.warn(`no block before ${formatRfc3339(genesis.time)}: the genesis time is in the future`);
      return comet.answers();
    },
    stop: async () => {
      clearTimeout(ending);
      watch.stop();
      await comet.stop();
      await taker.close();
    },
  };
}

/** A node warns when no block comes for so many intervals between blocks, and for so long. */
const STALL = { blocks: 10, ms: 30_000 } as const;

/** Warns each time that no block has come for long: the engine hangs, or too few validators are up. */
export function watchBlocks(logger: Pick<Logger, "warn">, blockInterval: number) {
  const pauseMs = Math.max(STALL.blocks * blockInterval, STALL.ms);
  let pauses = 0;
  const timer = setInterval(() => {
    pauses += 1;
    const seconds = Math.round((pauses * pauseMs) / 1_000);
    logger.warn(`no block came for ${seconds} s: CometBFT hangs, or too few validators are up`);
  }, pauseMs).unref();
  const blockCame = (): void => {
    pauses = 0;
    timer.refresh();
  };
  return { blockCame, stop: () => clearInterval(timer) };
}

/** This process makes the blocks, or executes the blocks of a node that it follows. */
function embedded(parts: MakeParts & { readonly signer: Signer }): NodeEngine {
  const { config, database, genesis, home, signer } = parts;
  const { follow } = config.engine;
  const logger = parts.logger.child({ module: "engine" });
  const snapshots = new SnapshotDirectory(homePaths(home).snapshots);
  const app = createApp({
    ...appOptions(parts),
    // This node alone makes blocks: no other has to change its version at the same height.
    upgrade: true,
    snapshots,
    simulationTurn: simulationTurns(),
  });
  const { ended, end } = endOf(parts);
  const engine = new EmbeddedEngine({
    app,
    database,
    genesis,
    signer: follow === undefined ? signer : undefined,
    blockInterval: follow === undefined ? config.blockInterval : 0,
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
      end(error);
    },
  });
  const isBehind = () => engine.isBehind;
  const taker = takerOf(parts, { app, directory: snapshots, isBehind });
  const prepare = () => {
    app.checkNextBlock();
    return catchUp(engine);
  };
  const own = { app, chain: embeddedSource(engine), embedded: engine, ended, prepare };
  if (follow !== undefined) {
    const follower = new Follower({ engine, database, address: follow, logger });
    return {
      ...own,
      chain: { ...own.chain, validator: signer, mempool: follower.mempool },
      start: async () => follower.start(),
      stop: async () => {
        await follower.stop();
        await engine.stop();
        await taker.close();
      },
    };
  }
  return {
    ...own,
    start: async () => {
      engine.start();
      logWait(logger, engine, config.blockInterval);
      warnOfAbsent(logger, engine);
    },
    stop: async () => {
      await engine.stop();
      await taker.close();
    },
  };
}

function takerOf(
  { config, database, logger }: NodeOptions & EngineParts,
  parts: Pick<TakerParts, "app" | "directory" | "isBehind">,
): SnapshotTaker {
  return new SnapshotTaker({ ...config.stateSync, ...parts, database, logger: logger.child({ module: "snapshots" }) });
}

function endOf({ home }: NodeOptions): { readonly ended: Promise<NodeEnd>; readonly end: (error: unknown) => void } {
  let end: (end: NodeEnd) => void = () => {};
  const ended = new Promise<NodeEnd>((resolve) => {
    end = resolve;
  });
  return { ended, end: (error) => end({ error: endError(home, error) }) };
}

/** The error with which a node ends. The file for launchers of programs is there before the node is gone. */
export function endError(home: string, error: unknown): unknown {
  if (!(error instanceof UpgradeNeeded)) return storeFault(error, homePaths(home).database);
  try {
    writeUpgradeInfo(home, error.plan);
    return error;
  } catch (fault) {
    return fault;
  }
}

/** Why the program must not execute the next block. */
function nextBlockError(app: SvcApplication): unknown {
  try {
    app.checkNextBlock();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Blocks after a snapshot are kept as long as the snapshot is. */
function retentionOf({ minRetainBlocks, stateSync }: NodeConfig): Retention {
  const snapshotBlocks = stateSync.snapshotInterval * BigInt(stateSync.snapshotKeepRecent);
  return { minBlocks: minRetainBlocks, snapshotBlocks };
}

function appOptions({ config, database, logger, version }: NodeOptions & EngineParts): Omit<ApplicationOptions, "set"> {
  const log = logger.child({ module: "app" });
  return {
    database,
    version,
    minGasPrices: config.minGasPrices,
    checkInvariants: config.checkInvariants,
    pruning: config.pruning,
    skippedUpgrades: config.skippedUpgrades,
    report: (problem) => log.error("a contained failure", { ...problem }),
  };
}

/** With a wrong clock or a genesis time in the future, the node seems to do nothing. */
function logWait(logger: Logger, { nextBlockTime, blocks }: EmbeddedEngine, blockInterval: number): void {
  if (nextBlockTime === undefined || nextBlockTime <= BigInt(Date.now() + blockInterval) * 1_000_000n) return;
  const reason = blocks.last === undefined ? "the genesis time is in the future" : "the clock is behind the last block";
  logger.warn(`no block before ${formatRfc3339(nextBlockTime)}: ${reason}`);
}

function warnOfAbsent(logger: Logger, { absent }: EmbeddedEngine): void {
  if (absent.length === 0) return;
  const text =
    "this engine signs with the key of its home alone: the other validators are reported as absent, and jailed for downtime; " +
    "svc export --for-zero-height --jail-allowed-addrs <operator of this home> leaves them out";
  const validators = absent.map(({ address }) => encodeAddress(address, "valcons"));
  logger.warn(text, { validators: validators.join(",") });
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
