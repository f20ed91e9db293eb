import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import type { Application } from "../../abci/index.ts";
import { createApp, storeNames } from "../../app/index.ts";
import {
  aheadWrite,
  EmbeddedEngine,
  encodeBlock,
  headerHash,
  memorySignState,
  parseGenesis,
  Signer,
  txHash,
} from "../../engine/index.ts";
import { type Database, memoryDatabase } from "../../store/index.ts";
import { signTx, testKey } from "../../testing/index.ts";
import { NATIVE_DENOM, toHex } from "../../util/index.ts";
import { MsgSendSchema } from "../../wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { addGenesisAccounts, readGenesisText } from "./genesis.ts";
import { homePaths } from "./home.ts";
import { initHome } from "./init.ts";
import { readKeyFile } from "./keys.ts";
import { rollbackIn } from "./rollback.ts";

const CHAIN_ID = "back-1";
const [ALICE, BOB, CAROL] = [testKey("alice"), testKey("bob"), testKey("carol")];
const home = mkdtempSync(join(tmpdir(), "svc-rollback-"));
initHome({ home, moniker: "m", chainId: CHAIN_ID, time: 1_700_000_000_000_000_000n });
addGenesisAccounts(home, [{ address: ALICE.address, coins: [{ denom: NATIVE_DENOM, amount: 1_000_000n }] }]);
const genesis = parseGenesis(readGenesisText(home));
const seed = readKeyFile(homePaths(home).validatorKey);
afterAll(() => rmSync(home, { recursive: true }));

/** Everything except how full the epochs are, on which nothing depends. */
function dump(database: Database): string[] {
  const stores = storeNames(createApp({ database }).modules);
  const tables = [
    ...stores.flatMap((name) => [`state/${name}`, `paths/${name}`]),
    ...[
      "app",
      "commit",
      "history/values",
      "engine/blocks",
      "engine/txs",
      "engine/results/deflated",
      "engine/validators",
      "engine/voters",
    ],
    ...["engine/params", "engine/ahead", "engine/meta", "index/txs", "index/blocks", "index/terms", "index/epochs"],
  ];
  return tables.flatMap((name) =>
    [...database.table(name).iterate()].map(([key, value]) => `${name} ${toHex(key)} ${toHex(value)}`),
  );
}

function chain() {
  const database = memoryDatabase();
  const signed = memorySignState();
  const open = (app: Application = createApp({ database })) =>
    new EmbeddedEngine({ app, database, genesis, signer: new Signer(seed, signed), blockInterval: 0 });
  return { database, signed, open };
}

function send(sequence: bigint, to = BOB): Uint8Array {
  const amount = [{ denom: NATIVE_DENOM, amount: "1" }];
  const message = create(MsgSendSchema, { fromAddress: ALICE.address, toAddress: to.address, amount });
  const fee = [{ denom: NATIVE_DENOM, amount: 500n }];
  return signTx(CHAIN_ID, [message], [{ key: ALICE, accountNumber: 0n, sequence }], { gas: 200_000n, fee });
}

