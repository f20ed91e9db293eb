import type { Database, Write } from "../../store/index.ts";
import { BlockReader, replayWrite } from "./blocks/block-store.ts";
import { TxReader } from "./index/tx-index.ts";

/** Contents of the engine's tables after the last block is rolled back. */
export interface EngineRollback {
  readonly height: bigint;
  /** The block that is rolled back, with the writes that do it; undefined if one was rolled back and kept before. */
  readonly writes: readonly Write[];
  readonly isPending: boolean;
}

/**
 * Removes the last block from the engine's tables. It is kept, to be executed again at the next start, unless `remove`
 * drops it for good. A block that was rolled back before and waits to be executed again counts as the last one: it is
 * kept or dropped.
 */
export function engineRollback(tables: Pick<Database, "table">, remove: boolean): EngineRollback {
  const blocks = new BlockReader(tables);
  const { height, replay } = blocks;
  // None of the blocks that came with a snapshot can follow another block in its place.
  const forgotten = remove ? [replayWrite(undefined), ...blocks.aheadRemovals()] : [];
  if (replay !== undefined) return { height, isPending: true, writes: forgotten };
  const record = blocks.record(height);
  if (record === undefined) return { height, isPending: false, writes: [] };
  const { header, commit } = record;
  const txs = blocks.txs(height).map(({ tx }) => tx);
  const again = remove ? forgotten : [replayWrite({ header, commit, txs })];
  const removals = [...blocks.removals(height), ...new TxReader(tables, blocks).removals(height)];
  return { height, isPending: false, writes: [...removals, ...again] };
}
