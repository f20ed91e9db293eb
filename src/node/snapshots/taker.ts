import { setTimeout as sleep } from "node:timers/promises";
import { type SvcApplication, snapshotTables, storeNames } from "../../app/index.ts";
import { anchorAt, BlockReader, encodeAnchor, encodeSigned } from "../../engine/index.ts";
import {
  type Database,
  type SnapshotDirectory,
  type SnapshotRecord,
  type Staging,
  takeSnapshot,
} from "../../store/index.ts";
import { assert, type Logger } from "../../util/index.ts";

/** Time for other work between two pieces of the state. */
const PAUSE_MS = 8;

/** Where a snapshot comes from. */
export interface SnapshotOrigin {
  readonly app: Pick<SvcApplication, "modules" | "state">;
  readonly database: Pick<Database, "table">;
  readonly directory: SnapshotDirectory;
}

export interface TakerParts extends SnapshotOrigin {
  /** Blocks from one snapshot to the next; 0 = none are taken. */
  readonly snapshotInterval: bigint;
  /** Snapshots that are kept; 0 = all. */
  readonly snapshotKeepRecent: number;
  /** Whether the node executes blocks that came with a snapshot. */
  isBehind(): boolean;
  readonly logger: Logger;
}

/** The node stops. */
class Stopped extends Error {}

/** Takes snapshots while blocks continue, one at a time. */
export class SnapshotTaker {
  readonly #parts: TakerParts;
  #running: Promise<void> | undefined;
  #isClosed = false;
  /** Continues a snapshot that waits for the block after it. */
  #wake: (() => void) | undefined;

  constructor(parts: TakerParts) {
    this.#parts = parts;
    parts.directory.clear("taking");
  }

  /** To be called after every commit. */
  committed(height: bigint): void {
    this.#wake?.();
    const { snapshotInterval, logger, isBehind } = this.#parts;
    if (this.#isClosed || snapshotInterval === 0n || height % snapshotInterval !== 0n || isBehind()) return;
    if (this.#running !== undefined) {
      logger.warn("no snapshot taken: the previous one is not finished", { height });
      return;
    }
    this.#running = this.#take(height).finally(() => {
      this.#running = undefined;
    });
  }

  /** Gives up an unfinished snapshot. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake?.();
    await this.#running;
  }

  async #take(height: bigint): Promise<void> {
    const { directory, snapshotKeepRecent, logger } = this.#parts;
    try {
      const record = await snapshotOf(this.#parts, height, {
        pause: () => this.#pause(),
        blockBehind: () => this.#blockBehind(height),
      });
      directory.keep(snapshotKeepRecent);
      logger.info("took a snapshot", { height, format: record.format, chunks: record.chunks });
    } catch (error) {
      if (!(error instanceof Stopped)) logger.error("no snapshot could be taken", { height, error });
    }
  }

  async #pause(): Promise<void> {
    if (this.#isClosed) throw new Stopped();
    await sleep(PAUSE_MS);
  }

  async #blockBehind(height: bigint): Promise<void> {
    const { app } = this.#parts;
    while (app.state.height <= height) {
      if (this.#isClosed) throw new Stopped();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}

export interface Waits {
  pause(): Promise<void>;
  /** Resolves when the next block exists, whose header has the hash of the state. */
  blockBehind(): Promise<void>;
}

/**
 * Takes a snapshot of a height, with the data that the engine needs to continue after it. A failed snapshot leaves
 * nothing behind.
 */
export async function snapshotOf(origin: SnapshotOrigin, height: bigint, waits: Waits): Promise<SnapshotRecord> {
  const { app, database, directory } = origin;
  const release = app.state.hold(height);
  const staging = directory.stage("taking");
  try {
    const tables = snapshotTables(storeNames(app.modules));
    const save = (index: number, chunk: Uint8Array) => staging.saveChunk(index, chunk);
    const head = await takeSnapshot({ database, height, tables, save, pause: waits.pause });
    await waits.blockBehind();
    const blocks = new BlockReader(database);
    // CometBFT fetches blocks from other nodes.
    if (!blocks.isOutside) await saveBlocks(staging, blocks, height);
    return await staging.publish(head);
  } catch (error) {
    staging.discard();
    throw error;
  } finally {
    release();
  }
}

async function saveBlocks(staging: Staging, blocks: BlockReader, height: bigint): Promise<void> {
  const [anchor, next] = [anchorAt(blocks, height), blocks.signed(height + 1n)];
  assert(anchor !== undefined && next !== undefined, "the block of a snapshot and the one behind it are kept");
  await staging.saveBlock(encodeAnchor(anchor));
  await staging.saveBlock(encodeSigned(next));
}
