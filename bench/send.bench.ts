/**
 * CPU time of bank transfers through the whole application: checkTx, finalizeBlock, commit; and of making the rows of results and
 * of the index.
 *
 *   npm run bench -- send [accounts] [sends] [sends a block] [sends in a transaction]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { DEFAULT_CONSENSUS_PARAMS, type FinalizeBlockResult, NO_VOTERS, type TxResult } from "../src/abci/index.ts";
import { createApp, moduleSet, type SvcApplication } from "../src/app/index.ts";
import type { ExecutedBlock } from "../src/engine/embedded/blocks/block-records.ts";
import { BlockReader } from "../src/engine/embedded/blocks/block-store.ts";
import { EncodedTxResult } from "../src/engine/embedded/blocks/codec.ts";
import { txHash } from "../src/engine/embedded/blocks/hashes.ts";
import { txWrites } from "../src/engine/embedded/blocks/tx-rows.ts";
import { NO_COMMIT } from "../src/engine/embedded/blocks/types.ts";
import { IndexedTerms, TxIndex } from "../src/engine/embedded/index/tx-index.ts";
import { type Database, memoryDatabase, openLmdb } from "../src/store/index.ts";
import { signTx, type TestKey, testKey } from "../src/testing/index.ts";
import { MsgSendSchema } from "../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";

const CHAIN_ID = "bench-1";
const [accounts = 10_000, sends = 20_000, perBlock = 2000, messages = 1] = process.argv.slice(2).map(Number);

class Meter {
  readonly #totals = new Map<string, number>();

  run<T>(name: string, work: () => T): T {
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    this.#totals.set(name, (this.#totals.get(name) ?? 0) + user + system);
    return result;
  }

  print(title: string, count: number): void {
    let sum = 0;
    for (const [name, total] of this.#totals) {
      sum += total;
      console.log(`${title} ${name.padEnd(14)} ${(total / count).toFixed(1).padStart(8)} us cpu a send`);
    }
    console.log(`${title} ${"total".padEnd(14)} ${(sum / count).toFixed(1).padStart(8)} us cpu a send`);
  }
}

function bench(title: string, database: Database, keys: readonly TestKey[], txs: readonly Uint8Array[]): void {
  const app = createApp({ database, set: moduleSet(() => []) });
  const balances = keys.map(({ address }) => ({ address, coins: [{ denom: "utoken", amount: "1000000000" }] }));
  app.initChain({
    chainId: CHAIN_ID,
    time: 1n,
    initialHeight: 1n,
    validators: [],
    consensusParams: { ...DEFAULT_CONSENSUS_PARAMS, block: { ...DEFAULT_CONSENSUS_PARAMS.block, maxGas: -1n } },
    appState: { bank: { balances } },
  });
  block(app, 1n, [], new Meter());
  const meter = new Meter();
  const idle = new Meter();
  const index = new TxIndex(database, new BlockReader(database));
  let height = 1n;
  for (let at = 0; at < txs.length; at += perBlock / messages) {
    const batch = txs.slice(at, at + perBlock / messages);
    meter.run("checkTx", () => {
      for (const tx of batch) must(app.checkTx({ tx, kind: "new" }));
    });
    height += 2n;
    block(app, height - 1n, [], idle);
    idle.run("recheck", () => {
      for (const tx of batch) must(app.checkTx({ tx, kind: "recheck" }));
    });
    const terms = new IndexedTerms();
    const results = block(app, height, batch, meter, terms);
    meter.run("result rows", () => txWrites(height, batch, results.txResults));
    const hashes = batch.map(txHash);
    // The index reads no more of a block.
    const header = { ...results, block: { header: { height } }, commit: NO_COMMIT } as unknown as ExecutedBlock;
    meter.run("index rows", () => index.writes(header, hashes, terms));
  }
  meter.print(title, sends);
  idle.print(`${title}, one empty block between`, sends);
}

function block(
  app: SvcApplication,
  height: bigint,
  txs: readonly Uint8Array[],
  meter: Meter,
  terms = new IndexedTerms(),
): FinalizeBlockResult {
  const keep = (result: TxResult, index: number) => {
    terms.add(result.events, index);
    return new EncodedTxResult(result);
  };
  const place = { height, time: height, proposer: new Uint8Array(20), hash: new Uint8Array(32) };
  const request = { ...NO_VOTERS, ...place, txs, keep };
  const results = meter.run("finalizeBlock", () => app.finalizeBlock(request));
  for (const result of results.txResults) must(result);
  meter.run("commit", () => app.commit());
  return results;
}

function must({ code, log }: { code: number; log: string | undefined }): void {
  if (code !== 0) throw new Error(log);
}

/** Every account sends in turn to another one. */
function transfers(keys: readonly TestKey[]): Uint8Array[] {
  return Array.from({ length: sends / messages }, (_, i) => {
    const from = keyAt(keys, i);
    const all = Array.from({ length: messages }, (_, j) => {
      const amount = [{ denom: "utoken", amount: "1" }];
      return create(MsgSendSchema, {
        fromAddress: from.address,
        toAddress: keyAt(keys, i * 7919 + 1 + j).address,
        amount,
      });
    });
    const sequence = BigInt(Math.floor(i / keys.length));
    const signer = { key: from, accountNumber: numbers.get(from.address) ?? 0n, sequence };
    return signTx(CHAIN_ID, all, [signer], {
      gas: 200_000n * BigInt(messages),
      fee: [{ denom: "utoken", amount: 500n }],
    });
  });
}

function keyAt(keys: readonly TestKey[], index: number): TestKey {
  const key = keys[index % keys.length];
  if (key === undefined) throw new Error("no accounts");
  return key;
}

const keys = Array.from({ length: accounts }, (_, i) => testKey(`bench ${i}`));
/** Accounts are created in the order of the balances, after the account of the fees. */
const numbers = new Map(keys.map(({ address }, i) => [address, BigInt(i + 1)]));
const txs = transfers(keys);

bench("memory", memoryDatabase(), keys, txs);
const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
try {
  const database = openLmdb(directory);
  bench("lmdb", database, keys, txs);
  database.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
