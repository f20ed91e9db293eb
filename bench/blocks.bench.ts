/**
 * The cost of blocks, results and the transaction index besides the state: the embedded engine against the bare
 * application, same transactions, one process, LMDB with durable commits.
 *
 * npm run bench -- blocks [runs] [transactions] [a block]
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { NO_VOTERS } from "../src/abci/index.ts";
import { createApp } from "../src/app/index.ts";
import { consensusAddress, ed25519PublicKey, sha256 } from "../src/crypto/index.ts";
import {
  DEFAULT_CONSENSUS_PARAMS,
  EmbeddedEngine,
  type Genesis,
  memorySignState,
  Signer,
} from "../src/engine/index.ts";
import { type Database, memoryDatabase, openLmdb } from "../src/store/index.ts";
import { signTx } from "../src/testing/index.ts";
import { NATIVE_DENOM, toUtf8 } from "../src/util/index.ts";
import { Query as AuthQuery, BaseAccountSchema } from "../src/wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { MsgSendSchema } from "../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { decodeMessage, encodeMessage, methodPath, unpackAs } from "../src/wire/index.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { Report } from "./lib/report.ts";

const CHAIN_ID = "svc-bench-1";
const ACCOUNTS = 2_000;
const GENESIS_TIME = 1_700_000_000_000_000_000n;

interface Cost {
  /** Microseconds of CPU per send. */
  readonly cpu: number;
  /** Bytes of the database per send. */
  readonly bytes: number;
}

const seed = sha256(toUtf8("validator of the benchmark"));
const [runs = 5, count = 16_000, perBlock = 2_000] = process.argv.slice(2).map(Number);
const keys = loadKeys(ACCOUNTS);
const firstNumber = askFirstNumber();
const txs = Array.from({ length: count }, (_, i) => send(i));
const method =
  `${count} bank sends in blocks of ${perBlock}: checkTx, block, commit; the engine also proposes, hashes, signs and stores ` +
  "blocks, results and index in the same durable transaction. CPU time of the process.";
const report = new Report("blocks", method);
const bare: Cost[] = [];
const whole: Cost[] = [];
for (let run = 0; run < runs; run++) {
  bare.push(measure(runApp));
  whole.push(measure(runEngine));
}
report.add({ name: "application alone: CPU a send", unit: "us", samples: bare.map(({ cpu }) => cpu) });
report.add({ name: "engine with blocks and index: CPU a send", unit: "us", samples: whole.map(({ cpu }) => cpu) });
report.add({
  name: "blocks and index: CPU a send",
  unit: "us",
  samples: whole.map(({ cpu }, i) => cpu - (bare[i]?.cpu ?? 0)),
});
report.add({
  name: "blocks and index: disk a send",
  unit: "bytes",
  samples: whole.map(({ bytes }, i) => bytes - (bare[i]?.bytes ?? 0)),
});
report.save();

function measure(work: (database: Database) => void): Cost {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const database = openLmdb(folder);
    globalThis.gc?.();
    const before = process.cpuUsage();
    work(database);
    const { user, system } = process.cpuUsage(before);
    database.close();
    const bytes = readdirSync(folder).reduce((total, name) => total + statSync(join(folder, name)).blocks * 512, 0);
    return { cpu: (user + system) / count, bytes: bytes / count };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runApp(database: Database): void {
  const app = createApp({ database });
  app.initChain(genesis());
  const block = (height: bigint, batch: readonly Uint8Array[]): void => {
    const request = {
      ...NO_VOTERS,
      txs: batch,
      height,
      time: GENESIS_TIME + height,
      proposer: new Uint8Array(20),
      hash: new Uint8Array(32),
    };
    for (const { code, log } of app.finalizeBlock(request).txResults) if (code !== 0) throw new Error(log);
    app.commit();
  };
  block(1n, []);
  for (let from = 0, height = 2n; from < count; from += perBlock, height++) {
    const batch = txs.slice(from, from + perBlock);
    for (const tx of batch) app.checkTx({ tx, kind: "new" });
    block(height, batch);
  }
}

function runEngine(database: Database): void {
  const app = createApp({ database });
  const signer = new Signer(seed, memorySignState());
  const engine = new EmbeddedEngine({ app, database, genesis: genesis(), signer, blockInterval: 0 });
  engine.produceBlock();
  for (let from = 0; from < count; from += perBlock) {
    for (const tx of txs.slice(from, from + perBlock)) engine.mempool.add(tx);
    const { txResults } = engine.produceBlock();
    if (txResults.length !== Math.min(perBlock, count - from))
      throw new Error("a block does not hold its transactions");
    for (const { code, log } of txResults) if (code !== 0) throw new Error(log);
  }
}

function genesis(): Genesis {
  const pubKey = ed25519PublicKey(seed);
  const balances = keys.map(({ address }) => ({ address, coins: [{ denom: NATIVE_DENOM, amount: "1000000000000" }] }));
  return {
    time: GENESIS_TIME,
    chainId: CHAIN_ID,
    initialHeight: 1n,
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    validators: [{ address: consensusAddress(pubKey), pubKey, power: 10n, name: "bench" }],
    appState: { bank: { balances } },
  };
}

/** Number of the first funded account; the others follow it. */
function askFirstNumber(): bigint {
  const app = createApp({ database: memoryDatabase() });
  app.initChain(genesis());
  app.finalizeBlock({
    ...NO_VOTERS,
    txs: [],
    height: 1n,
    time: GENESIS_TIME,
    proposer: new Uint8Array(20),
    hash: new Uint8Array(32),
  });
  app.commit();
  const { input, output } = AuthQuery.method.account;
  const data = encodeMessage(input, create(input, { address: keys[0]?.address ?? "" }));
  const { value } = app.query({ path: methodPath(AuthQuery.method.account), data, height: 0n, prove: false });
  const account = unpackAs(BaseAccountSchema, decodeMessage(output, value).account);
  if (account === undefined) throw new Error("the first account does not exist");
  return account.accountNumber;
}

function send(i: number): Uint8Array {
  const index = i % ACCOUNTS;
  const key = keys[index];
  const to = keys[(index * 7919 + 1) % ACCOUNTS];
  if (key === undefined || to === undefined) throw new Error("there are no accounts");
  const amount = [{ denom: NATIVE_DENOM, amount: "1" }];
  const message = create(MsgSendSchema, { fromAddress: key.address, toAddress: to.address, amount });
  const signer = { key, accountNumber: firstNumber + BigInt(index), sequence: BigInt(Math.floor(i / ACCOUNTS)) };
  return signTx(CHAIN_ID, [message], [signer], { gas: 200_000n, fee: [{ denom: NATIVE_DENOM, amount: 500n }] });
}
