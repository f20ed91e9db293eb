import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import { type ApplicationOptions, createApp, snapshotTables, storeNames } from "../../app/index.ts";
import { sha256 } from "../../crypto/index.ts";
import {
  type Anchor,
  anchorAt,
  decodeAnchor,
  EmbeddedEngine,
  encodeAnchor,
  encodeSigned,
  fileSignState,
  headerHash,
  parseGenesis,
  Signer,
  signStateText,
  type Validator,
} from "../../engine/index.ts";
import { openLmdb, PRUNING_STRATEGIES, SnapshotDirectory, takeSnapshot } from "../../store/index.ts";
import { snapshotHead } from "../../store/snapshots/form.ts";
import { signTx, testKey } from "../../testing/index.ts";
import { createLogger, NATIVE_DENOM, toHex } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { addGenesisAccounts, readGenesisText } from "../home/genesis.ts";
import { homePaths } from "../home/home.ts";
import { initHome } from "../home/init.ts";
import { readKeyFile } from "../home/keys.ts";
import {
  deleteSnapshot,
  dumpSnapshot,
  exportSnapshot,
  listSnapshots,
  loadSnapshot,
  restoreSnapshot,
} from "./snapshots.ts";
import { SnapshotTaker } from "./taker.ts";

const CHAIN_ID = "snap-1";
const [ALICE, BOB] = [testKey("alice"), testKey("bob")];
const root = mkdtempSync(join(tmpdir(), "svc-node-snapshots-"));
afterAll(() => rmSync(root, { recursive: true }));

const source = join(root, "source");
initHome({ home: source, moniker: "m", chainId: CHAIN_ID, time: 1_700_000_000_000_000_000n });
addGenesisAccounts(source, [{ address: ALICE.address, coins: [{ denom: NATIVE_DENOM, amount: 1_000_000n }] }]);
const genesis = parseGenesis(readGenesisText(source));

/** Another home of the same validator, without data. */
function freshHome(): string {
  const home = mkdtempSync(join(root, "home-"));
  cpSync(join(source, "config"), join(home, "config"), { recursive: true });
  initState(home);
  return home;
}

function initState(home: string): void {
  const { validatorState } = homePaths(home);
  cpSync(homePaths(source).validatorState, validatorState);
  writeFileSync(validatorState, signStateText());
}

function open(home: string, interval = 0n, keep = 2, options: Partial<ApplicationOptions> = {}) {
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  const app = createApp({ database, pruning: PRUNING_STRATEGIES.everything, checkInvariants: true, ...options });
  const directory = new SnapshotDirectory(paths.snapshots);
  const logger = createLogger({ level: "fatal", format: "plain", write: () => {} });
  const taker = new SnapshotTaker({
    ...{ app, database, directory, logger, isBehind: () => engine.isBehind },
    ...{ snapshotInterval: interval, snapshotKeepRecent: keep },
  });
  const signer = new Signer(readKeyFile(paths.validatorKey), fileSignState(paths.validatorState));
  const afterCommit = ({ block }: { block: { header: { height: bigint } } }) => taker.committed(block.header.height);
  const engine = new EmbeddedEngine({ app, database, genesis, signer, blockInterval: 0, afterCommit });
  const close = async () => {
    await taker.close();
    database.close();
  };
  return { engine, app, database, directory, taker, close };
}

function send(sequence: bigint): Uint8Array {
  const amount = [{ denom: NATIVE_DENOM, amount: "1" }];
  const message = create(MsgSendSchema, { fromAddress: ALICE.address, toAddress: BOB.address, amount });
  const fee = [{ denom: NATIVE_DENOM, amount: 500n }];
  return signTx(CHAIN_ID, [message], [{ key: ALICE, accountNumber: 0n, sequence }], { gas: 200_000n, fee });
}

