import type { BlockInfo } from "../../runtime/index.ts";
import { type Database, lowestHeight, type MultiReader, pastTables } from "../../store/index.ts";
import { readLastBlock } from "../lastblock.ts";

/** A committed state before the last one. */
export interface PastState {
  readonly block: BlockInfo;
  readonly stores: MultiReader;
}

/** What is kept of heights before the last one. */
export interface PastStates {
  /** Undefined where the height is not kept. */
  at(height: bigint): PastState | undefined;
  /** The lowest that is kept; undefined where none is. */
  lowest(): bigint | undefined;
}

/** Those that stand in the tables of a state, whoever writes them. */
export function pastStates(tables: Pick<Database, "table">): PastStates {
  return {
    at(height) {
      const past = pastTables(tables, height);
      const block = past && readLastBlock(past);
      // The first height has none before it.
      return past === undefined || block?.height !== height ? undefined : { block, stores: past };
    },
    lowest: () => lowestHeight(tables),
  };
}
