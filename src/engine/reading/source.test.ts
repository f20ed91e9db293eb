import { expect, it } from "vitest";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { toHex } from "../../util/index.ts";
import { parseQuery } from "../embedded/index/query.ts";
import { embeddedSource } from "../embedded/source.ts";
import { CHAIN_TABLES, chainReader, StatusMemo } from "./source.ts";

it("reads from a chain's tables what its engine reports, before and after every block", () => {
  const network = new KvNetwork();
  const engine = network.engine();
  const source = embeddedSource(engine);
  const tables = {
    table: (name: string) => {
      expect(CHAIN_TABLES).toContain(name);
      return network.database.table(name);
    },
  };
  const reader = chainReader({ tables, genesis: network.genesis, memo: new StatusMemo() });
  const page = { page: 1, perPage: 10, descending: false };
  /** Normalises details that are not part of an answer: kinds of byte arrays, and the names of messages and voters. */
  const plain = (value: unknown): unknown => {
    if (value instanceof Uint8Array) return toHex(value);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value;
    const told = Object.entries(value).filter(([name]) => name !== "$typeName" && name !== "name");
    return Object.fromEntries(told.map(([name, each]) => [name, plain(each)]));
  };
  const equal = (told: unknown, expected: unknown): void => expect(plain(told)).toEqual(plain(expected));
  const same = (): void => {
    equal(reader.status(), source.status());
    for (const height of [0n, 1n, 2n, 3n, 4n]) {
      equal(reader.blocks.record(height), source.blocks.record(height));
      equal(reader.blocks.block(height), source.blocks.block(height));
      equal(reader.blocks.txs(height), source.blocks.txs(height));
    }
    for (const height of [1n, 2n, 3n].filter((each) => each <= engine.blocks.height)) {
      const hash = engine.blocks.record(height)?.commit.blockId.hash ?? new Uint8Array();
      expect(reader.blocks.heightOf(hash)).toBe(height);
      equal(reader.blocks.validators(height), source.blocks.validators(height));
    }
    for (const text of ["set.key='a'", "message.action='set'", "tx.height=2"]) {
      const query = parseQuery(text);
      equal(reader.txs.search({ ...page, query }), source.txs.search({ ...page, query }));
    }
    const query = parseQuery("block.height>0");
    equal(reader.blocks.search({ ...page, query }), source.blocks.search({ ...page, query }));
  };
  same();
  for (const txs of [["a=1"], [], ["a=2", "b=3"]]) {
    for (const tx of txs) engine.mempool.add(kvTx(tx));
    const { txHashes } = engine.produceBlock();
    same();
    for (const hash of txHashes) equal(reader.txs.find(hash), source.txs.find(hash));
  }
});
