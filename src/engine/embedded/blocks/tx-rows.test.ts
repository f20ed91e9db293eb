import { expect, test } from "vitest";
import type { TxResult } from "../../../abci/index.ts";
import { memoryDatabase } from "../../../store/index.ts";
import { toUtf8 } from "../../../util/index.ts";
import { readTx, readTxBytes, readTxs, TX_TABLES, txRemovals, txRowsBelow, txWrites } from "./tx-rows.ts";

function result(log: string): TxResult {
  return { code: 0, codespace: "", data: new Uint8Array(0), log, gasWanted: 2n, gasUsed: 1n, events: [] };
}

function block(count: number, log = "[]") {
  const txs = Array.from({ length: count }, (_, i) => toUtf8(`tx ${i}`));
  return { txs, results: txs.map((_, i) => result(`${i} ${log}`)) };
}

function rowsOf(database: ReturnType<typeof memoryDatabase>): number[] {
  return TX_TABLES.map((table) => [...database.table(table).iterate()].length);
}

test.each([
  ["none", 0, "[]", 0],
  ["one", 1, "[]", 1],
  ["a whole group", 32, "[]", 1],
  ["one more", 33, "[]", 2],
  ["results so long that each is alone", 3, "x".repeat(64 * 1024), 3],
  ["results so long that two are together", 5, "x".repeat(40 * 1024), 3],
])("a block's transactions are read as they were written: %s", (_name, count, log, groups) => {
  const database = memoryDatabase();
  const { txs, results } = block(count, log);
  for (const height of [6n, 8n]) database.write(txWrites(height, [toUtf8("other")], [result("other")]));
  database.write(txWrites(7n, txs, results));
  expect(rowsOf(database)).toEqual([groups + 2, groups + 2]);
  expect(readTxBytes(database, 7n)).toEqual(txs);
  expect(readTxs(database, 7n)).toEqual(txs.map((tx, i) => ({ tx, result: results[i] })));
  for (const [i, tx] of txs.entries()) expect(readTx(database, 7n, i)).toEqual({ tx, result: results[i] });
  expect(readTx(database, 7n, count)).toBeUndefined();
  expect(readTx(database, 9n, 0)).toBeUndefined();
});

test("what is removed leaves no row behind, and the other blocks as they were", () => {
  const database = memoryDatabase();
  const { txs, results } = block(40);
  for (const height of [1n, 2n, 3n]) database.write(txWrites(height, txs, results));
  database.write(txRemovals(database, 2n));
  expect([readTxs(database, 2n), readTxs(database, 1n).length, readTxs(database, 3n).length]).toEqual([[], 40, 40]);
  const old = [...txRowsBelow(database, 3n)];
  expect(old.map(({ height }) => height)).toEqual([1n, 1n]);
  expect(old.flatMap((row) => row.txs)).toEqual(txs);
  database.write(old.flatMap(({ removals }) => removals));
  expect(rowsOf(database)).toEqual([2, 2]);
  expect(readTxs(database, 3n)).toHaveLength(40);
});

test("a transaction without a result is neither written nor read", () => {
  const database = memoryDatabase();
  const { txs, results } = block(2);
  expect(() => txWrites(1n, txs, results.slice(1))).toThrow("transaction 1 has no result");
  database.write(txWrites(1n, txs, results).filter(({ table }) => table === TX_TABLES[0]));
  expect(readTxBytes(database, 1n)).toEqual(txs);
  expect(() => readTxs(database, 1n)).toThrow("a stored transaction has no result");
  expect(() => readTx(database, 1n, 0)).toThrow("a stored transaction has no result");
});
