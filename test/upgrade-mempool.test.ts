import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createApp } from "../src/app/index.ts";
import { EmbeddedEngine, memorySignState, parseGenesis, Signer } from "../src/engine/index.ts";
import { readKeyFile } from "../src/node/home/keys.ts";
import { addGenesisAccounts, homePaths, initHome, readGenesisText } from "../src/node/index.ts";
import { memoryDatabase } from "../src/store/index.ts";
import { toHexUpper } from "../src/util/index.ts";
import { makeLanes } from "./kill/lanes.ts";

/** A mempool that is full at the very block before which a program stops, because it lacks the upgrade. */

const CHAIN = "svc-full-1";
const BEFORE = 3n;
const MEMPOOL = 20;
/** A block has room for five transfers. */
const BLOCK_GAS = "1000000";
const lanes = makeLanes(CHAIN, 4, 12);

const home = mkdtempSync(join(tmpdir(), "svc-full-"));
afterAll(() => rmSync(home, { recursive: true }));
initHome({ home, moniker: "full", chainId: CHAIN, time: 1n });
addGenesisAccounts(
  home,
  lanes.map(({ key: { address } }) => ({ address, coins: [{ denom: "utoken", amount: 1_000_000_000n }] })),
);
const genesis = JSON.parse(readGenesisText(home));
genesis.app_state.upgrade = { plan: { name: "v2", height: `${BEFORE + 1n}`, info: "" } };
genesis.consensus_params.block.max_gas = BLOCK_GAS;
const database = memoryDatabase();
const signer = new Signer(readKeyFile(homePaths(home).validatorKey), memorySignState());

/** A program on the one chain. */
class Program {
  readonly engine: EmbeddedEngine;
  /** Executed transfers, as often as they were executed. */
  readonly executed: string[] = [];

  constructor(upgrades: Record<string, () => void>) {
    const app = createApp({ database, upgrades });
    const parts = { app, database, genesis: parseGenesis(JSON.stringify(genesis)), signer };
    this.engine = new EmbeddedEngine({ ...parts, blockInterval: 0, mempool: { maxTxs: MEMPOOL } });
  }

  block(): void {
    const { txHashes, txResults } = this.engine.produceBlock();
    expect(txResults.filter(({ code }) => code !== 0)).toEqual([]);
    this.executed.push(...txHashes.map(toHexUpper));
  }

  /** Sends transfers until one finds no room; the accepted ones. */
  fill(txs: readonly Uint8Array[]): string[] {
    const accepted: string[] = [];
    for (const tx of txs) {
      try {
        const { hash, result } = this.engine.mempool.add(tx);
        if (result.code === 0) accepted.push(toHexUpper(hash));
      } catch (refusal) {
        if (String(refusal).includes("mempool is full")) return accepted;
        expect(String(refusal)).toContain("already exists");
      }
    }
    return accepted;
  }
}

test("transfers that wait stay where they are, and the next program executes each once", async () => {
  const txs = Array.from({ length: 48 }, (_, i) => lanes[i % lanes.length]?.tx(BigInt(Math.floor(i / lanes.length))));
  const sent = txs.filter((tx) => tx !== undefined);
  const old = new Program({});
  const accepted: string[] = [];
  while (old.engine.blocks.height < BEFORE) {
    old.block();
    accepted.push(...old.fill(sent.slice(accepted.length)));
    expect(old.engine.mempool.size).toBe(MEMPOOL);
  }
  const waiting = old.engine.mempool.list(MEMPOOL);
  expect(() => old.block()).toThrow(`UPGRADE "v2" NEEDED at height: ${BEFORE + 1n}`);
  expect(old.engine.blocks.height).toBe(BEFORE);
  expect(old.engine.mempool.list(MEMPOOL)).toEqual(waiting);
  expect(old.fill(sent.slice(accepted.length))).toEqual([]);
  expect([waiting.length, old.executed.length]).toEqual([MEMPOOL, accepted.length - MEMPOOL]);
  await old.engine.stop();

  const next = new Program({ v2: () => {} });
  // Clients send again all that they know no block of, and more.
  while (old.executed.length + next.executed.length < sent.length) {
    const before = next.executed.length;
    next.fill(sent);
    next.block();
    expect(next.executed.length).toBeGreaterThan(before);
  }
  const executed = [...old.executed, ...next.executed];
  expect(new Set(executed).size).toBe(sent.length);
  expect(executed).toEqual(expect.arrayContaining(accepted));
  await next.engine.stop();
});