describe("taking the last block back", () => {
  it("leaves every table as it was before the block, and another block comes in its place", () => {
    const { database, signed, open } = chain();
    const engine = open();
    engine.produceBlock();
    engine.mempool.add(send(0n));
    const { appHash } = engine.produceBlock();
    const before = dump(database);
    const tx = send(1n, CAROL);
    engine.mempool.add(tx);
    const taken = engine.produceBlock();
    expect(taken.txResults.map(({ code }) => code)).toEqual([0]);
    expect(rollbackIn(database, { hard: true, signed })).toEqual({ height: 2n, appHash });
    expect(dump(database)).toEqual(before);
    const again = open();
    expect(again.index.tx(txHash(tx))).toBeUndefined();
    const next = again.produceBlock();
    expect(next.block.header.height).toBe(3n);
    expect(next.block.txs).toEqual([]);
    // The validator votes in another round, never twice in the same one.
    expect(next.commit.round).toBe(1);
  });

  it("takes back the parameters of consensus that came with the block", () => {
    const { database, signed, open } = chain();
    const begun = genesis.consensusParams;
    const smaller = { ...begun, block: { ...begun.block, maxBytes: 30_000n } };
    const changing = () => {
      const app = createApp({ database });
      const finalize = app.finalizeBlock.bind(app);
      app.finalizeBlock = (request) => {
        const result = finalize(request);
        return request.height === 3n ? { ...result, consensusParamUpdates: smaller } : result;
      };
      return app;
    };
    const engine = open(changing());
    engine.produceBlock();
    engine.produceBlock();
    const before = dump(database);
    engine.produceBlock();
    const changed = dump(database);
    expect(engine.params).toEqual(smaller);
    rollbackIn(database, { hard: false, signed });
    const again = open(changing());
    expect(again.params).toEqual(begun);
    again.produceBlock();
    expect(dump(database)).toEqual(changed);
    rollbackIn(database, { hard: true, signed });
    expect(dump(database)).toEqual(before);
    const other = open();
    expect(other.params).toEqual(begun);
    other.produceBlock();
    expect(other.blocks.consensusParams(4n)).toEqual(begun);
  });

  it("keeps the block to be executed again, with its votes and its place in the index", () => {
    const { database, signed, open } = chain();
    const engine = open();
    engine.produceBlock();
    engine.mempool.add(send(0n));
    const taken = engine.produceBlock();
    const before = dump(database);
    const { height } = rollbackIn(database, { hard: false, signed });
    expect(height).toBe(1n);
    // A second rollback changes nothing: the block is waiting.
    expect(rollbackIn(database, { hard: false, signed }).height).toBe(1n);
    const again = open();
    const { block, commit, appHash, txResults } = again.produceBlock();
    expect([encodeBlock(block), appHash].map(toHex)).toEqual([encodeBlock(taken.block), taken.appHash].map(toHex));
    expect(toHex(commit.signatures[0]?.signature ?? appHash)).toBe(
      toHex(taken.commit.signatures[0]?.signature ?? seed),
    );
    expect(txResults.map(({ code, gasUsed }) => [code, gasUsed])).toEqual(
      taken.txResults.map(({ code, gasUsed }) => [code, gasUsed]),
    );
    expect(dump(database)).toEqual(before);
    expect(again.produceBlock().block.header.height).toBe(3n);
  });

  it("removes a block that waits, where that is asked for", () => {
    const { database, signed, open } = chain();
    const engine = open();
    engine.produceBlock();
    const before = dump(database);
    engine.produceBlock();
    rollbackIn(database, { hard: false, signed });
    expect(rollbackIn(database, { hard: true, signed }).height).toBe(1n);
    expect(dump(database)).toEqual(before);
  });

  it("is refused where there is nothing before, or the validator would vote on a height again that it has left", () => {
    const { database, signed, open } = chain();
    const engine = open();
    expect(() => rollbackIn(database, { hard: true, signed })).toThrow("the chain has no block yet");
    engine.produceBlock();
    expect(() => rollbackIn(database, { hard: true, signed })).toThrow("block 1 is the first one");
    for (let n = 0; n < 3; n++) engine.produceBlock();
    rollbackIn(database, { hard: true, signed });
    const kept = dump(database);
    expect(() => rollbackIn(database, { hard: true, signed })).toThrow("the validator has already voted on block 4");
    expect(dump(database)).toEqual(kept);
  });

  it("changes nothing when the database refuses", () => {
    const { database, signed, open } = chain();
    const engine = open();
    engine.produceBlock();
    engine.produceBlock();
    const before = dump(database);
    const full: Database = {
      table: (name) => database.table(name),
      snapshot: () => database.snapshot(),
      close: () => {},
      write: () => {
        throw new Error("no space left on device");
      },
    };
    expect(() => rollbackIn(full, { hard: true, signed })).toThrow("no space left");
    expect(dump(database)).toEqual(before);
    expect(open().blocks.height).toBe(2n);
  });
});

describe("while blocks that came with a snapshot are still to be executed", () => {
  /** The chain of a restored home: blocks 4 to 6 exist with their votes, and the validator has no record of them. */
  function behind() {
    const { database, signed, open } = chain();
    const engine = open();
    for (let n = 0n; n < 6n; n++) {
      engine.mempool.add(send(n));
      engine.produceBlock();
    }
    const wanted = [4n, 5n, 6n].flatMap((height) => engine.blocks.signed(height) ?? []);
    for (let n = 0; n < 3; n++) rollbackIn(database, { hard: true, signed: memorySignState() });
    for (const block of wanted) database.write([aheadWrite(block.header.height, block)]);
    expect(signed.load()?.height).toBe(6n);
    const fresh = memorySignState();
    const restored = () =>
      new EmbeddedEngine({
        app: createApp({ database }),
        database,
        genesis,
        signer: new Signer(seed, fresh),
        blockInterval: 0,
      });
    return { database, signed: fresh, open: restored, hashes: wanted.map(({ header }) => toHex(headerHash(header))) };
  }

  const made = (engine: EmbeddedEngine) => toHex(headerHash(engine.produceBlock().block.header));

  it("the block that is taken back and those behind it come as they were decided, without another vote", () => {
    const { database, signed, open, hashes } = behind();
    expect(made(open())).toBe(hashes[0]);
    rollbackIn(database, { hard: false, signed });
    const again = open();
    const found: string[] = [];
    while (again.isBehind) found.push(made(again));
    expect(found).toEqual(hashes);
    expect(signed.load()?.height).toBeUndefined();
    expect([...database.table("engine/ahead").iterate()]).toEqual([]);
  });

  it.each([
    ["at once", [true]],
    ["after it waited", [false, true]],
  ])("nothing of them is left when the block goes for good: %s", (_, steps) => {
    const { database, signed, open } = behind();
    open().produceBlock();
    for (const hard of steps) rollbackIn(database, { hard, signed });
    expect([...database.table("engine/ahead").iterate()]).toEqual([]);
    expect(open().produceBlock().block.header.height).toBe(4n);
    expect(open().produceBlock().block.header.height).toBe(5n);
  });
});
