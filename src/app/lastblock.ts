import type { BlockInfo } from "../runtime/index.ts";
import type { Database, Write } from "../store/index.ts";
import { fromHex, fromUtf8, toHex, toUtf8 } from "../util/index.ts";

/**
 * The last committed block's header data are stored beside the state, in the same atomic write; they are not hashed.
 */
export const LAST_BLOCK_TABLE = "app";
const KEY = toUtf8("last_block");

export function readLastBlock(database: Pick<Database, "table">): BlockInfo | undefined {
  const bytes = database.table(LAST_BLOCK_TABLE).get(KEY);
  if (bytes === undefined) return undefined;
  const raw: { chainId: string; height: string; time: string; proposer: string } = JSON.parse(fromUtf8(bytes));
  return { ...raw, height: BigInt(raw.height), time: BigInt(raw.time), proposer: fromHex(raw.proposer) };
}

export function lastBlockWrite({ chainId, height, time, proposer }: BlockInfo): Write {
  const value = { chainId, height: `${height}`, time: `${time}`, proposer: toHex(proposer) };
  return { table: LAST_BLOCK_TABLE, key: KEY, value: toUtf8(JSON.stringify(value)) };
}