/** Waits, by making blocks, until there is a snapshot of a height or a later one. */
async function until(chain: ReturnType<typeof open>, height: bigint): Promise<void> {
  while (!chain.directory.list().some((each) => each.height >= height)) {
    chain.engine.produceBlock();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A home whose chain has snapshots, with an archive of the last one, and the hash after its last block. */
const made = (async () => {
  const chain = open(source, 10n, 0);
  for (let i = 0; i < 9; i++) {
    chain.engine.mempool.add(send(BigInt(i)));
    chain.engine.produceBlock();
  }
  chain.engine.mempool.add(send(9n));
  chain.engine.produceBlock();
  await until(chain, 10n);
  chain.engine.mempool.add(send(10n));
  for (let i = 0; i < 3; i++) chain.engine.produceBlock();
  const { height, last } = chain.engine.blocks;
  const tenth = chain.engine.blocks.block(10n);
  const headers = [10n, 11n, height].map((at) => chain.engine.blocks.record(at)?.header);
  await chain.taker.close();
  const archive = join(root, "ten.tar.gz");
  // The node runs meanwhile.
  await dumpSnapshot(source, { height: 10n, format: 2 }, archive);
  await chain.close();
  return { archive, height, appHash: last?.appHash ?? new Uint8Array(0), headers, tenth };
})();

describe("a snapshot in another home", () => {
  it("is restored with its blocks, and the validator goes on from there as the chain did", async () => {
    const { archive, height, appHash, tenth } = await made;
    const home = freshHome();
    const record = await loadSnapshot(home, archive);
    expect([record.height, record.blocks.length]).toEqual([10n, 1 + Number(height - 10n)]);
    const restored = await restoreSnapshot(home, record);
    expect([restored.height, restored.lastHeight]).toEqual([10n, height]);
    expect(toHex(restored.appHash)).toBe(toHex(appHash));
    const there = open(home);
    const { blocks, index } = there.engine;
    expect([blocks.base, blocks.height]).toEqual([10n, height]);
    expect(blocks.record(9n)).toBeUndefined();
    expect(blocks.txs(10n)).toHaveLength(1);
    expect(blocks.block(10n)).toEqual(tenth);
    expect(index.tx(new Uint8Array(32))).toBeUndefined();
    expect(there.app.brokenInvariants()).toEqual([]);
    there.engine.mempool.add(send(11n));
    const { block, txResults } = there.engine.produceBlock();
    expect(txResults.map(({ code }) => code)).toEqual([0]);
    expect(block.header.height).toBe(height + 1n);
    await there.close();
    // Works after a restart too; a second restore into an existing state is refused.
    const again = open(home);
    expect(again.engine.produceBlock().block.header.height).toBe(height + 2n);
    await again.close();
    initState(home);
    await expect(restoreSnapshot(home, record)).rejects.toThrow("the home already has a state");
  });

  it("holds to a header that is known", async () => {
    const { archive, headers } = await made;
    for (const header of headers) {
      const home = freshHome();
      const record = await loadSnapshot(home, archive);
      if (header === undefined) throw new Error("the header is kept");
      const hash = headerHash(header);
      const wrong = Uint8Array.from(hash, (byte) => byte ^ 1);
      const trusted = (each: Uint8Array, height = header.height) =>
        restoreSnapshot(home, { ...record, trusted: { height, hash: each } });
      await expect(trusted(wrong)).rejects.toThrow(`trusted hash of block ${header.height}`);
      await expect(trusted(hash, 9n)).rejects.toThrow("it has no block 9, whose hash is given");
      expect(existsSync(homePaths(home).database)).toBe(false);
      expect((await trusted(hash)).height).toBe(10n);
    }
  });

  it("is refused by the home of another key, another genesis file and a validator that voted later", async () => {
    const { archive, height } = await made;
    const stranger = freshHome();
    rmSync(stranger, { recursive: true });
    initHome({ home: stranger, moniker: "m", chainId: CHAIN_ID });
    const record = await loadSnapshot(stranger, archive);
    await expect(restoreSnapshot(stranger, record)).rejects.toThrow("it does not fit its validator's key");
    const other = freshHome();
    await loadSnapshot(other, archive);
    const file = homePaths(other).genesis;
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(CHAIN_ID, "snap-2"));
    await expect(restoreSnapshot(other, record)).rejects.toThrow("it does not fit its chain: it is of snap-1");
    const ahead = freshHome();
    await loadSnapshot(ahead, archive);
    writeFileSync(homePaths(ahead).validatorState, signStateText(height + 1n));
    await expect(restoreSnapshot(ahead, record)).rejects.toThrow("the validator would vote twice");
    writeFileSync(homePaths(ahead).validatorState, signStateText(height));
    expect((await restoreSnapshot(ahead, record)).lastHeight).toBe(height);
  });

  it("is refused when a byte of any file is another, with nothing left in the home", async () => {
    const { archive } = await made;
    const home = freshHome();
    const record = await loadSnapshot(home, archive);
    const directory = join(homePaths(home).snapshots, "10-2");
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const whole = readFileSync(path);
      for (const at of [0, whole.length >> 1, whole.length - 2]) {
        const bad = Buffer.from(whole);
        bad[at] = (bad[at] ?? 0) ^ 1;
        writeFileSync(path, bad);
        await expect(restoreSnapshot(home, record), `${name}, byte ${at}`).rejects.toThrow(
          /the snapshot cannot be restored|the snapshot does not exist|blocks of the snapshot cannot be used/,
        );
      }
      rmSync(path);
      await expect(restoreSnapshot(home, record), `without ${name}`).rejects.toThrow();
      writeFileSync(path, whole);
    }
    expect((await restoreSnapshot(home, record)).height).toBe(10n);
  });
});

