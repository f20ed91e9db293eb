import { deflateRawSync, deflateSync, inflateSync, constants as zlib } from "node:zlib";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { KvNetwork } from "../../../test/support/block-engine/network.ts";
import { simulateMarket } from "../../../test/support/market-run.ts";
import { createApp, snapshotTables, storeNames, UNHASHED_TABLES } from "../../app/index.ts";
import { sha256 } from "../../crypto/index.ts";
import { AbciCalls } from "../../engine/cometbft/abci/calls.ts";
import { Records } from "../../engine/cometbft/records.ts";
import { BlockStore } from "../../engine/embedded/blocks/block-store.ts";
import { TxIndex } from "../../engine/embedded/index/tx-index.ts";
import { KEEP_ALL } from "../../engine/embedded/retain.ts";
import { clearRestore, MAX_CHUNK_BYTES, memoryDatabase, type SnapshotHead, takeSnapshot } from "../../store/index.ts";
import {
  endItem,
  entryItem,
  heightItem,
  ItemReader,
  MAX_CHUNKS,
  snapshotHead,
  tableItem,
} from "../../store/snapshots/form.ts";
import { concatBytes } from "../../util/index.ts";
import {
  ResponseApplySnapshotChunk_Result as Applied,
  ResponseOfferSnapshot_Result as Offered,
  RequestSchema,
} from "../../wire/gen/comet/v1/app_pb.js";

const SEED = Number(process.env.SEED ?? 2811);
const { chain } = simulateMarket(SEED, 20);
const { app: source, database } = chain;
const stores = storeNames(source.modules);
const tables = snapshotTables(stores);
const { height, appHash } = source.state;
const { genesis } = new KvNetwork();

type Value = NonNullable<MessageInitShape<typeof RequestSchema>["value"]>;
/** Entries of each table, in the order of a snapshot. */
type Tables = Map<string, (readonly [key: Uint8Array, value: Uint8Array])[]>;

/** The bytes of the snapshot of the chain, without compression. */
async function contentOfChain(): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const save = async (_: number, chunk: Uint8Array) => void chunks.push(chunk);
  await takeSnapshot({ database, height, tables, save, pause: async () => {} });
  return Buffer.concat(chunks.map((chunk) => inflateSync(chunk)));
}

const content = await contentOfChain();
const honest = chunksOf(content, 3);

/** A content in so many chunks. */
function chunksOf(bytes: Uint8Array, count: number): Buffer[] {
  const size = Math.ceil(bytes.length / count);
  return Array.from({ length: count }, (_, i) => deflateSync(bytes.subarray(i * size, (i + 1) * size)));
}

function entries(): Tables {
  const found: Tables = new Map();
  let table = "";
  for (const item of new ItemReader().read(content)) {
    if (item.kind === "table") {
      table = item.name;
      found.set(table, []);
    }
    if (item.kind === "entry") found.get(table)?.push([item.key, item.value]);
  }
  return found;
}

function contentOf(of: Tables): Uint8Array {
  const rows = [...of].flatMap(([name, each]) => [tableItem(name), ...each.map((row) => entryItem(...row))]);
  const count = [...of.values()].reduce((sum, each) => sum + each.length, 0);
  return concatBytes(heightItem(height), ...rows, endItem(BigInt(count)));
}

/** The application of a node, as its engine calls it. */
class Joiner {
  readonly database = memoryDatabase();
  #calls = this.#open();

  /** Opens the home again. */
  restart(): void {
    clearRestore(this.database, tables, UNHASHED_TABLES);
    this.#calls = this.#open();
  }

