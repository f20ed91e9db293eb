import type { Database, Write } from "../../store/index.ts";
import { BlockReader, replayWrite } from "./blocks/block-store.ts";
import { TxReader } from "./index/tx-index.ts";

/** What the tables of the engine are to hold once the last block is taken back. */
export interface EngineRollback {
  readonly height: bigint;
  /** Of the block that is taken back, with the writes that do it; undefined where one was taken back and kept before. */
  readonly writes: readonly Write[];
  readonly isPending: boolean;
}

/**
 * Takes the last block out of the engine's tables. It stays, to be executed again at the next start, unless `remove` says that
 * it goes for good. A block that was taken back before and waits to be executed again is the last one: it stays or goes.
 */
export function engineRollback(tables: Pick<Database, "table">, remove: boolean): EngineRollback {
  const blocks = new BlockReader(tables);
  const { height, replay } = blocks;
  // Another block in its place is followed by none of those that came with a snapshot.
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
