import { expect, it } from "vitest";
import { KvNetwork, kvTx } from "../../../../test/support/block-engine/network.ts";
import { memoryDatabase } from "../../../store/index.ts";
import type { ExecutedBlock } from "../blocks/block-records.ts";
import { BlockStore } from "../blocks/block-store.ts";
import { termText } from "./postings.ts";
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

it("has one term for an attribute that two types of events spell alike", () => {
  const database = memoryDatabase();
  const index = new TxIndex(database, new BlockStore(database));
  const block = blockWithValues(1);
  const event = (type: string, key: string) => ({ type, attributes: [{ key, value: "1", index: true }] });
  const [first] = block.txResults;
  if (first === undefined) throw new Error("the block is empty");
  const events = [event("a.b", "c"), event("a", "b.c")];
  const txResults = events.map((each) => ({ ...first, events: [each] }));
  database.write(index.writes({ ...block, txResults }, [new Uint8Array(32), new Uint8Array(32).fill(1)]));
  const heights = { from: 0n, to: 10n };
  for (const value of [undefined, "1"])
    expect([...index.postings.find(termText("tx", "a.b.c", value), heights)].map(({ indexes }) => indexes)).toEqual([
      [0, 1],
    ]);
});
