import { deflateSync, inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { entriesOf, simulateMarket } from "../../../test/support/market-run.ts";
import { simRandom } from "../../../test/support/simulation/operation.ts";
import { sha256 } from "../../crypto/index.ts";
import { MAX_CHUNK_BYTES, memoryDatabase, type SnapshotHead, takeSnapshot } from "../../store/index.ts";
import { endItem, entryItem, heightItem, snapshotHead, tableItem } from "../../store/snapshots/form.ts";
import { concatBytes, toHex, toUtf8 } from "../../util/index.ts";
import { createApp } from "../app.ts";
import { storeNames } from "../module-set.ts";
import { snapshotTables } from "./connection.ts";

const SEED = Number(process.env.SEED ?? 1123);
const run = simulateMarket(SEED, 60, { retentionBlocks: 100n });
const { chain } = run;
const stores = storeNames(chain.app.modules);

/** Takes a snapshot of the last height while `meanwhile` runs at every pause. */
async function taken(meanwhile: () => void = () => {}) {
  const { database, app } = chain;
  const { height, appHash } = app.state;
  const release = app.state.hold(height);
  const chunks: Uint8Array[] = [];
  const head = await takeSnapshot({
    database,
    height,
    tables: snapshotTables(stores),
    save: async (index, chunk) => {
      chunks[index] = chunk;
    },
    pause: async () => meanwhile(),
  });
  release();
  return { head, chunks, appHash, entries: entriesAt(), app: app.exportGenesis() };
}

/** Every entry of every store of the chain. */
function entriesAt(app = chain.app): string[] {
  return stores.flatMap((store) =>
    entriesOf(app, store).map(([key, value]) => `${store} ${toHex(key)} ${toHex(value)}`),
  );
}

function newNode() {
  const database = memoryDatabase();
  return { database, app: createApp({ database, checkInvariants: true }) };
}

function offer(node: ReturnType<typeof newNode>, snapshot: SnapshotHead, appHash: Uint8Array) {
  return node.app.offerSnapshot({ snapshot, appHash });
}

const rowsOf = (node: ReturnType<typeof newNode>) =>
  [...stores.flatMap((name) => [`state/${name}`, `paths/${name}`]), "app", "commit"].flatMap((table) => [
    ...node.database.table(table).iterate(),
  ]).length;

describe(`a snapshot of a market of seed ${SEED}`, () => {
  it("is the state of its height, whatever blocks change and pruning gives up meanwhile", async () => {
    const before = entriesAt();
    const { head, chunks, appHash } = await taken(() => chain.nextBlock(7));
    expect(chain.app.state.height - head.height).toBeGreaterThan(100n);
    expect(chunks.every(({ length }) => length <= MAX_CHUNK_BYTES)).toBe(true);
    const node = newNode();
    expect(offer(node, head, appHash)).toBe("accept");
    for (const [index, chunk] of chunks.entries())
      expect(node.app.applySnapshotChunk({ index, chunk, sender: "a" }).result).toBe("accept");
    expect(entriesAt(node.app)).toEqual(before);
    expect(node.app.info().lastBlockHeight).toBe(head.height);
    expect(toHex(node.app.info().lastBlockAppHash)).toBe(toHex(appHash));
    expect(node.app.brokenInvariants()).toEqual([]);
    // The heights that were held for the snapshot are given up now.
    chain.nextBlock(10);
    expect(chain.app.state.lowestHeight).toBeGreaterThan(head.height);
  });

  it("goes on like the chain that it was taken of, after a restart too", async () => {
    const { head, chunks, appHash, app } = await taken();
    const node = newNode();
    offer(node, head, appHash);
    for (const [index, chunk] of chunks.entries()) node.app.applySnapshotChunk({ index, chunk, sender: "" });
    expect(node.app.exportGenesis()).toEqual(app);
    const again = createApp({ database: node.database, checkInvariants: true });
    const block = { height: head.height + 1n, time: chain.time + 6_000_000_000n, proposer: new Uint8Array(20).fill(7) };
    const request = { ...block, txs: [], hash: new Uint8Array(32), nextValidatorsHash: new Uint8Array(0) };
    const evidence = { lastCommit: chain.voters.commit(), misbehavior: [] };
    const hash = toHex(again.finalizeBlock({ ...request, ...evidence }).appHash);
    again.commit();
    chain.nextBlock();
    expect(hash).toBe(toHex(chain.app.info().lastBlockAppHash));
    expect(again.state.lowestHeight).toBe(head.height);
  });

  it("refuses a chunk of which any byte is another, and asks for it again", async () => {
    const { head, chunks, appHash } = await taken();
    const node = newNode();
    offer(node, head, appHash);
    const random = simRandom(SEED);
    const [chunk = new Uint8Array(0)] = chunks;
    for (let i = 0; i < 200; i++) {
      const bad = Uint8Array.from(chunk);
      const at = i === 0 ? 0 : i === 1 ? bad.length - 1 : random.int(bad.length);
      bad[at] = (bad[at] ?? 0) ^ (1 << random.int(8));
      expect(node.app.applySnapshotChunk({ index: 0, chunk: bad, sender: "liar" })).toEqual({
        result: "retry",
        refetchChunks: [0],
        rejectSenders: ["liar"],
      });
    }
    expect(node.app.applySnapshotChunk({ index: 1, chunk, sender: "a" }).result).toBe("abort");
    for (const [index, each] of chunks.entries())
      expect(node.app.applySnapshotChunk({ index, chunk: each, sender: "a" }).result).toBe("accept");
  });

  it("is refused with another app hash, and another one can be restored then", async () => {
    const { head, chunks, appHash } = await taken();
    const node = newNode();
    expect(offer(node, head, new Uint8Array(32))).toBe("accept");
    const results = chunks.map((chunk, index) => node.app.applySnapshotChunk({ index, chunk, sender: "a" }).result);
    expect(results.at(-1)).toBe("rejectSnapshot");
    expect(rowsOf(node)).toBe(0);
    expect(offer(node, head, appHash)).toBe("accept");
    // Interrupted by a second offer.
    expect(offer(node, head, appHash)).toBe("accept");
    for (const [index, chunk] of chunks.entries()) node.app.applySnapshotChunk({ index, chunk, sender: "a" });
    expect(node.app.info().lastBlockHeight).toBe(head.height);
    expect(offer(node, head, appHash)).toBe("abort");
  });

  it("is not begun if its head is impossible", async () => {
    const { head, appHash } = await taken();
    const node = newNode();
    expect(offer(node, { ...head, format: 1 }, appHash)).toBe("rejectFormat");
    const bad: Partial<SnapshotHead>[] = [
      { chunks: 0 },
      { chunks: -1 },
      { chunks: 1.5 },
      { chunks: 4_000_000_000 },
      { chunks: head.chunks + 1 },
      { hash: new Uint8Array(32) },
      { metadata: new Uint8Array(0) },
      { metadata: new Uint8Array(head.metadata.length) },
    ];
    for (const part of bad) expect(offer(node, { ...head, ...part }, appHash)).toBe("reject");
    expect(rowsOf(node)).toBe(0);
    expect(node.app.applySnapshotChunk({ index: 0, chunk: new Uint8Array(1), sender: "" }).result).toBe("abort");
  });

  it("refuses contents that lie, with nothing left of them", async () => {
    const { head, chunks, appHash } = await taken();
    const whole = Buffer.concat(chunks.map((chunk) => inflateSync(chunk)));
    const { height } = head;
    const start = heightItem(height);
    const first = tableItem(`state/${[...stores].sort()[0]}`);
    const entry = (key: string, value = "v") => entryItem(toUtf8(key), toUtf8(value));
    const longKey = Buffer.concat([Buffer.from([3, 4, 1, 0, 0, 0, 1]), Buffer.alloc(1026)]);
    const contents: Record<string, Uint8Array> = {
      nothing: new Uint8Array(0),
      "another height": concatBytes(heightItem(height + 1n), whole.subarray(9)),
      "two heights": concatBytes(start, whole),
      "an unknown table": concatBytes(start, tableItem("zz"), entry("a")),
      "a table of the engine": concatBytes(start, tableItem("engine/meta"), entry("a")),
      "the wrong order of tables": concatBytes(start, tableItem("state/auth"), entry("a")),
      "an entry without a table": concatBytes(start, entry("a")),
      "keys out of order": concatBytes(start, first, entry("b"), entry("a")),
      "a key twice": concatBytes(start, first, entry("a"), entry("a")),
      "an empty key": concatBytes(start, first, Buffer.from([3, 0, 0, 0, 0, 0, 1, 0])),
      "an empty value": concatBytes(start, first, Buffer.from([3, 0, 1, 0, 0, 0, 0, 0])),
      "a key that is too long": concatBytes(start, first, longKey),
      "a value of 4 GB": concatBytes(start, first, Buffer.from([3, 0, 1, 255, 255, 255, 255, 0])),
      "an unknown item": concatBytes(start, Buffer.from([9])),
      "a table without a name": concatBytes(start, Buffer.from([2, 0])),
      "no end": whole.subarray(0, -9),
      "half an end": whole.subarray(0, -1),
      "bytes behind the end": concatBytes(whole, Buffer.from([0])),
      "two ends": concatBytes(whole, endItem(0n)),
      "another count": concatBytes(whole.subarray(0, -9), endItem(1n)),
      "missing tables": concatBytes(start, endItem(0n)),
      "a table that no hash covers": concatBytes(start, tableItem("app"), entry("last_block", "{}")),
      ...lies(whole),
    };
    for (const [what, content] of Object.entries(contents)) {
      const node = newNode();
      expect(applied(node, deflateSync(content), appHash, height), what).toBe("rejectSnapshot");
      expect(rowsOf(node), what).toBe(0);
    }
  });

  it("is refused as one of another height, though its contents agree", async () => {
    const { chunks, appHash, head } = await taken();
    const whole = Buffer.concat(chunks.map((chunk) => inflateSync(chunk)));
    for (const height of [head.height - 1n, head.height + 1n]) {
      const node = newNode();
      const content = concatBytes(heightItem(height), whole.subarray(9));
      expect(applied(node, deflateSync(content), appHash, height)).toBe("rejectSnapshot");
      expect(rowsOf(node)).toBe(0);
    }
  });

  it("refuses a chunk that unpacks to more than a chunk holds, and what is not a chunk", async () => {
    const { appHash, head } = await taken();
    const node = newNode();
    const bomb = deflateSync(Buffer.alloc(64 << 20));
    expect(bomb.length).toBeLessThan(MAX_CHUNK_BYTES);
    expect(applied(node, bomb, appHash, head.height)).toBe("rejectSnapshot");
    expect(applied(node, toUtf8("no deflate"), appHash, head.height)).toBe("rejectSnapshot");
    expect(rowsOf(node)).toBe(0);
    const large = new Uint8Array(MAX_CHUNK_BYTES + 1);
    expect(applied(node, large, appHash, head.height)).toBe("retry");
  });
});

function applied(node: ReturnType<typeof newNode>, chunk: Uint8Array, appHash: Uint8Array, height: bigint): string {
  expect(offer(node, headOf(height, chunk), appHash)).toBe("accept");
  return node.app.applySnapshotChunk({ index: 0, chunk, sender: "liar" }).result;
}

function headOf(height: bigint, chunk: Uint8Array): SnapshotHead {
  return snapshotHead(height, [sha256(chunk)]);
}

/** The content with one field of its record of the block, or of the modules, changed. */
function lies(content: Buffer): Record<string, Uint8Array> {
  const text = content.toString("latin1");
  const fields = {
    "another chain": /"chainId":"(.)/,
    "another time": /"time":"(\d)/,
    "another proposer": /"proposer":"(.)/,
    "another height of the block": /"height":"(\d)/,
    "another version of a module": /"market":(\d)/,
  };
  return Object.fromEntries(
    Object.entries(fields).map(([what, pattern]) => {
      const found = pattern.exec(text);
      if (found === null) throw new Error(`no field for ${what}`);
      const at = found.index + found[0].length - 1;
      const changed = Buffer.from(content);
      changed[at] = (changed[at] ?? 0) ^ 1;
      return [what, changed];
    }),
  );
}
