import type { Application, ConsensusParams } from "../../abci/index.ts";
import type { Database } from "../../store/index.ts";
import { type Clock, equalBytes, SvcError, systemClock } from "../../util/index.ts";
import type { Engine } from "../engine.ts";
import { engineErrors } from "../errors.ts";
import { type Genesis, type GenesisHead, genesisHash, genesisHead } from "../genesis.ts";
import type { SignedBlock } from "./blocks/block-records.ts";
import { BlockStore } from "./blocks/block-store.ts";
import type { Validator } from "./blocks/types.ts";
import { BlockBus, type CommittedBlock } from "./events.ts";
import { TxIndex } from "./index/tx-index.ts";
import { DEFAULT_MEMPOOL_LIMITS, type MempoolLimits } from "./mempool/limits.ts";
import { Mempool, TX_OVERHEAD } from "./mempool/mempool.ts";
import { Producer, roomForTxs } from "./producer.ts";
import { KEEP_ALL, type Retention } from "./retain.ts";
import { Schedule } from "./schedule.ts";
import type { Signer } from "./signer.ts";

export interface EmbeddedEngineOptions {
  readonly app: Application;
  /** The database that the application commits to: blocks and state are written together. */
  readonly database: Pick<Database, "table">;
  readonly genesis: Genesis;
  /** Undefined = the blocks are another node's, and come by `execute`. */
  readonly signer: Signer | undefined;
  /** Time from block to block in milliseconds; 0 = blocks are only made by `produceBlock`. */
  readonly blockInterval: number;
  readonly clock?: Clock;
  readonly mempool?: Partial<MempoolLimits>;
  /** Makes no block above this height; 0 = no end. */
  readonly haltHeight?: bigint;
  /** Which blocks are kept; all when it is left out. */
  readonly retention?: Retention;
  /** Runs after every commit, before subscribers see the block; an error stops the engine. */
  readonly afterCommit?: (block: CommittedBlock) => void;
  /** Receives what listeners of blocks throw. */
  readonly report?: (error: unknown) => void;
  /** Called once when no more blocks can be made: without an error at the halt height. */
  readonly onEnd?: (error: unknown) => void;
}

const MIN_BLOCK_INTERVAL = 10;
const MILLISECOND = 1_000_000n;

/** The largest part of the interval that executing a block may take, so that requests are still answered. */
const BUSY_SHARE = 0.6;
const FIRST_TX_COST_MS = 0.3;

/** A real single validator in this process: mempool, blocks, votes, index. */
export class EmbeddedEngine implements Engine {
  readonly app: Application;
  readonly genesis: GenesisHead;
  readonly blocks: BlockStore;
  readonly index: TxIndex;
  readonly mempool: Mempool;
  readonly bus: BlockBus;
  /** The validator's key and address. */
  readonly validator: Pick<Signer, "publicKey" | "address">;
  readonly #options: Omit<EmbeddedEngineOptions, "genesis">;
  readonly #clock: Clock;
  readonly #producer: Producer;
  readonly #schedule: Schedule | undefined;
  /** Milliseconds a transaction takes from proposal to commit, smoothed. */
  #txCost = FIRST_TX_COST_MS;
  #ended = false;

