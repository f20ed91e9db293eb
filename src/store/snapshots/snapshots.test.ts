import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { toHex, uint64ToBytes } from "../../util/index.ts";
import { memoryDatabase } from "../database/memory.ts";
import { storeErrors } from "../errors.ts";
import { StateStore } from "../state.ts";
import { sha256 } from "../tree/hash.ts";
import { loadArchive, writeArchive } from "./archive.ts";
import { recordText, SnapshotDirectory } from "./directory.ts";
import { CHUNK_CONTENT_BYTES, MAX_CHUNK_BYTES, snapshotHead } from "./form.ts";
import { clearRestore, StateRestore } from "./restore.ts";
import { PIECE, takeSnapshot } from "./take.ts";

const STORES = ["bank", "auth"];
const TABLES = { stores: STORES, kept: ["app"] };
const SEED = Number(process.env.SEED ?? 77);
const root = mkdtempSync(join(tmpdir(), "svc-snapshots-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A state of some megabytes whose values do not compress. */
function chain() {
  const database = memoryDatabase();
  const state = StateStore.open(database, STORES, { pruning: { keepRecent: 2n, interval: 10n } });
  let seed = SEED;
  const next = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return seed;
  };
  const value = (bytes: number) => {
    const made = Buffer.alloc(bytes);
    for (let i = 0; i < bytes; i++) made[i] = next() >>> 16;
    return Uint8Array.from(made);
  };
  const commit = (write: (set: (store: string, key: Uint8Array, value: Uint8Array | null) => void) => void): void => {
    const branch = state.branch();
    write((store, key, to) => (to === null ? branch.store(store).delete(key) : branch.store(store).set(key, to)));
    const kept = [{ table: "app", key: Uint8Array.of(1), value: uint64ToBytes(state.height + 1n) }];
    state.commit(state.height + 1n, state.workingHash(branch), { kept });
  };
  return { database, state, commit, value, next };
}

function entries(database: ReturnType<typeof memoryDatabase>, tables = ["state/auth", "state/bank", "app"]): string[] {
  return tables.flatMap((table) =>
    [...database.table(table).iterate()].map(([key, value]) => `${table} ${toHex(key)} ${toHex(value)}`),
  );
}

/** A snapshot of small chunks that mean nothing, in a directory and as an archive. */
async function small() {
  const { value } = chain();
  const directory = new SnapshotDirectory(join(root, "small"));
  const staging = directory.stage("taking");
  const chunks = [value(3_000), value(513), value(512)];
  for (const [i, chunk] of chunks.entries()) await staging.saveChunk(i, chunk);
  for (const block of [Uint8Array.of(1, 2, 3), new Uint8Array(700)]) await staging.saveBlock(block);
  const record = await staging.publish(snapshotHead(9n, chunks.map(sha256)));
  await writeArchive(join(root, "one.tar.gz"), {
    record,
    chunk: (i) => directory.chunk(record, i) ?? new Uint8Array(0),
    block: (i) => directory.block(record, i) ?? new Uint8Array(0),
  });
  return { record, directory };
}

/** A chain of many pieces and several chunks, with the snapshot of its third block in a directory. */
async function taken(name: string) {
  const made = chain();
  const { database, state, commit, value, next } = made;
  const key = (i: number) => uint64ToBytes(BigInt(i));
  for (let block = 0; block < 3; block++)
    commit((set) => {
      for (let i = 0; i < 2 * PIECE.entries; i++) set("bank", key(block * 10_000 + i), value(1_500));
      set("auth", Uint8Array.of(block), value(block === 1 ? CHUNK_CONTENT_BYTES + 1 : 3));
    });
  const before = entries(database);
  const { height, appHash } = state;
  const release = state.hold(height);
  const directory = new SnapshotDirectory(join(root, name));
  const staging = directory.stage("taking");
  const head = await takeSnapshot({
    database,
    height,
    tables: TABLES,
    save: (index, chunk) => staging.saveChunk(index, chunk),
    pause: async () =>
      commit((set) => {
        for (let i = 0; i < 20; i++) {
          const at = key((next() % 3) * 10_000 + (next() % (2 * PIECE.entries + 50)));
          set("bank", at, next() % 3 === 0 ? null : value(8));
        }
      }),
  });
  release();
  const record = await staging.publish(head);
  return { ...made, before, appHash, directory, record };
}

const first = taken("first");

describe(`snapshots of seed ${SEED}`, () => {
  it("restores what the height had, over several chunks and values larger than a chunk", async () => {
    const { before, appHash, directory, record, state } = await first;
    expect(record.chunks).toBeGreaterThan(3);
    expect(state.height - record.height).toBeGreaterThan(5n);
    const database = memoryDatabase();
    const restore = new StateRestore({ database, tables: TABLES, snapshot: record, appHash });
    for (let i = 0; i < record.chunks; i++) {
      const chunk = directory.chunk(record, i) ?? new Uint8Array(0);
      expect(chunk.length).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
      restore.apply(chunk);
    }
    expect(() => StateStore.open(database, STORES)).toThrow(storeErrors.restoreBroken().message);
    restore.verify();
    restore.finish([{ table: "engine", key: Uint8Array.of(1), value: Uint8Array.of(1) }]);
    expect(entries(database)).toEqual(before);
    const again = StateStore.open(database, STORES);
    expect([again.height, toHex(again.appHash), again.lowestHeight]).toEqual([
      record.height,
      toHex(appHash),
      record.height,
    ]);
    expect(database.table("engine").has(Uint8Array.of(1))).toBe(true);
    expect(() => new StateRestore({ database, tables: TABLES, snapshot: record, appHash })).toThrow(
      storeErrors.notEmpty().message,
    );
  });

  it("begins anew what was broken off after any chunk", async () => {
    const { appHash, directory, record } = await first;
    for (let stop = 0; stop < record.chunks; stop++) {
      const database = memoryDatabase();
      const broken = new StateRestore({ database, tables: TABLES, snapshot: record, appHash });
      for (let i = 0; i <= stop; i++) broken.apply(directory.chunk(record, i) ?? new Uint8Array(0));
      expect(() => StateStore.open(database, STORES)).toThrow(storeErrors.restoreBroken().message);
      clearRestore(database, TABLES);
      expect(entries(database, ["state/auth", "state/bank", "paths/auth", "paths/bank", "app", "commit"])).toEqual([]);
      expect(StateStore.open(database, STORES).isEmpty).toBe(true);
    }
  });

  it("holds a height only as long as it is held, each holder for itself", () => {
    const { state, commit } = chain();
    for (let i = 0; i < 5; i++) commit((set) => set("bank", Uint8Array.of(i + 1), Uint8Array.of(1)));
    const [one, two] = [state.hold(3n), state.hold(3n)];
    const run = () => {
      for (let i = 0; i < 10; i++) commit((set) => set("bank", Uint8Array.of(1), Uint8Array.of(i + 1)));
      return state.lowestHeight;
    };
    expect(run()).toBe(3n);
    one();
    one();
    expect(run()).toBe(3n);
    two();
    expect(run()).toBeGreaterThan(10n);
    expect(() => state.hold(3n)).toThrow(storeErrors.notKept("height 3").message);
    expect(() => state.hold(state.height + 1n)).toThrow("is not kept");
  });
});

describe("a directory of snapshots", () => {
  it("is read again after a change alone, whoever made it: other nodes ask for it at any rate", async () => {
    const [directory, other] = [new SnapshotDirectory(join(root, "asked")), new SnapshotDirectory(join(root, "asked"))];
    const { record } = await first;
    const add = async (to: SnapshotDirectory, height: bigint) => {
      const staging = to.stage("taking");
      await staging.saveChunk(0, Uint8Array.of(1));
      await staging.publish({ ...record, height });
    };
    await add(directory, 10n);
    const listed = directory.list();
    expect(directory.list()).toBe(listed);
    await add(directory, 20n);
    directory.keep(1);
    expect(directory.list().map(({ height }) => height)).toEqual([20n]);
    await add(other, 30n);
    expect(directory.list().map(({ height }) => height)).toEqual([30n, 20n]);
    other.remove({ height: 20n, format: 2 });
    expect(directory.list().map(({ height }) => height)).toEqual([30n]);
  });

  it("shows whole ones alone, keeps the highest, and clears what was broken off", async () => {
    const directory = new SnapshotDirectory(join(root, "some"));
    expect(directory.list()).toEqual([]);
    const { record } = await first;
    for (const height of [5n, 30n, 100n]) {
      const staging = directory.stage("taking");
      await staging.saveChunk(0, Uint8Array.of(1));
      expect(directory.list().map((each) => each.height)).not.toContain(height);
      await staging.publish({ ...record, height });
    }
    await directory.stage("taking").saveChunk(0, Uint8Array.of(1));
    expect(directory.list().map(({ height }) => height)).toEqual([100n, 30n, 5n]);
    await expect(directory.stage("taking").publish({ ...record, height: 30n })).rejects.toThrow(
      "the snapshot already exists",
    );
    directory.keep(0);
    directory.keep(2);
    expect(directory.list().map(({ height }) => height)).toEqual([100n, 30n]);
    writeFileSync(join(directory.path, "100-2", "snapshot.json"), "{}");
    expect(new SnapshotDirectory(directory.path).list().map(({ height }) => height)).toEqual([30n]);
    expect(() => directory.find({ height: 100n, format: 2 })).toThrow("the snapshot does not exist");
    directory.remove({ height: 30n, format: 2 });
    expect(directory.list()).toEqual([]);
    expect(() => directory.remove({ height: 30n, format: 2 })).toThrow("the snapshot does not exist");
  });
});

describe("an archive", () => {
  const path = join(root, "one.tar.gz");
  const written = small();
  const target = () => new SnapshotDirectory(mkdtempSync(join(root, "to-")));

  it("brings a snapshot to another directory as it is, once", async () => {
    const { record, directory } = await written;
    const to = target();
    await loadArchive(path, to);
    expect(to.list().map(recordText)).toEqual([recordText(record)]);
    for (let i = 0; i < record.chunks; i++) expect(to.chunk(record, i)).toEqual(directory.chunk(record, i));
    expect([to.block(record, 0), to.block(record, 1)].map((each) => each?.length)).toEqual([3, 700]);
    await expect(loadArchive(path, to)).rejects.toThrow("the snapshot already exists");
    expect(readdirSync(to.path)).toEqual([`${record.height}-2`]);
  });

  it("is refused with any byte changed or missing, and nothing is left of it", async () => {
    await written;
    const to = target();
    const whole = readFileSync(path);
    const bad = join(root, "bad.tar.gz");
    const { next } = chain();
    for (let i = 0; i < 100; i++) {
      const bytes = Buffer.from(whole);
      const at = next() % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (next() % 8));
      writeFileSync(bad, bytes);
      // The head of gzip holds a time and a name of the system, which mean nothing.
      if (at < 10) continue;
      await expect(loadArchive(bad, to), `seed ${SEED}, byte ${at}`).rejects.toThrow("the snapshot cannot be restored");
      expect(readdirSync(to.path), `seed ${SEED}, byte ${at}`).toEqual([]);
    }
    for (const length of [0, 1, 20, 600, next() % whole.length, whole.length - 1]) {
      writeFileSync(bad, whole.subarray(0, length));
      await expect(loadArchive(bad, to), `${length} bytes`).rejects.toThrow();
      expect(readdirSync(to.path)).toEqual([]);
    }
  });

  it("is refused with other files, names and sizes", async () => {
    const { record } = await written;
    const to = target();
    const tar = gunzipSync(readFileSync(path));
    const bad = join(root, "odd.tar.gz");
    const refused = async (bytes: Uint8Array, why: string) => {
      writeFileSync(bad, gzipSync(bytes, { level: 1 }));
      await expect(loadArchive(bad, to), why).rejects.toThrow(why);
      expect(readdirSync(to.path)).toEqual([]);
    };
    const renamed = Buffer.from(tar);
    renamed.write("../evil", 0, "latin1");
    await refused(renamed, "something else instead of _snapshot");
    const large = Buffer.from(tar);
    large.write("77777777777", 124, "latin1");
    await refused(large, "something else instead of _snapshot");
    await refused(Buffer.concat([tar.subarray(0, -1024), tar]), "holds more than the snapshot");
    await refused(Buffer.concat([tar, Buffer.alloc(1 << 20)]), "holds more than the snapshot");
    await refused(tar.subarray(0, -1024), "the end of its archive is missing");
    await refused(new Uint8Array(1 << 20), "something else instead of _snapshot");
    const first = 512 + 512 * Math.ceil(sizeOf(tar) / 512);
    const twice = Buffer.concat([tar.subarray(0, first), tar]);
    await refused(twice, "something else instead of 0");
    expect(record.chunks).toBeGreaterThan(1);
  });

  it("stops at a bomb with little in memory", async () => {
    await written;
    const to = target();
    const bomb = join(root, "bomb.tar.gz");
    const head = gunzipSync(readFileSync(path)).subarray(0, 512);
    writeFileSync(bomb, gzipSync(Buffer.concat([head, Buffer.alloc(64 << 20)]), { level: 9 }));
    expect(statSync(bomb).size).toBeLessThan(1 << 20);
    await expect(loadArchive(bomb, to)).rejects.toThrow("its record cannot be read");
    appendFileSync(bomb, "rest");
    truncateSync(bomb, 20_000);
    await expect(loadArchive(bomb, to)).rejects.toThrow("the snapshot cannot be restored");
    expect(readdirSync(to.path)).toEqual([]);
  });
});

function sizeOf(tar: Buffer): number {
  return Number.parseInt(tar.toString("latin1", 124, 135), 8);
}
