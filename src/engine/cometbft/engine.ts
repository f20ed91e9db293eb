import { rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Application, CheckTxResult } from "../../abci/index.ts";
import type { Database } from "../../store/index.ts";
import { equalBytes, type Logger, makePrivateDirectory, replaceFile, SvcError, toHex } from "../../util/index.ts";
import { BlockStore } from "../embedded/blocks/block-store.ts";
import { hasEvidence, txHash } from "../embedded/blocks/hashes.ts";
import type { Commit } from "../embedded/blocks/types.ts";
import { BlockBus, type CommittedBlock } from "../embedded/events.ts";
import { TxIndex } from "../embedded/index/tx-index.ts";
import type { CheckedTx } from "../embedded/mempool/mempool.ts";
import type { Retention } from "../embedded/retain.ts";
import type { Engine } from "../engine.ts";
import { engineErrors } from "../errors.ts";
import { type Genesis, type GenesisHead, genesisHash, genesisHead } from "../genesis.ts";
import { chainReader, StatusMemo } from "../reading/source.ts";
import type { ChainSource } from "../source.ts";
import { AbciCalls } from "./abci/calls.ts";
import { AbciServer, type EnginePlace } from "./abci/server.ts";
import { BATCH_CALLS } from "./broadcasts.ts";
import { Records } from "./records.ts";
import { EngineRpc } from "./rpc.ts";
import { type CometPaths, type CometSettings, cometConfig } from "./settings.ts";
import { Supervisor } from "./supervisor.ts";

export interface CometEngineOptions {
  readonly app: Application;
  readonly database: Database;
  readonly genesis: Genesis;
  /** Bytes of the genesis file. */
  readonly genesisBytes: number;
  readonly validator: ChainSource["validator"];
  /** Path of the engine's program; undefined where another starts it. */
  readonly program: string | undefined;
  /** Where the engine reaches the application, and where its RPC is. */
  readonly places: { readonly abci: EnginePlace; readonly rpc: EnginePlace };
  readonly paths: CometPaths;
  readonly settings: CometSettings;
  readonly retention: Retention;
  /** Executes no block above this height; 0 = no end. */
  readonly haltHeight: bigint;
  readonly logger: Logger;
  readonly afterCommit: (block: CommittedBlock) => void;
  /** Called once when no more blocks can be executed: without an error at the halt height. */
  readonly onEnd: (error: unknown) => void;
}

const DISK_FULL = /no space left on device/;
/** Longest path of a unix socket on all platforms. */
const MAX_SOCKET_PATH = 103;

/** CometBFT beside the node, as its child or not: it decides blocks, the application of this process executes them. */
export class CometEngine implements Engine {
  readonly source: ChainSource;
  readonly #bus: BlockBus;
  readonly #options: Omit<CometEngineOptions, "genesis">;
  readonly #genesis: GenesisHead;
  readonly #blocks: BlockStore;
  readonly #records: Records;
  readonly #server: AbciServer;
  readonly #supervisor: Supervisor | undefined;
  readonly #rpc: EngineRpc;
  /** Transactions that are handed to the engine, by their hashes, with the application's verdict once it is there. */
  readonly #handed = new Map<string, CheckTxResult | undefined>();
  #completing: Promise<void> | undefined;
  #hasEnded = false;
  #hasAnswered = false;