describe("what a snapshot says of itself", () => {
  it.each<[string, (record: Manifest) => void]>([
    ["height", (record) => (record.height = "11")],
    ["format", (record) => (record.format = 1)],
    ["number of chunks", (record) => (record.chunks = 2)],
    ["hash", (record) => (record.hash = flipped(record.hash))],
    ["hashes of chunks", (record) => (record.metadata = flipped(record.metadata))],
    ["hash of a block", (record) => (record.blocks = record.blocks.map(flipped))],
    ["number of blocks", (record) => record.blocks.pop()],
    ["blocks after its own", (record) => record.blocks.splice(1)],
  ])("is not believed: another %s", async (_, change) => {
    const { archive, height } = await made;
    const home = freshHome();
    await loadSnapshot(home, archive);
    const path = join(homePaths(home).snapshots, "10-2", "snapshot.json");
    const record: Manifest = JSON.parse(readFileSync(path, "utf8"));
    change(record);
    writeFileSync(path, JSON.stringify(record));
    const place = { height: BigInt(record.height), format: record.format };
    const directory = join(homePaths(home).snapshots, `${place.height}-${place.format}`);
    if (!existsSync(directory)) renameSync(join(homePaths(home).snapshots, "10-2"), directory);
    const trusted = { height, hash: headerHash(await lastHeader()) };
    await expect(restoreSnapshot(home, { ...place, trusted })).rejects.toThrow();
    expectNoState(home);
  });

  it("is refused with other voters, which no header contains", async () => {
    const { archive } = await made;
    for (const i of [0, 1, 2])
      for (const change of [...VOTER_CHANGES]) {
        const home = freshHome();
        const place = await loadSnapshot(home, archive);
        rewriteAnchor(home, (anchor) => ({
          ...anchor,
          sets: anchor.sets.map((set, at) => (at === i ? { ...set, voters: change(set.voters) } : set)),
        }));
        await expect(restoreSnapshot(home, place)).rejects.toThrow(`the voters of block ${10 + i} are not those`);
        expect(existsSync(homePaths(home).database)).toBe(false);
      }
  });

  it("is not taken over where no hash covers it", async () => {
    const { archive, height } = await made;
    const home = freshHome();
    const place = await loadSnapshot(home, archive);
    const event = { type: "transfer", attributes: [{ key: "amount", value: "9utoken", index: true }] };
    rewriteAnchor(home, ({ before, record, txs, sets }) => {
      const lie = { size: 1, events: [event], consensusParamUpdates: genesis.consensusParams };
      const results = txs.map(({ tx, result }) => ({
        tx,
        result: { ...result, log: "lie", codespace: "lie", events: [event] },
      }));
      return { before: before && { ...before, ...lie }, record: { ...record, ...lie }, txs: results, sets };
    });
    expect((await restoreSnapshot(home, place)).lastHeight).toBe(height);
    const there = open(home);
    const { blocks } = there.engine;
    expect(blocks.record(10n)).toMatchObject({ events: [], consensusParamUpdates: undefined });
    expect(blocks.record(10n)?.size).toBeGreaterThan(100);
    expect(blocks.txs(10n).map(({ result }) => result)).toMatchObject([
      { code: 0, log: undefined, codespace: "", events: [] },
    ]);
    await there.close();
  });
});

