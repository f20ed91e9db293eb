import { spawnSync } from "node:child_process";
import type { Database, Write } from "../../store/index.ts";
import { uint64ToBytes } from "../../util/index.ts";
import { decodeRecord } from "../embedded/blocks/block-records.ts";
import { BlockReader, EXECUTED_TABLE } from "../embedded/blocks/block-store.ts";
import { TxReader } from "../embedded/index/tx-index.ts";
import { engineErrors } from "../errors.ts";

const LONGEST_MS = 120_000;

/**
 * Lets CometBFT roll its own state in a folder back by one block, which stays. Returns the height that is left; throws with
 * CometBFT's words.
 */
export function rollbackComet(program: string, root: string): bigint {
  const args = ["rollback", "--home", root];
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: LONGEST_MS });
  const [, height] = /Rolled back state to height (\d+)/.exec(stdout) ?? [];
  if (status === 0 && height !== undefined) return BigInt(height);
  const words = (stderr || stdout).trim().split("\n").at(-1);
  throw engineErrors.failed(`cometbft rollback: ${error?.message ?? words}`);
}

/** The writes that remove the last executed block, whether its header is here or not. */
export function executedRemovals(tables: Pick<Database, "table">, height: bigint): Write[] {
  const blocks = new BlockReader(tables);
  const key = uint64ToBytes(height);
  const executed = tables.table(EXECUTED_TABLE).get(key);
  const record = executed === undefined ? blocks.record(height) : decodeRecord(executed);
  const index = new TxReader(tables, blocks).removals(height, record);
  return [...blocks.removals(height), { table: EXECUTED_TABLE, key, value: null }, ...index];
}
