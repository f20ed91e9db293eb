import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { type ConsensusParams, MAX_BLOCK_BYTES } from "../../abci/index.ts";
import { NodeApi, RpcClient, RpcError, type WholeBlock, wholeBlocks } from "../../client/index.ts";
import {
  BLOCK_PROTOCOL,
  behindWrite,
  type CheckedTx,
  dataHash,
  type EmbeddedEngine,
  type MempoolSource,
  mempoolRefusal,
  txHash,
} from "../../engine/index.ts";
import { hashOf, type LightBlock, lightErrors, verifyBlock, verifyRoot } from "../../light/index.ts";
import type { Database } from "../../store/index.ts";
import { equalBytes, type Logger, SvcError, toHex, unlessAborted } from "../../util/index.ts";

/** Blocks that one request asks for while the node has more. */
const WINDOW = 5;
/** Milliseconds between two questions for a new block; after failures twice as long each time. */
const POLL_MS = { first: 500, most: 15_000 } as const;
/** The voters follow from the genesis file and the blocks here, however long ago they were made. */
const FOREVER = 2n ** 62n;

/** Bytes of the largest batch of answers, and of all in an answer that is not the block's bytes in base64. */
const ANSWER_BYTES = { batch: 12 << 20, beside: 2 << 20 } as const;

export interface FollowerParts {
  readonly engine: EmbeddedEngine;
  readonly database: Pick<Database, "write">;
  /** JSON-RPC of the node that is followed. */
  readonly address: string;
  readonly logger: Logger;
}

/**
 * Executes the blocks of another node's chain. Each is verified by the light client from the one before, the first by
 * the validators of the genesis file, and compared with the state here: nothing that the node says is believed.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #rpc: RpcClient;
  /** Has connections of its own: transactions that are not answered keep no block away. */
  readonly #node: NodeApi;
  /** Hashes of transactions that wait for its answer. */
  readonly #forwarding = new Set<string>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#rpc = new RpcClient(parts.address, { maxAnswerBytes: () => answerBytes(parts.engine.params) });
    this.#node = new NodeApi(new RpcClient(parts.address));
  }

  /** Transactions go to the node that is followed; the waiting ones are known there alone. */
  get mempool(): MempoolSource {
    return { add: (tx) => this.#forward(tx), list: () => [], size: () => ({ txs: 0, bytes: 0 }) };
  }

  start(): void {
    this.#parts.database.write([behindWrite(true)]);
    this.#running = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#rpc.close();
    this.#node.rpc.close();
  }

  async #follow(): Promise<void> {
    const { engine, logger } = this.#parts;
    engine.start();
    if (engine.blocks.replay !== undefined) this.#execute(() => engine.produceBlock());
    for (let pauseMs: number = POLL_MS.first; this.#isRunning; ) {
      const before = engine.blocks.height;
      try {
        await this.#followOn();
      } catch (error) {
        if (!this.#isRunning) return;
        if (engine.blocks.height > before) pauseMs = POLL_MS.first;
        logger.warn("no block from the node that is followed", { error, "in-ms": pauseMs });
        await this.#pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, POLL_MS.most);
      }
    }
  }

  get #isRunning(): boolean {
    return !this.#stop.signal.aborted && !this.#parts.engine.hasEnded;
  }

  /** Executes blocks until the node or the engine has no more to say; throws what the node's word or its absence causes. */
  async #followOn(): Promise<void> {
    let next = this.#nextHeight;
    let fetched = wholeBlocks(this.#rpc, next, 1);
    while (this.#isRunning) {
      const found = await unlessAborted(fetched, this.#stop.signal);
      if (found.length === 0) {
        this.#caughtUp();
        await this.#pause(POLL_MS.first);
      }
      next += BigInt(found.length);
      // The next blocks are on their way while these are executed.
      fetched = wholeBlocks(this.#rpc, next, found.length === 0 ? 1 : WINDOW);
      fetched.catch(() => undefined);
      for (const block of found) await this.#next(block);
    }
  }

  get #nextHeight(): bigint {
    const { blocks, genesis } = this.#parts.engine;
    return blocks.height === 0n ? genesis.initialHeight : blocks.height + 1n;
  }

  async #next(block: WholeBlock): Promise<void> {
    if (!this.#isRunning) return;
    this.#verify(block);
    const { version: _, ...header } = block.header;
    this.#execute(() => this.#parts.engine.execute({ ...block, header }));
    await turn();
  }

  #verify({ header, commit, txs }: WholeBlock): void {
    // The light client would believe a later block as well.
    if (header.height !== this.#nextHeight)
      throw lightErrors.badBlock(`the node gave block ${header.height} instead of block ${this.#nextHeight}`);
    if (!equalBytes(dataHash(txs.map(txHash)), header.dataHash))
      throw lightErrors.badBlock(`block ${header.height} has other transactions than its header says`);
    const { blocks, genesis, validators } = this.#parts.engine;
    const block: LightBlock = { header, commit, validators };
    const { last } = blocks;
    if (last === undefined) {
      verifyRoot(genesis.chainId, block, hashOf(header));
      return;
    }
    const version = { block: BLOCK_PROTOCOL, app: 0n };
    const trusted = {
      header: { ...last.header, version },
      commit: last.commit,
      validators: blocks.validators(last.header.height) ?? [],
    };
    verifyBlock(trusted, block, { now: BigInt(Date.now()) * 1_000_000n, period: FOREVER });
  }

  #execute(run: () => unknown): void {
    try {
      run();
    } catch {
      // The engine has ended, and told its error.
    }
  }

  #caughtUp(): void {
    const { engine, database } = this.#parts;
    if (engine.blocks.isBehind) database.write([behindWrite(false)]);
  }

  async #pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** A transaction that comes again meanwhile is refused: nodes that follow each other would pass it on for ever. */
  async #forward(tx: Uint8Array): Promise<CheckedTx> {
    const hash = txHash(tx);
    const key = toHex(hash);
    if (this.#forwarding.has(key)) throw new SvcError("sdk", 19, "tx already exists in cache");
    this.#forwarding.add(key);
    try {
      const { code, codespace, log, data } = await this.#node.broadcast(tx, "sync");
      const result = { code, codespace, log, data, gasWanted: 0n, gasUsed: 0n, events: [], claim: undefined };
      return { tx, hash, result };
    } catch (error) {
      throw (error instanceof RpcError ? mempoolRefusal(error.data) : undefined) ?? error;
    } finally {
      this.#forwarding.delete(key);
    }
  }
}

/** Bytes of the largest answer with a block: reading an endless one as JSON would take all memory. */
function answerBytes({ block: { maxBytes } }: ConsensusParams): number {
  const most = Number(maxBytes === -1n ? MAX_BLOCK_BYTES : maxBytes);
  return Math.max(ANSWER_BYTES.batch, Math.ceil((most * 4) / 3) + ANSWER_BYTES.beside);
}