function expectNoState(home: string): void {
  if (!existsSync(homePaths(home).database)) return;
  const database = openLmdb(homePaths(home).database);
  for (const table of ["commit", "app", "state/bank", "engine/blocks"])
    expect([...database.table(table).iterate()], table).toEqual([]);
  database.close();
}

interface Manifest {
  height: string;
  format: number;
  chunks: number;
  hash: string;
  metadata: string;
  blocks: string[];
}

const flipped = (hex: string) => hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));

async function lastHeader() {
  const header = (await made).headers.at(-1);
  if (header === undefined) throw new Error("the last header is kept");
  return header;
}

const VOTER_CHANGES: readonly ((voters: readonly Validator[]) => readonly Validator[])[] = [
  (voters) => voters.map((voter) => ({ ...voter, power: voter.power + 1n })),
  (voters) => [...voters, { address: new Uint8Array(20), pubKey: new Uint8Array(32).fill(5), power: 1n }],
];

function rewriteAnchor(home: string, change: (anchor: Anchor) => Anchor): void {
  const directory = join(homePaths(home).snapshots, "10-2");
  const bytes = encodeAnchor(change(decodeAnchor(readFileSync(join(directory, "block-0")))));
  writeFileSync(join(directory, "block-0"), bytes);
  const path = join(directory, "snapshot.json");
  const record: Manifest = JSON.parse(readFileSync(path, "utf8"));
  record.blocks[0] = toHex(sha256(bytes));
  writeFileSync(path, JSON.stringify(record));
}

