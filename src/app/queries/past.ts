import type { BlockInfo } from "../../runtime/index.ts";
import { type Database, lowestHeight, type MultiReader, pastTables } from "../../store/index.ts";
import { readLastBlock } from "../lastblock.ts";

/** A committed state before the last one. */
export interface PastState {
  readonly block: BlockInfo;
  readonly stores: MultiReader;
}

/** The states that are kept of heights before the last one. */
export interface PastStates {
  /** Undefined where the height is not kept. */
  at(height: bigint): PastState | undefined;
  /** The lowest that is kept; undefined where none is. */
  lowest(): bigint | undefined;
}

/** The past states in the tables of a state, no matter who writes them. */
export function pastStates(tables: Pick<Database, "table">): PastStates {
  return {
    at(height) {
      const past = pastTables(tables, height);
      const block = past && readLastBlock(past);
      // Before the first height there is no state.
      return past === undefined || block?.height !== height ? undefined : { block, stores: past };
    },
    lowest: () => lowestHeight(tables),
  };
}
