import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import { createApp } from "../../app/index.ts";
import { EmbeddedEngine, fileSignState, headerHash, parseGenesis, Signer, signStateText } from "../../engine/index.ts";
import { openLmdb, PRUNING_STRATEGIES, SnapshotDirectory } from "../../store/index.ts";
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

function open(home: string, interval = 0n, keep = 2) {
  const paths = homePaths(home);
  const database = openLmdb(paths.database);
  const app = createApp({ database, pruning: PRUNING_STRATEGIES.everything, checkInvariants: true });
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
  await dumpSnapshot(source, { height: 10n, format: 1 }, archive);
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
    const directory = join(homePaths(home).snapshots, "10-1");
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
    deleteSnapshot(source, { height, format: 1 });
    expect(heights()).not.toContain(height);
    await expect(dumpSnapshot(source, { height, format: 1 }, join(root, "none.tar.gz"))).rejects.toThrow(
      "the snapshot does not exist",
    );
    expect(readdirSync(homePaths(source).snapshots).filter((name) => name.startsWith("."))).toEqual([]);
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