describe("a snapshot of format 1, of an earlier version", () => {
  /** A home with such a snapshot of height 5 and the blocks up to 8. */
  async function older(change: (content: Buffer) => Buffer = (content) => content): Promise<string> {
    const home = freshHome();
    const chain = open(home, 0n, 2, { unhashedRecords: true, pruning: PRUNING_STRATEGIES.nothing });
    for (let i = 0; i < 8; i++) chain.engine.produceBlock();
    const chunks: Uint8Array[] = [];
    const head = await takeSnapshot({
      ...{ database: chain.database, height: 5n, pause: async () => {} },
      tables: snapshotTables(storeNames(chain.app.modules), 1),
      save: async (_, chunk) => void chunks.push(deflateSync(change(asWritten(inflateSync(chunk))))),
    });
    const staging = chain.directory.stage("taking");
    for (const [i, chunk] of chunks.entries()) await staging.saveChunk(i, chunk);
    const anchor = anchorAt(chain.engine.blocks, 5n);
    if (anchor === undefined) throw new Error("block 5 is kept");
    await staging.saveBlock(encodeAnchor(anchor));
    for (const height of [6n, 7n, 8n]) {
      const block = chain.engine.blocks.signed(height);
      if (block === undefined) throw new Error(`block ${height} is kept`);
      await staging.saveBlock(encodeSigned(block));
    }
    await staging.publish({ ...snapshotHead(head.height, chunks.map(sha256)), format: 1 });
    await chain.close();
    rmSync(homePaths(home).database, { recursive: true });
    return home;
  }

  /** The content with the versions of modules that the format had. */
  function asWritten(content: Buffer): Buffer {
    const at = content.indexOf('"gov":2');
    if (at >= 0) content.write('"gov":1', at);
    return content;
  }

  it("is restored with its blocks, and goes on", async () => {
    const home = await older();
    expect((await restoreSnapshot(home, { height: 5n, format: 1 })).lastHeight).toBe(8n);
    const there = open(home);
    expect(there.engine.produceBlock().block.header.height).toBe(9n);
    await there.close();
    const again = open(home);
    expect([...again.database.table("app").iterate()]).toEqual([]);
    expect(again.engine.produceBlock().block.header.height).toBe(10n);
    await again.close();
  });

  it.each([
    ["chain", /"chainId":"(.)/],
    ["time", /"time":"(\d)/],
    ["proposer", /"proposer":"(.)/],
    ["height", /"height":"(\d)/],
    ["set of modules", /"staking":(\d)/],
  ])("is refused where its record has another %s than the header or the format", async (_, pattern) => {
    const home = await older((content) => {
      const found = pattern.exec(content.toString("latin1"));
      if (found === null) return content;
      const at = found.index + found[0].length - 1;
      content[at] = (content[at] ?? 0) ^ 1;
      return content;
    });
    await expect(restoreSnapshot(home, { height: 5n, format: 1 })).rejects.toThrow("the snapshot cannot be restored");
    expectNoState(home);
  });
});

describe("a home", () => {
  it("keeps the last snapshots, takes one by hand, and forgets them", async () => {
    await made;
    const chain = open(source, 5n, 2);
    const from = chain.engine.blocks.height;
    for (let i = 1n; i <= 3n; i++) await until(chain, (from / 5n + i) * 5n);
    const last = chain.engine.blocks.height;
    await chain.close();
    const heights = () => listSnapshots(source).map(({ height }) => height);
    expect(heights()).toHaveLength(2);
    expect(heights().every((height) => height > from && height % 5n === 0n)).toBe(true);
    await expect(exportSnapshot(source, last)).rejects.toThrow("no snapshot can be taken of this height");
    await expect(exportSnapshot(source, 1n)).rejects.toThrow("is not kept");
    const { height } = await exportSnapshot(source);
    expect(heights()).toContain(height);
    await expect(exportSnapshot(source, height)).rejects.toThrow("the snapshot already exists");
    deleteSnapshot(source, { height, format: 2 });
    expect(heights()).not.toContain(height);
    await expect(dumpSnapshot(source, { height, format: 2 }, join(root, "none.tar.gz"))).rejects.toThrow(
      "the snapshot does not exist",
    );
    expect(readdirSync(homePaths(source).snapshots).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("takes no snapshot of a state that an earlier version wrote, which nobody could restore", async () => {
    await made;
    const home = freshHome();
    const older = open(home, 0n, 2, { unhashedRecords: true, pruning: PRUNING_STRATEGIES.nothing });
    for (let i = 0; i < 3; i++) older.engine.produceBlock();
    await older.close();
    await expect(exportSnapshot(home)).rejects.toThrow("an earlier version wrote height 2");
    const newer = open(home, 0n, 2, { pruning: PRUNING_STRATEGIES.nothing });
    for (let i = 0; i < 2; i++) newer.engine.produceBlock();
    await newer.close();
    await expect(exportSnapshot(home, 3n)).rejects.toThrow("no snapshot can be taken of this height");
    expect((await exportSnapshot(home)).height).toBe(4n);
  });

  it("has nothing of a snapshot that its end broke off", async () => {
    const home = freshHome();
    const chain = open(home, 3n);
    for (let i = 0; i < 3; i++) chain.engine.produceBlock();
    await chain.close();
    expect(listSnapshots(home)).toEqual([]);
    const again = open(home, 0n);
    expect(readdirSync(homePaths(home).snapshots)).toEqual([]);
    await again.close();
  });
});
