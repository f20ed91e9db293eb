import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KvNetwork, kvTx } from "../../../../test/support/block-engine/network.ts";
import { memoryDatabase } from "../../../store/index.ts";
import { toHexUpper } from "../../../util/index.ts";
import { txHash } from "../blocks/hashes.ts";
import type { EmbeddedEngine } from "../engine.ts";
import { Postings, termText } from "./postings.ts";
import { parseQuery } from "./query.ts";
import { searchBlocks, searchTxs } from "./search.ts";

function chain(): EmbeddedEngine {
  const engine = new KvNetwork().engine();
  for (const txs of [["a=1", "b=22"], [], ["a=2", "c=333", "bad=1"], ["d=4444"]]) {
    for (const tx of txs) engine.mempool.add(kvTx(tx));
    engine.produceBlock();
  }
  return engine;
}

const engine = chain();

function txs(query: string, page: { page?: number; perPage?: number; descending?: boolean } = {}): string[] {
  const { total, found } = searchTxs(engine, {
    query: parseQuery(query),
    page: 1,
    perPage: 30,
    descending: false,
    ...page,
  });
  return [...found.map(({ tx, height }) => `${height}:${Buffer.from(tx)}`), `of ${total}`];
}

describe("transaction search", () => {
  it.each([
    ["set.key='a'", ["1:a=1", "3:a=2", "of 2"]],
    ["message.action='set'", ["1:a=1", "1:b=22", "3:a=2", "3:c=333", "4:d=4444", "of 5"]],
    ["message.action='set' AND set.key='a' AND tx.height>1", ["3:a=2", "of 1"]],
    ["tx.height=3", ["3:a=2", "3:c=333", "3:bad=1", "of 3"]],
    ["tx.height>=3 AND tx.height<4 AND message.action EXISTS", ["3:a=2", "3:c=333", "of 2"]],
    ["set.amount>2", ["3:c=333", "4:d=4444", "of 2"]],
    ["set.amount CONTAINS '3u'", ["3:c=333", "of 1"]],
    ["set.key='a' AND set.amount='1utoken'", ["1:a=1", "3:a=2", "of 2"]],
    ["set.key='a' AND set.key='b'", ["of 0"]],
    ["set.hidden='1'", ["of 0"]],
    ["no.such EXISTS", ["of 0"]],
    ["tx.height>9", ["of 0"]],
    ["tx.height<=1 AND tx.height>=3", ["of 0"]],
    ["tx.height='4'", ["4:d=4444", "of 1"]],
    ["tx.height='04'", ["of 0"]],
    ["tx.height='x'", ["of 0"]],
    ["tx.height CONTAINS '4'", ["4:d=4444", "of 1"]],
    ["tx.height>1 AND tx.height EXISTS", ["3:a=2", "3:c=333", "3:bad=1", "4:d=4444", "of 4"]],
    ["tx.height>3.5", ["4:d=4444", "of 1"]],
    ["tx.height>=3.5 AND tx.height<4.5", ["4:d=4444", "of 1"]],
    ["tx.height<1.5", ["1:a=1", "1:b=22", "of 2"]],
    ["tx.height=3.5", ["of 0"]],
    [`tx.height>3 AND tx.height<=${"9".repeat(400)}`, ["4:d=4444", "of 1"]],
    ["tx.height>3 AND tx.height>-1", ["4:d=4444", "of 1"]],
    ["tx.height>TIME 2013-05-03T14:45:00Z", ["of 0"]],
    ["tx.hash EXISTS AND set.key='c'", ["3:c=333", "of 1"]],
    ["tx.hash EXISTS AND tx.height=4", ["4:d=4444", "of 1"]],
  ])("%s", (query, expected) => {
    expect(txs(query)).toEqual(expected);
  });

  it("finds by hash", () => {
    const hash = toHexUpper(txHash(kvTx("c=333")));
    expect(txs(`tx.hash='${hash}'`)).toEqual(["3:c=333", "of 1"]);
    expect(txs(`tx.hash='${hash}' AND tx.height<3`)).toEqual(["of 0"]);
    expect(txs(`tx.hash='${hash.replaceAll("A", "B")}0'`)).toEqual(["of 0"]);
    expect(txs(`tx.hash CONTAINS '${hash.slice(9, 30)}'`)).toEqual(["3:c=333", "of 1"]);
  });

  it("gives pages in either order", () => {
    const query = "message.action='set'";
    expect(txs(query, { perPage: 2, page: 2 })).toEqual(["3:a=2", "3:c=333", "of 5"]);
    expect(txs(query, { perPage: 2, descending: true })).toEqual(["4:d=4444", "3:c=333", "of 5"]);
    expect(txs(query, { perPage: 2, page: 3 })).toEqual(["4:d=4444", "of 5"]);
    expect(() => txs(query, { perPage: 2, page: 4 })).toThrow("page should be within [1, 3] range, given 4");
  });
});

