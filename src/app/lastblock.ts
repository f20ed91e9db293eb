import { type BlockInfo, remembered } from "../runtime/index.ts";
import { type Database, type KVStore, stateTable, type Write } from "../store/index.ts";
import { fromHex, fromUtf8, toHex, toUtf8 } from "../util/index.ts";

type Tables = Pick<Database, "table">;

/** The store that holds what the application itself keeps. The app hash covers it. */
export const CONSENSUS = "consensus";
const KEY = Uint8Array.of(0x01);
/** Key of the versions of the modules. */
export const MODULES_KEY = Uint8Array.of(0x02);

/** Where earlier versions kept the last block and the versions of the modules: beside the state, without a hash. */
export const UNHASHED_TABLE = "app";
const UNHASHED_KEY = toUtf8("last_block");

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

/** The last committed block. */
export function readLastBlock(tables: Tables): BlockInfo | undefined {
  const bytes = tables.table(stateTable(CONSENSUS)).get(KEY) ?? tables.table(UNHASHED_TABLE).get(UNHASHED_KEY);
  return bytes === undefined ? undefined : stored.decode(bytes);
}

/** Whether a state holds the record itself. Earlier versions kept it beside the state. */
export function holdsLastBlock(tables: Tables): boolean {
  return tables.table(stateTable(CONSENSUS)).has(KEY);
}

export function recordLastBlock(store: KVStore, block: BlockInfo): void {
  store.set(KEY, stored.encode(block));
}

/** The record as earlier versions wrote it. */
export function unhashedBlockWrite(block: BlockInfo): Write {
  return { table: UNHASHED_TABLE, key: UNHASHED_KEY, value: stored.encode(block) };
}

/** Removes the records, which a state has from its first block on. */
export function withoutRecords(store: KVStore): void {
  for (const key of [KEY, MODULES_KEY]) store.delete(key);
}

/** Removes what earlier versions kept without a hash. */
export function unhashedRemovals(tables: Tables): Write[] {
  return [...tables.table(UNHASHED_TABLE).iterate()].map(([key]) => ({ table: UNHASHED_TABLE, key, value: null }));
}
