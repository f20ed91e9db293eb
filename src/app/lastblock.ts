import { type BlockInfo, remembered } from "../runtime/index.ts";
import type { Database, Write } from "../store/index.ts";
import { fromHex, fromUtf8, toHex, toUtf8 } from "../util/index.ts";

/**
 * The last committed block's header data are stored beside the state, in the same atomic write; they are not hashed.
 */
export const LAST_BLOCK_TABLE = "app";
const KEY = toUtf8("last_block");

/** Queries read the same record again and again between two blocks. */
const stored = remembered<BlockInfo>({
  encode({ chainId, height, time, proposer }) {
    return toUtf8(JSON.stringify({ chainId, height: `${height}`, time: `${time}`, proposer: toHex(proposer) }));
  },
  decode(bytes) {
    const raw: { chainId: string; height: string; time: string; proposer: string } = JSON.parse(fromUtf8(bytes));
    return { ...raw, height: BigInt(raw.height), time: BigInt(raw.time), proposer: fromHex(raw.proposer) };
  },
});

export function readLastBlock(database: Pick<Database, "table">): BlockInfo | undefined {
  const bytes = database.table(LAST_BLOCK_TABLE).get(KEY);
  return bytes === undefined ? undefined : stored.decode(bytes);
}

export function lastBlockWrite(block: BlockInfo): Write {
  return { table: LAST_BLOCK_TABLE, key: KEY, value: stored.encode(block) };
}
