import type { LightBlock } from "./block.ts";
import { MAX_TRUSTED_HEADERS } from "./limits.ts";

/** Verified blocks by their heights. */
export interface TrustedStore {
  /** From the lowest to the highest. */
  blocks(): readonly LightBlock[];
  /** Adds a block; the lowest ones make room for it. */
  add(block: LightBlock): void;
}

/** A store in memory that keeps at most 1,000 blocks. */
export function memoryStore(kept: readonly LightBlock[] = [], limit: number = MAX_TRUSTED_HEADERS): TrustedStore {
  let blocks: readonly LightBlock[] = [];
  const add = (block: LightBlock): void => {
    const { height } = block.header;
    const at = blocks.findLastIndex((each) => each.header.height <= height);
    const isThere = blocks[at]?.header.height === height;
    blocks = blocks.toSpliced(isThere ? at : at + 1, isThere ? 1 : 0, block).slice(-limit);
  };
  for (const block of kept) add(block);
  return { blocks: () => blocks, add };
}