  #open(): AbciCalls {
    const [database, blocks] = [this.database, new BlockStore(this.database)];
    const app = createApp({ database, checkInvariants: true });
    const index = new TxIndex(database, blocks);
    const recorder = new Records({ database, blocks, index, genesis, retention: KEEP_ALL, onCommit: () => {} });
    const params = blocks.consensusParams(app.info().lastBlockHeight + 1n);
    return new AbciCalls({ app, genesis, genesisBytes: 0, params, recorder, haltHeight: 0n });
  }

  ask(value: Value) {
    return this.#calls.answer(create(RequestSchema, { value })).value;
  }

  offer(snapshot: SnapshotHead, hash = appHash): unknown {
    return resultOf(this.ask({ case: "offerSnapshot", value: { snapshot: { ...snapshot }, appHash: hash } }));
  }

  apply(index: number, chunk: Uint8Array): unknown {
    return resultOf(this.ask({ case: "applySnapshotChunk", value: { index, chunk, sender: "liar" } }));
  }

  /** The answer to the last chunk that was taken: that of all, or the first that was not accepted. */
  sync(chunks: readonly Uint8Array[], at = height, hash = appHash): unknown {
    expect(this.offer(snapshotHead(at, chunks.map(sha256)), hash)).toBe(Offered.ACCEPT);
    let last: unknown;
    for (const [i, chunk] of chunks.entries()) {
      last = this.apply(i, chunk);
      if (last !== Applied.ACCEPT) break;
    }
    return last;
  }

  get info() {
    return this.ask({ case: "info", value: {} });
  }

  /** Executes an empty block behind the snapshot. */
  nextBlock() {
    const votes = chain.voters.commit().votes.map(({ validator, flag: blockIdFlag }) => ({ validator, blockIdFlag }));
    const time = timestampFromMs(Number(chain.time / 1_000_000n) + 6_000);
    const facts = { height: height + 1n, time, proposerAddress: new Uint8Array(20).fill(7), hash: new Uint8Array(32) };
    const answer = this.ask({ case: "finalizeBlock", value: { ...facts, decidedLastCommit: { round: 0, votes } } });
    this.ask({ case: "commit", value: {} });
    return answer;
  }

  /** Everything that is in the database, but for facts about blocks. */
  get rows(): number {
    const names = [...stores.flatMap((name) => [`state/${name}`, `paths/${name}`]), "app", "commit"];
    return names.reduce((sum, name) => sum + [...this.database.table(name).iterate()].length, 0);
  }
}

function resultOf(answer: object | undefined): unknown {
  return answer !== undefined && "result" in answer ? answer.result : undefined;
}