  /** Throws when database, application, genesis and key do not belong together. */
  constructor(options: EmbeddedEngineOptions) {
    const { genesis, ...kept } = options;
    const { app, database, signer, clock = systemClock } = kept;
    this.app = app;
    this.genesis = genesisHead(genesis);
    this.#options = kept;
    this.#clock = clock;
    this.bus = new BlockBus(options.report);
    this.blocks = new BlockStore(database);
    checkBelongTogether(this.blocks, options);
    this.index = new TxIndex(database, this.blocks);
    const begun = this.blocks.consensusParams(this.blocks.height + 1n) ?? genesis.consensusParams;
    this.mempool = new Mempool(app, mempoolLimits(begun, options.mempool));
    const { blocks, index, mempool } = this;
    const retention = options.retention ?? KEEP_ALL;
    this.#producer = new Producer({ app, blocks, index, mempool, signer, genesis, clock, database, retention });
    this.validator = signer ?? onlyValidator(this.#producer.validators);
    checkSingleValidator(this.#producer.validators, this.validator);
    if (this.blocks.last === undefined) checkNobodyAbsent(this.#producer.absent);
    this.#schedule = scheduleFor(clock, options.blockInterval, () => this.#tick());
  }

  /** Parameters of consensus of the next block. */
  get params(): ConsensusParams {
    return this.#producer.params;
  }

  /** Signers of the next block: this process. */
  get validators(): readonly Validator[] {
    return this.#producer.validators;
  }

  /** Voters whose keys are not here: blocks are made without them, and the application learns that they are absent. */
  get absent(): readonly Validator[] {
    return this.#producer.absent;
  }

  /**
   * Begins to make blocks: the first of a chain at its genesis time, the others an interval after the last one. A block
   * that is already due is made at once.
   */
  start(): void {
    if (this.#atHaltHeight()) this.#end(undefined);
    else this.#schedule?.start(this.#dueTime());
  }

  /** When the next block is due, in nanoseconds since 1970; undefined when blocks come on demand. */
  get nextBlockTime(): bigint | undefined {
    return this.#schedule === undefined || this.#ended ? undefined : this.#dueTime();
  }

  stop(): Promise<void> {
    this.#ended = true;
    this.#schedule?.stop();
    return Promise.resolve();
  }

  /** Whether blocks that came with a snapshot are still to be executed. */
  get isBehind(): boolean {
    return this.#producer.isBehind;
  }

  /** Executes the next block of another node. Throws `engine/17`, and ends, where it does not follow the state here. */
  execute(block: SignedBlock): CommittedBlock {
    this.#producer.take(block);
    return this.produceBlock();
  }

  /** Whether no more blocks are made or executed. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Makes the next block now. Throws when the engine has ended. */
  produceBlock(): CommittedBlock {
    if (this.#ended) throw new Error("the engine has stopped");
    try {
      const block = this.#timed(() => this.#producer.produce(this.#maxTxs()));
      const { consensusParamUpdates: changed } = block;
      if (changed !== undefined) this.mempool.limit(mempoolLimits(changed, this.#options.mempool));
      this.#options.afterCommit?.(block);
      this.bus.publish(block);
      if (this.#atHaltHeight()) this.#end(undefined);
      return block;
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  #tick(): void {
    try {
      this.produceBlock();
    } catch {
      // `onEnd` has the error.
    }
  }

  #maxTxs(): number {
    const { blockInterval } = this.#options;
    if (blockInterval === 0) return Number.MAX_SAFE_INTEGER;
    return Math.max(1, Math.floor((blockInterval * BUSY_SHARE) / this.#txCost));
  }

  #timed(produce: () => CommittedBlock): CommittedBlock {
    const started = this.#clock.now();
    const block = produce();
    const count = block.block.txs.length;
    const milliseconds = this.#clock.now() - started;
    // Small blocks say little about the cost of one transaction.
    if (count >= 20) this.#txCost = Math.max(0.01, this.#txCost * 0.7 + (milliseconds / count) * 0.3);
    return block;
  }

  #dueTime(): bigint {
    const made = this.blocks.last?.commit.signatures[0]?.timestamp;
    return made === undefined ? this.genesis.time : made + BigInt(this.#options.blockInterval) * MILLISECOND;
  }

  #atHaltHeight(): boolean {
    const { haltHeight = 0n } = this.#options;
    return haltHeight > 0n && this.blocks.height >= haltHeight;
  }

  #end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#schedule?.stop();
    this.#options.onEnd?.(error);
  }
}

/** A transaction that fits into no block would stay ahead of all others forever. */
function mempoolLimits(params: ConsensusParams, wanted: Partial<MempoolLimits> = {}): MempoolLimits {
  const limits = { ...DEFAULT_MEMPOOL_LIMITS, ...wanted };
  return { ...limits, maxTxBytes: Math.min(limits.maxTxBytes, Math.max(0, roomForTxs(params) - TX_OVERHEAD)) };
}

function scheduleFor(clock: Clock, interval: number, run: () => void): Schedule | undefined {
  if (interval === 0) return undefined;
  if (!Number.isInteger(interval) || interval < MIN_BLOCK_INTERVAL) {
    throw new SvcError("engine", 3, `block interval ${interval} ms: at least ${MIN_BLOCK_INTERVAL} ms are needed`);
  }
  return new Schedule(clock, interval, run);
}

function checkBelongTogether(blocks: BlockStore, { app, genesis, signer }: EmbeddedEngineOptions): void {
  if (blocks.isOutside) throw engineErrors.otherEngine();
  const { lastBlockHeight, lastBlockAppHash } = app.info();
  const { last } = blocks;
  if (lastBlockHeight !== blocks.height) {
    throw damaged(`the state is at height ${lastBlockHeight} but the last block is ${blocks.height}`);
  }
  if (last !== undefined && !equalBytes(last.appHash, lastBlockAppHash)) {
    throw damaged(`the state is not that of block ${blocks.height}`);
  }
  if (last !== undefined && last.header.chainId !== genesis.chainId) {
    throw engineErrors.otherGenesis(
      `the data is of chain ${last.header.chainId} but the genesis file is of chain ${genesis.chainId}`,
    );
  }
  const begun = blocks.genesisHash;
  if (begun !== undefined && !equalBytes(begun, genesisHash(genesis))) {
    throw engineErrors.otherGenesis();
  }
  // A vote above the next block means that the data is older than the key's use.
  const known = blocks.aheadHeight > blocks.height ? blocks.aheadHeight : blocks.height;
  const next = last === undefined ? genesis.initialHeight : known + 1n;
  if (signer !== undefined && signer.height > next) {
    throw damaged(`the validator has already signed height ${signer.height} but the next block here is ${next}`);
  }
}

function damaged(text: string): SvcError {
  return new SvcError("engine", 1, text, { hint: "restore the whole data directory from one backup" });
}

function onlyValidator(validators: readonly Validator[]): EmbeddedEngine["validator"] {
  const [only] = validators;
  if (validators.length === 1 && only !== undefined) return { publicKey: only.pubKey, address: only.address };
  throw engineErrors.severalValidators();
}

function checkSingleValidator(validators: readonly Validator[], signer: EmbeddedEngine["validator"]): void {
  const [only] = validators;
  if (validators.length === 1 && only !== undefined && equalBytes(only.pubKey, signer.publicKey)) return;
  throw new SvcError("engine", 4, "the genesis file does not name this node's validator key as its only validator", {
    hint: "run svc init, or start the node with the validator key that the genesis file names",
  });
}

/** Each of several homes would make a chain of its own, with the same chain id. */
function checkNobodyAbsent(absent: readonly Validator[]): void {
  if (absent.length === 0) return;
  const keys = absent.length === 1 ? "a validator with another key" : `${absent.length} validators with other keys`;
  throw new SvcError("engine", 7, `the genesis file has ${keys}: this engine signs with the key of its home alone`, {
    hint: "start it with --engine cometbft, or leave the other validators out: run svc collect-gentxs with this home's own transaction alone, or svc export --for-zero-height --jail-allowed-addrs <operator of this home>",
  });
}
