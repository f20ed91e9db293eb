/**
 * Committed bank sends a second: a real node process with durable commits and application hash, and a loader in a second
 * process on the same cores, which signs everything beforehand and waits for each answer.
 *
 *   npm run bench -- sends [runs] [transactions] [connections] [accounts]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { accountInfo, ChainClient } from "../src/client/index.ts";
import { signTx, type TestKey } from "../src/testing/index.ts";
import { NATIVE_DENOM, toBase64 } from "../src/util/index.ts";
import { MsgSendSchema } from "../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { Fixture, pause, type TestNode } from "../test/support/index.ts";
import { startBenchNode } from "./lib/bench-node.ts";
import { Connection, request } from "./lib/connection.ts";
import { cpuOfProcess } from "./lib/cpu.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { Report } from "./lib/report.ts";
import { quantile } from "./lib/stats.ts";

/** A little more than a transfer uses: the gas of a block counts what its transactions ask for. */
const GAS = 25_000n;
const FEE = 500n;
const CHAIN_ID = "svc-bench-1";

interface Load {
  readonly port: number;
  readonly txs: number;
  readonly connections: number;
  readonly accounts: number;
}

interface LoadResult {
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
  readonly cpuMs: number;
}

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const [runs = 5, txs = 16_000, connections = 32, accounts = 2_000] = process.argv.slice(2).map(Number);
  const method =
    `${txs} bank sends from ${accounts} accounts, signed beforehand, over ${connections} connections (JSON-RPC ` +
    "broadcast_tx_sync, one at a time each); node and loader are two processes on the same cores; blocks every second, " +
    "durable commits, application hash, transaction index; committed sends over the time from the first to the last " +
    "block that holds them; a fresh chain for each run.";
  const report = new Report("sends", method);
  const results: RunResult[] = [];
  for (let run = 0; run < runs; run++) results.push(await measureOnce({ txs, connections, accounts }));
  const of = (pick: (result: RunResult) => number): number[] => results.map(pick);
  report.add({ name: "committed sends", unit: "1/s", samples: of((r) => r.tps), target: { atLeast: 1500 } });
  report.add({ name: "accepted sends", unit: "1/s", samples: of((r) => txs / r.load.seconds) });
  report.add({ name: "answer to a send, median", unit: "ms", samples: of((r) => quantile(r.load.latenciesMs, 0.5)) });
  report.add({
    name: "answer to a send, 99 of 100",
    unit: "ms",
    samples: of((r) => quantile(r.load.latenciesMs, 0.99)),
  });
  report.add({ name: "CPU of the node a send", unit: "ms", samples: of((r) => r.nodeCpuMs / txs) });
  report.add({ name: "CPU of the loader a send", unit: "ms", samples: of((r) => r.load.cpuMs / txs) });
  report.save();
}

interface RunResult {
  readonly tps: number;
  readonly nodeCpuMs: number;
  readonly load: LoadResult;
}

async function measureOnce(load: Omit<Load, "port">): Promise<RunResult> {
  const fixture = new Fixture();
  try {
    const addresses = loadKeys(load.accounts).map(({ address }) => address);
    const node = await startBenchNode(fixture, addresses);
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ ...load, port: node.port })]);
    await once(child, "message");
    const cpuBefore = cpuOfProcess(node.process.pid);
    child.send("go");
    const [result] = (await once(child, "message")) as [LoadResult];
    const tps = await committedRate(node, load.txs);
    const nodeCpuMs = cpuOfProcess(node.process.pid) - cpuBefore;
    await node.process.stop();
    console.log(
      `  ${tps.toFixed(0)} committed/s, accepted in ${result.seconds.toFixed(2)} s, node ${(nodeCpuMs / load.txs).toFixed(3)} ms CPU a send`,
    );
    return { tps, nodeCpuMs, load: result };
  } finally {
    await fixture.close();
  }
}