  /** Throws when the home belongs to another engine or another chain. */
  constructor({ genesis, ...options }: CometEngineOptions) {
    const { app, database, logger, paths, places, retention, haltHeight, genesisBytes, program } = options;
    this.#options = options;
    this.#genesis = genesisHead(genesis);
    this.#blocks = new BlockStore(database);
    checkHome(this.#blocks, options, genesis);
    this.#bus = new BlockBus((error) => logger.error("a subscriber failed", { error }));
    const { mempool } = options.settings;
    this.#rpc =
      program === undefined ? new EngineRpc(places.rpc) : new EngineRpc(places.rpc, BATCH_CALLS.child, mempool);
    const onFault = (error: unknown): void => this.#fault(error);
    const index = new TxIndex(database, this.#blocks);
    const onCommit = (): void => void this.#complete();
    this.#records = new Records({ database, blocks: this.#blocks, index, genesis, retention, onCommit });
    const params = isBegun(app) ? this.#blocks.consensusParams(app.info().lastBlockHeight + 1n) : undefined;
    const onChecked = (tx: Uint8Array, result: CheckTxResult): void => this.#checked(tx, result);
    const recorder = this.#records;
    const calls = new AbciCalls({ app, genesis, genesisBytes, params, recorder, onChecked, haltHeight });
    this.#server = new AbciServer({ calls, logger, onFault });
    const onMisfit = (sentence: string): void => this.#misfit(sentence);
    const onNoStart = (sentence: string): void => this.#fault(faultOf(sentence, engineErrors.neverStarted));
    const hasAnswered = (): boolean => this.#hasAnswered;
    this.#supervisor =
      program === undefined
        ? undefined
        : new Supervisor({ program, paths, logger, hasAnswered, onFault: onMisfit, onNoStart });
    this.source = this.#sourceOf(database);
  }

  /** Resolves when the application listens. */
  async listen(): Promise<void> {
    const { paths, places, program, settings } = this.#options;
    this.#records.starting();
    rmSync(paths.sync, { recursive: true, force: true });
    if (program !== undefined) {
      if (settings.stateSync.rpcServers.length > 0) makePrivateDirectory(paths.sync);
      makePrivateDirectory(dirname(paths.configFile));
      makePrivateDirectory(paths.data);
      replaceFile(paths.configFile, cometConfig(settings, paths), 0o600);
    }
    await this.#server.listen(places.abci);
  }

  /** Starts the engine's program. A chain that is at its halt height ends at once. */
  start(): void {
    if (this.#atHaltHeight) {
      this.#end(undefined);
      return;
    }
    this.#supervisor?.start();
    void this.#complete();
  }

  /** Resolves when the engine answers for the first time, or is stopped before. */
  async answers(): Promise<void> {
    await this.#rpc.health().then(
      () => {
        this.#hasAnswered = true;
      },
      () => undefined,
    );
  }

  async stop(): Promise<void> {
    this.#hasEnded = true;
    await this.#supervisor?.stop();
    await this.#server.close();
    this.#rpc.close();
    await this.#completing;
  }

  /** Completes all executed blocks with their headers, one after the other. Never rejects. */
  #complete(): Promise<void> {
    this.#completing ??= this.#completeAll()
      .catch((error: unknown) => this.#fault(error))
      .finally(() => {
        this.#completing = undefined;
      });
    return this.#completing;
  }

  async #completeAll(): Promise<void> {
    for (;;) {
      const executed = this.#records.pending;
      if (executed === undefined || this.#hasEnded) return;
      const { height } = executed.header;
      const signed = await this.#rpc.commit(height);
      const before = this.#records.needsVotesBefore(signed) ? await this.#votesBefore(height) : undefined;
      const voters = this.#records.needsVoters(signed) ? await this.#rpc.validators(height) : undefined;
      const size = hasEvidence(signed.header) ? await this.#rpc.size(height) : undefined;
      const block = this.#records.complete(executed, { ...signed, before, voters, size });
      this.#options.afterCommit(block);
      this.#bus.publish(block);
      if (this.#atHaltHeight) this.#end(undefined);
    }
  }

  /** The engine does not have the block of a snapshot's height, but the votes on it in the block behind. */
  async #votesBefore(height: bigint): Promise<Commit> {
    if (this.#blocks.height !== height - 1n) return this.#rpc.lastCommit(height);
    return (await this.#rpc.commit(height - 1n)).commit;
  }

  /** Whether the engine fetches blocks that others decided. */
  get isBehind(): boolean {
    return this.#blocks.isBehind;
  }

  get #atHaltHeight(): boolean {
    const { haltHeight } = this.#options;
    return haltHeight > 0n && this.#blocks.height >= haltHeight;
  }

  #misfit(sentence: string): void {
    const { app, settings } = this.#options;
    const isJoining = !isBegun(app) && settings.stateSync.rpcServers.length > 0;
    const text = `after block ${app.info().lastBlockHeight}: ${sentence}`;
    this.#fault(isJoining ? faultOf(sentence, engineErrors.notJoined) : faultOf(text, engineErrors.failed));
  }

  /** An engine that is refused the block after the halt height fails too. */
  #fault(error: unknown): void {
    const { app, haltHeight } = this.#options;
    const isHalted = haltHeight > 0n && app.info().lastBlockHeight >= haltHeight;
    this.#end(isHalted ? undefined : error);
  }

  #end(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.onEnd(error);
  }

  /** Hands a transaction to the engine. The application's own verdict has more than the engine passes on. */
  async #add(tx: Uint8Array): Promise<CheckedTx> {
    const hash = txHash(tx);
    const key = toHex(hash);
    if (this.#handed.has(key)) throw new SvcError("sdk", 19, "tx already exists in cache");
    this.#handed.set(key, undefined);
    try {
      await this.#rpc.broadcast(tx);
      const result = this.#handed.get(key);
      if (result === undefined) throw engineErrors.away("it took a transaction that was not checked");
      return { tx, hash, result };
    } finally {
      this.#handed.delete(key);
    }
  }

  #checked(tx: Uint8Array, result: CheckTxResult): void {
    if (result.code === 0) this.#rpc.checked(tx);
    if (this.#handed.size === 0) return;
    const key = toHex(txHash(tx));
    if (this.#handed.has(key)) this.#handed.set(key, result);
  }

  #sourceOf(database: Database): ChainSource {
    const { app, validator } = this.#options;
    const genesis = this.#genesis;
    const { blocks, txs, status } = chainReader({
      tables: database,
      genesis,
      memo: new StatusMemo(),
      engine: "cometbft",
    });
    return {
      ...{ genesis, validator, app, events: this.#bus, blocks, txs, status },
      ask: (method, params) => this.#rpc.ask(method, params),
      mempool: {
        add: (tx) => this.#add(tx),
        list: (limit) => this.#rpc.waiting(limit),
        size: () => this.#rpc.waitingSize(),
      },
      consensus: () => {
        const { last } = this.#blocks;
        const height = last === undefined ? genesis.initialHeight : last.header.height + 1n;
        return {
          height,
          startTime: last?.header.time ?? genesis.time,
          validators: this.#blocks.validators(height) ?? genesis.validators,
          last: last && { record: last, validators: this.#blocks.validators(last.header.height) ?? [] },
        };
      },
    };
  }
}

/** A full disk has a remedy of its own. */
function faultOf(sentence: string, other: typeof engineErrors.failed): Error {
  return DISK_FULL.test(sentence) ? engineErrors.diskFull(sentence) : other(sentence);
}

function isBegun(app: Application): boolean {
  return app.info().lastBlockHeight > 0n;
}

function checkHome(blocks: BlockStore, { app, places }: Omit<CometEngineOptions, "genesis">, genesis: Genesis): void {
  for (const place of [places.abci, places.rpc])
    if ("path" in place && Buffer.byteLength(place.path) > MAX_SOCKET_PATH) throw engineErrors.longPath(place.path);
  if (isBegun(app) && !blocks.isOutside) throw engineErrors.otherEngine();
  const begun = blocks.genesisHash;
  if (begun !== undefined && !equalBytes(begun, genesisHash(genesis))) throw engineErrors.otherGenesis();
}
