import { expect, it } from "vitest";
import { KvNetwork, kvTx } from "../../../../test/support/block-engine/network.ts";
import { memoryDatabase } from "../../../store/index.ts";
import type { ExecutedBlock } from "../blocks/block-records.ts";
import { BlockStore } from "../blocks/block-store.ts";
import { TxIndex } from "./tx-index.ts";

/** A block with one transaction that has as many different attribute values as asked for. */
function blockWithValues(count: number): ExecutedBlock {
  const engine = new KvNetwork().engine();
  engine.mempool.add(kvTx("a=1"));
  const block = engine.produceBlock();
  const [first] = block.txResults;
  if (first === undefined) throw new Error("the block is empty");
  const attributes = Array.from({ length: count }, (_, i) => ({ key: "receiver", value: `account ${i}`, index: true }));
  return { ...block, txResults: [{ ...first, events: [{ type: "coin_received", attributes }] }] };
}

it("indexes every value of a block with more of them than fit onto the call stack", () => {
  const values = 150_000;
  const database = memoryDatabase();
  const index = new TxIndex(database, new BlockStore(database));
  const writes = index.writes(blockWithValues(values), [new Uint8Array(32)]);
  const terms = writes.filter(({ table }) => table === "index/terms");
  // One term for the attribute, one for each value, and the terms of the block itself.
  expect(terms.length).toBeGreaterThanOrEqual(values + 1);
});