describe(`an engine that fetches the state of a market of seed ${SEED}`, () => {
  const joined = { lastBlockHeight: height, lastBlockAppHash: appHash };

  it("continues with it as the chain does, also after the home is opened again", () => {
    for (const isRestarted of [false, true]) {
      const joiner = new Joiner();
      expect(joiner.sync(honest)).toBe(Applied.ACCEPT);
      if (isRestarted) joiner.restart();
      expect(joiner.info).toMatchObject(joined);
      expect(() => joiner.ask({ case: "initChain", value: {} })).toThrow("has begun already");
      expect(joiner.nextBlock()).toMatchObject({ appHash: next() });
    }
  });

  /** App hash of the chain with the next block. */
  function next(): Uint8Array {
    const copy = chain.fork();
    copy.nextBlock();
    return copy.app.state.appHash;
  }

  it("gets the state again after an end at any chunk, until a block follows it", () => {
    const joiner = new Joiner();
    for (const done of [0, 1, 2, 3]) {
      expect(joiner.offer(snapshotHead(height, honest.map(sha256)))).toBe(Offered.ACCEPT);
      for (const [i, chunk] of honest.slice(0, done).entries()) expect(joiner.apply(i, chunk)).toBe(Applied.ACCEPT);
      joiner.restart();
      expect(joiner.rows > 0).toBe(done === honest.length);
    }
    expect(joiner.sync(honest)).toBe(Applied.ACCEPT);
    expect(joiner.info).toMatchObject(joined);
    joiner.nextBlock();
    expect(joiner.offer(snapshotHead(height, honest.map(sha256)))).toBe(Offered.ABORT);
    expect(joiner.info).toMatchObject({ lastBlockHeight: height + 1n });
  });

  it("is not fooled in any table by a liar whose hashes are good, and continues with an honest snapshot", () => {
    const joiner = new Joiner();
    for (const table of entries().keys())
      for (const lie of ["another value", "another key", "an entry less", "an entry more"]) {
        const lying = entries();
        const rows = lying.get(table) ?? [];
        const [key, value] = rows.at(-1) ?? [Uint8Array.of(1), Uint8Array.of(1)];
        if (lie === "an entry less" && rows.length === 0) continue;
        if (lie !== "an entry more") rows.pop();
        const [otherKey, otherValue] = [Uint8Array.of(...key, 0), Uint8Array.of(...value, 0)];
        if (lie === "another value") rows.push([key, otherValue]);
        if (lie === "another key" || lie === "an entry more") rows.push([otherKey, value]);
        expect(joiner.sync(chunksOf(contentOf(lying), 2)), `${lie} in ${table}`).toBe(Applied.REJECT_SNAPSHOT);
        expect(joiner.rows, table).toBe(0);
        expect(joiner.info).toMatchObject({ lastBlockHeight: 0n });
      }
    expect(Buffer.compare(contentOf(entries()), content)).toBe(0);
    expect(joiner.sync(honest)).toBe(Applied.ACCEPT);
    expect(joiner.nextBlock()).toMatchObject({ appHash: next() });
  });

  it("refuses a snapshot of 100,001 chunks", () => {
    const joiner = new Joiner();
    const hashes = Array.from({ length: MAX_CHUNKS + 1 }, () => appHash);
    expect(joiner.offer(snapshotHead(height, hashes))).toBe(Offered.REJECT);
    expect(joiner.rows).toBe(0);
  });

  it("refuses a chunk of 10 MB that unpacks to 10 GB, before it is unpacked", () => {
    const joiner = new Joiner();
    const piece = deflateRawSync(Buffer.alloc(64 << 20), { finishFlush: zlib.Z_FULL_FLUSH });
    const bomb = concatBytes(
      Uint8Array.of(0x78, 0x9c),
      ...Array.from({ length: Math.floor(MAX_CHUNK_BYTES / piece.length) }, () => piece),
    );
    expect(bomb.length).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
    expect(bomb.length).toBeGreaterThan(9_900_000);
    expect(joiner.sync([bomb])).toBe(Applied.REJECT_SNAPSHOT);
    expect(joiner.rows).toBe(0);
  });

  const [first = Buffer.alloc(0), second = Buffer.alloc(0), third = Buffer.alloc(0)] = honest;
  const cut = content.length >> 1;
  const forged: readonly (readonly [string, readonly Uint8Array[]])[] = [
    ["in another order", [second, first, third]],
    ["of which one is missing", [first, third]],
    ["of which one comes twice", [first, first, second, third]],
    ["of which the last is cut short", [first, second, third.subarray(0, -5)]],
    ["whose content is cut short", chunksOf(content.subarray(0, cut), 2)],
    ["whose content goes on behind its end", chunksOf(concatBytes(content, content), 2)],
    ["of another height", chunksOf(concatBytes(heightItem(height - 1n), content.subarray(9)), 2)],
  ];

  it.each(forged)("refuses chunks %s, and takes the right ones then", (_, chunks) => {
    const joiner = new Joiner();
    expect(joiner.sync(chunks)).toBe(Applied.REJECT_SNAPSHOT);
    expect(joiner.rows).toBe(0);
    expect(joiner.sync(honest)).toBe(Applied.ACCEPT);
  });

  it("refuses the state of another height than the header's", () => {
    const joiner = new Joiner();
    expect(joiner.sync(honest, height, next())).toBe(Applied.REJECT_SNAPSHOT);
    const moved = chunksOf(concatBytes(heightItem(height + 1n), content.subarray(9)), 2);
    expect(joiner.sync(moved, height + 1n)).toBe(Applied.REJECT_SNAPSHOT);
    expect(joiner.rows).toBe(0);
  });
});