/** Waits until all are in blocks; their number over the time that those blocks took. */
async function committedRate(node: TestNode, wanted: number): Promise<number> {
  const client = node.client();
  try {
    let height = 0n;
    let committed = 0;
    let first: bigint | undefined;
    while (committed < wanted) {
      const { latestHeight } = await client.node.status();
      for (; height < latestHeight; height++) {
        const { block } = (await client.rpc.call("block", { height: `${height + 1n}` })) as BlockAnswer;
        const count = block.data.txs?.length ?? 0;
        committed += count;
        if (count > 0) first ??= height + 1n;
      }
      await pause(200);
    }
    // A header carries the time at which the block before it was signed.
    const after = await headerTime(client, height + 1n);
    return (wanted * 1000) / (after - (await headerTime(client, first ?? 0n)));
  } finally {
    client.close();
  }
}

interface BlockAnswer {
  readonly block: { readonly header: { readonly time: string }; readonly data: { readonly txs: string[] | null } };
}

/** Milliseconds since 1970; waits for the block. */
async function headerTime(client: ChainClient, height: bigint): Promise<number> {
  while ((await client.node.status()).latestHeight < height) await pause(100);
  const { block } = (await client.rpc.call("block", { height: `${height}` })) as BlockAnswer;
  return Date.parse(block.header.time);
}

/** The second process: signs, tells that it is ready, sends on "go", and tells what it saw. */
async function loader(load: Load): Promise<void> {
  const keys = loadKeys(load.accounts);
  const requests = await signAll(load, keys);
  const connections = await Promise.all(requests.map(() => Connection.open(load.port)));
  process.send?.("ready");
  await once(process, "message");
  const cpu = process.cpuUsage();
  const started = performance.now();
  const latencies = await Promise.all(connections.map((connection, i) => sendAll(connection, requests[i] ?? [])));
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - started) / 1000;
  for (const connection of connections) connection.close();
  process.send?.({ seconds, latenciesMs: latencies.flat(), cpuMs: (user + system) / 1000 });
}

/** All requests by connection; one account stays on one connection, so its sequences arrive in order. */
async function signAll({ port, txs, connections, accounts }: Load, keys: readonly TestKey[]): Promise<Buffer[][]> {
  const first = await firstNumber(port, keys);
  const requests = Array.from({ length: connections }, (): Buffer[] => []);
  for (let i = 0; i < txs; i++) {
    const index = i % accounts;
    const key = keys[index];
    const to = keys[(index * 7919 + 1) % accounts];
    if (key === undefined || to === undefined) throw new Error("there are no accounts");
    const amount = [{ denom: NATIVE_DENOM, amount: "1" }];
    const message = create(MsgSendSchema, { fromAddress: key.address, toAddress: to.address, amount });
    const signer = { key, accountNumber: first + BigInt(index), sequence: BigInt(Math.floor(i / accounts)) };
    const tx = signTx(CHAIN_ID, [message], [signer], { gas: GAS, fee: [{ denom: NATIVE_DENOM, amount: FEE }] });
    requests[index % connections]?.push(request("broadcast_tx_sync", { tx: toBase64(tx) }));
  }
  return requests;
}

/** Accounts of a genesis file have consecutive numbers. */
async function firstNumber(port: number, keys: readonly TestKey[]): Promise<bigint> {
  const client = new ChainClient(`tcp://127.0.0.1:${port}`);
  try {
    return (await accountInfo(client.query, keys[0]?.address ?? "")).accountNumber;
  } finally {
    client.close();
  }
}

async function sendAll(connection: Connection, requests: readonly Buffer[]): Promise<number[]> {
  const latencies: number[] = [];
  for (const bytes of requests) {
    const sent = performance.now();
    const answer = await connection.ask(bytes);
    latencies.push(performance.now() - sent);
    if (!answer.includes('"code":0')) throw new Error(`a send was refused: ${answer}`);
  }
  return latencies;
}
