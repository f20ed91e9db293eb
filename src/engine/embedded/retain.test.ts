import { describe, expect, it } from "vitest";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { DEFAULT_CONSENSUS_PARAMS } from "../../abci/index.ts";
import { toHex } from "../../util/index.ts";
import { encodeBlock } from "./blocks/codec.ts";
import { blockIdFor, txHash } from "./blocks/hashes.ts";
import type { EmbeddedEngine } from "./engine.ts";
import { searchTxs } from "./index/search.ts";
import { RETAIN_WORK, type Retention, retainHeight } from "./retain.ts";

const MAX_AGE = 5n;

function open(network: KvNetwork, retention: Retention): EmbeddedEngine {
  const consensusParams = {
    ...DEFAULT_CONSENSUS_PARAMS,
    evidence: { ...DEFAULT_CONSENSUS_PARAMS.evidence, maxAgeNumBlocks: MAX_AGE },
  };
  return network.engine({ genesis: { ...network.genesis, consensusParams }, retention });
}

function produce(engine: EmbeddedEngine, blocks: number, txs = 1): void {
  for (let i = 0; i < blocks; i++) {
    for (let j = 0; j < txs; j++) engine.mempool.add(kvTx(`k${engine.blocks.height}-${j}=v`));
    engine.produceBlock();
  }
}

function rows(network: KvNetwork, table: string): number {
  return [...network.database.table(table).iterate()].length;
}

describe("the first block that is kept", () => {
  const none = { minBlocks: 0n, snapshotBlocks: 0n };
  it.each([
    ["all stay without a number", 1000n, none, 10n, 0n],
    ["the number is that of blocks behind the last one", 1000n, { ...none, minBlocks: 100n }, 10n, 900n],
    ["evidence keeps blocks longer", 1000n, { ...none, minBlocks: 100n }, 300n, 700n],
    ["snapshots keep blocks longer", 1000n, { minBlocks: 100n, snapshotBlocks: 400n }, 300n, 600n],
    ["a young chain keeps all", 100n, { ...none, minBlocks: 100n }, 10n, 0n],
    ["one block more gives the first up", 101n, { ...none, minBlocks: 100n }, 10n, 1n],
    ["evidence of any age keeps no more than asked", 1000n, { ...none, minBlocks: 100n }, 0n, 900n],
  ])("%s", (_, height, retention, age, expected) => {
    expect(retainHeight(height, retention, age)).toBe(expected);
  });
});

describe("old blocks", () => {
  it("go with all that refers to them, and the first that stays is complete", () => {
    const network = new KvNetwork();
    const engine = open(network, { minBlocks: 8n, snapshotBlocks: 0n });
    produce(engine, 3);
    const early = txHash(kvTx("k1-0=v"));
    expect(engine.index.tx(early)?.height).toBe(2n);
    const earlyBlock = engine.blocks.record(2n)?.commit.blockId.hash ?? new Uint8Array(32);
    produce(engine, 27);
    expect([engine.blocks.base, engine.blocks.height]).toEqual([22n, 30n]);
    expect(engine.blocks.record(21n)).toBeUndefined();
    expect(engine.blocks.txs(21n)).toEqual([]);
    expect(engine.index.tx(early)).toBeUndefined();
    expect(engine.index.blockHeight(earlyBlock)).toBeUndefined();
    // One more row, for the votes on the block before the first.
    expect(rows(network, "engine/blocks")).toBe(10);
    expect(rows(network, "engine/txs")).toBe(9);
    expect(rows(network, "index/txs")).toBe(9);
    expect(rows(network, "engine/validators")).toBe(1);
    const first = engine.blocks.block(22n);
    if (first === undefined) throw new Error("block 22 is kept");
    const known = engine.blocks.record(22n)?.commit.blockId.hash ?? new Uint8Array(0);
    expect(toHex(blockIdFor(first.header, encodeBlock(first)).parts.hash)).toBe(
      toHex(engine.blocks.record(22n)?.commit.blockId.parts.hash ?? new Uint8Array(0)),
    );
    expect(toHex(blockIdFor(first.header, encodeBlock(first)).hash)).toBe(toHex(known));
    const page = { page: 1, perPage: 100, descending: false };
    expect(searchTxs(engine, { query: [], ...page }).total).toBe(9);
    // The same holds after a restart; from then on all blocks stay if that is asked for.
    const again = open(network, { minBlocks: 0n, snapshotBlocks: 0n });
    expect([again.blocks.base, again.blocks.height]).toEqual([22n, 30n]);
    produce(again, 5);
    expect([again.blocks.base, rows(network, "engine/blocks")]).toEqual([22n, 15]);
  });

  it("go a part with each block, and none of them is seen meanwhile", () => {
    const network = new KvNetwork();
    const all = open(network, { minBlocks: 0n, snapshotBlocks: 0n });
    produce(all, 12, 1_000);
    const engine = open(network, { minBlocks: 1n, snapshotBlocks: 0n });
    const before = rows(network, "index/txs");
    expect(before).toBe(12_000);
    produce(engine, 1, 0);
    expect(engine.blocks.base).toBe(13n - MAX_AGE);
    const gone = before - rows(network, "index/txs");
    expect(gone).toBeGreaterThan(RETAIN_WORK.least * 0.9);
    expect(gone).toBeLessThan(RETAIN_WORK.least * 1.1);
    expect(engine.index.tx(txHash(kvTx("k6-999=v")))).toBeUndefined();
    produce(engine, 10, 0);
    expect(rows(network, "index/txs")).toBe(0);
    expect(rows(network, "engine/blocks")).toBe(Number(MAX_AGE) + 2);
  });

  it("leave a transaction that came again in the index", () => {
    const network = new KvNetwork();
    const engine = open(network, { minBlocks: 6n, snapshotBlocks: 0n });
    const tx = kvTx("again=1");
    const blocks: bigint[] = [];
    for (let i = 0; i < 20; i++) {
      if (i === 1 || i === 15) {
        // As after a restart: the mempool does not know it.
        const fresh = open(network, { minBlocks: 6n, snapshotBlocks: 0n });
        fresh.mempool.add(tx);
        blocks.push(fresh.produceBlock().block.header.height);
      } else open(network, { minBlocks: 6n, snapshotBlocks: 0n }).produceBlock();
    }
    void engine;
    const last = open(network, { minBlocks: 6n, snapshotBlocks: 0n });
    expect(last.blocks.base > (blocks[0] ?? 0n)).toBe(true);
    expect(last.index.tx(txHash(tx))?.height).toBe(blocks[1]);
  });
});