describe("block search", () => {
  it.each([
    ["kv.count='0'", [2n]],
    ["kv.count>1", [1n, 3n]],
    ["block.height>2", [3n, 4n]],
    ["block.height>2 AND kv.count EXISTS AND kv.count<3", [4n]],
    ["block.height='3'", [3n]],
    ["block.height EXISTS AND block.height>2.5", [3n, 4n]],
    ["block.height CONTAINS '4'", [4n]],
    ["set.key='a'", []],
  ])("%s", (query, heights) => {
    expect(searchBlocks(engine, { query: parseQuery(query), page: 1, perPage: 10, descending: false }).found).toEqual(
      heights,
    );
  });
});

describe("postings", () => {
  it("give back what was written, over epochs and restarts", () => {
    const occurrences = fc.array(
      fc.dictionary(fc.constantFrom("a", "b", "c"), fc.uniqueArray(fc.nat(5000), { maxLength: 9 })),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(occurrences, fc.nat(12), fc.nat(12), (blocks, low, high) => {
        const database = memoryDatabase();
        let postings = new Postings(database);
        for (const [i, terms] of blocks.entries()) {
          // The process restarts now and then.
          if (i % 3 === 0) postings = new Postings(database);
          const sorted = Object.entries(terms).map(([key, list]): [string, number[]] => [
            key,
            list.sort((x, y) => x - y),
          ]);
          database.write(postings.writes(BigInt(i + 1), sorted));
        }
        for (const term of ["a", "b", "c"]) {
          const found = [...postings.find(term, { from: BigInt(low), to: BigInt(high) })];
          const expected = blocks.flatMap((terms, i) =>
            terms[term] !== undefined && i + 1 >= low && i + 1 <= high
              ? [{ height: BigInt(i + 1), indexes: terms[term] }]
              : [],
          );
          expect(found).toEqual(expected);
        }
      }),
    );
  });

  it("begin a new epoch when one is full", () => {
    const database = memoryDatabase();
    const postings = new Postings(database);
    const many = new Map(Array.from({ length: 40_000 }, (_, i): [string, number[]] => [`filler ${i}`, [0]]));
    const term = termText("tx", "a.b", "c");
    for (const height of [10n, 20n, 30n]) database.write(postings.writes(height, [...many, [term, [1, 7]]]));
    const found = [...new Postings(database).find(term, { from: 1n, to: 99n })];
    expect(found).toEqual([10n, 20n, 30n].map((height) => ({ height, indexes: [1, 7] })));
    expect([...database.table("index/epochs").iterate()]).toHaveLength(2);
  });
});

describe("a page of large rows", () => {
  it("is refused beyond its bytes, while one row is given whatever its size", () => {
    const large = new KvNetwork().engine();
    for (let i = 0; i < 12; i++) {
      large.mempool.add(kvTx(`k${i}=${"x".repeat(1_000_000)}`));
      large.produceBlock();
    }
    const search = (perPage: number) =>
      searchTxs(large, { query: parseQuery("message.action='set'"), page: 1, perPage, descending: false });
    expect(search(2).found.map(({ height }) => height)).toEqual([1n, 2n]);
    expect(() => search(12)).toThrow("the page has more than 10485760 bytes; ask for fewer rows with per_page");
    const blocks = (perPage: number) =>
      searchBlocks(large, { query: parseQuery("kv.count='1'"), page: 1, perPage, descending: false });
    expect(blocks(2).found).toEqual([1n, 2n]);
    expect(() => blocks(12)).toThrow("ask for fewer rows with per_page");
  });
});
