/**
 * How long the event loops of a node stand still, and how long others wait, while it is attacked and under load: parallel
 * simulations, sends up to full blocks, queries. Blocks are told apart, by their steps.
 *
 *   npm run bench -- stalls [seconds of each load] [part of a load's name]
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { signTx } from "../src/testing/index.ts";
import { toBase64 } from "../src/util/index.ts";
import { MsgSendSchema } from "../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { SignMode } from "../src/wire/index.ts";
import { Onlooker } from "../test/attack/lib/onlooker.ts";
import { pausedAndStarted, simulateCall } from "../test/attack/lib/simulation.ts";
import { ask, callText, type Door } from "../test/attack/lib/sockets.ts";
import { Fixture, pause, ROOT } from "../test/support/index.ts";
import { startBenchNode } from "./lib/bench-node.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { Report } from "./lib/report.ts";
import { loader, measureSends, OWN } from "./lib/sends.ts";
import { readSpan, type Span } from "./lib/stalls.ts";
import { quantile } from "./lib/stats.ts";

const [length = "10", only = ""] = process.argv.slice(2);
const seconds = Number(length);
const ACCOUNTS = 2_000;
const SIDE_BY_SIDE = 8;
const ANSWER = { atMost: 100 };
const STALL = { atMost: 250 };
const BLOCK = { atMost: 1000 };

/** The node that is looked at. */
interface Watched {
  readonly door: Door;
  readonly pid: number;
  readonly client: ConstructorParameters<typeof Onlooker>[0]["client"];
}

type Load = (node: Watched) => Promise<unknown>;

async function measure(): Promise<void> {
  const report = new Report(
    "stalls",
    "A timer of 10 ms in each thread of a node (bench/lib/stall-probe.cjs) tells how long its event loop stood still, with the time that " +
      "the thread was on a core and waited for one, as the kernel counts them: what is left without the waiting is the node's own. A block " +
      "is told apart from other work; its own time is that of its thread on a core. Somebody asks for health, status and a balance every 50 ms meanwhile.",
  );
  const probe = mkdtempSync(join(tmpdir(), "svc-probe-"));
  copyFileSync(join(ROOT, "bench", "lib", "stall-probe.cjs"), join(probe, "probe.cjs"));
  const fixture = new Fixture();
  try {
    const addresses = loadKeys(ACCOUNTS).map(({ address }) => address);
    const nodeFlags = ["--require", join(probe, "probe.cjs")];
    const node = await startBenchNode(fixture, addresses, { nodeFlags });
    const door = { host: "127.0.0.1", port: node.port };
    const watched = { door, pid: node.process.pid, client: node.client(60_000) };
    for (const [name, load] of Object.entries(LOADS))
      if (name.includes(only)) await measureLoad(report, { name, load, watched, probe });
    watched.client.close();
    await node.process.stop();
  } finally {
    await fixture.close();
    if (process.env.BENCH_KEEP !== "1") rmSync(probe, { recursive: true, force: true });
  }
  if (only === "") report.save();
}

interface Measured {
  readonly name: string;
  readonly load: Load;
  readonly watched: Watched;
  readonly probe: string;
}

async function measureLoad(report: Report, { name, load, watched, probe }: Measured): Promise<void> {
  const from = Date.now();
  const onlooker = new Onlooker({ ...watched, address: loadKeys(1)[0]?.address ?? "" });
  await load(watched);
  const { faults, answersMs } = await onlooker.stop();
  if (faults.length > 0) throw new Error(`${name}: ${faults[0]}`);
  // The probe writes four times a second.
  await pause(1000);
  tellSpan(report, name, readSpan(probe, { from, to: Date.now() }));
  const of = (share: number) => [quantile(answersMs, share)];
  report.add({ name: `${name}: answers to others, median`, unit: "ms", samples: of(0.5) });
  report.add({ name: `${name}: answers to others, 99 of 100`, unit: "ms", samples: of(0.99), target: ANSWER });
  const slowest = `${name}: answers to others, slowest of ${answersMs.length}`;
  report.add({ name: slowest, unit: "ms", samples: of(1), target: ANSWER });
}

function tellSpan(report: Report, name: string, { threads, blocks }: Span): void {
  for (const { thread, stallMs, wholeMs, garbageMs } of threads) {
    report.add({ name: `${name}: ${thread}, longest collection of garbage`, unit: "ms", samples: [garbageMs] });
    report.add({ name: `${name}: ${thread}, longest stall`, unit: "ms", samples: [stallMs], target: STALL });
    report.add({ name: `${name}: ${thread}, longest with waiting for a core`, unit: "ms", samples: [wholeMs] });
  }
  const largest = blocks.toSorted((a, b) => b.ranMs - a.ranMs)[0];
  if (largest !== undefined) {
    const { txs, steps } = largest;
    report.add({ name: `${name}: dearest block, of ${txs}: CPU`, unit: "ms", samples: [largest.ranMs], target: BLOCK });
    for (const [step, ms] of steps) report.add({ name: `${name}: its step ${step}: CPU`, unit: "ms", samples: [ms] });
  }
}

/** Does something again and again, some side by side, for the time of a load. */
async function again(work: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    while (performance.now() < end) await work();
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, one));
}

function simulations(bytes: number, pairs: number): Load {
  return ({ door }) => {
    const [key] = loadKeys(1);
    if (key === undefined) throw new Error("there are no accounts");
    const call = simulateCall(key, pausedAndStarted(key.address, { bytes, pairs }));
    return again(() => ask(door, "/", call));
  };
}

function queries(...calls: readonly string[]): Load {
  let next = 0;
  return ({ door }) =>
    again(() => {
      next += 1;
      return ask(door, "/", calls[next % calls.length], { kept: 0 });
    });
}

/** Large transactions signed as amino JSON, with well-formed but invalid signatures. */
const forged: Load = ({ door }) => {
  const [key] = loadKeys(1);
  if (key === undefined) throw new Error("there are no accounts");
  const amount = [{ denom: OWN.denom, amount: "1" }];
  const message = create(MsgSendSchema, { fromAddress: key.address, toAddress: key.address, amount });
  const signer = { key: { ...key, sign: () => new Uint8Array(64).fill(1) }, accountNumber: 0n, sequence: 0n };
  const settings = { mode: SignMode.LEGACY_AMINO_JSON, gas: 10_000_000n };
  const tx = signTx(
    OWN.chainId,
    Array.from({ length: 400 }, () => message),
    [signer],
    settings,
  );
  const call = callText("broadcast_tx_sync", { tx: toBase64(tx) });
  return again(() => ask(door, "/", call));
};

const sends: Load = ({ pid, door }) =>
  measureSends(fileURLToPath(import.meta.url), pid, {
    ...OWN,
    port: door.port,
    txs: 16_000,
    messages: 1,
    connections: 32,
    accounts: ACCOUNTS,
  });

const LOADS: Readonly<Record<string, Load>> = {
  idle: () => pause(seconds * 1000),
  "simulations of 300 pairs": simulations(89_000, 300),
  "simulations of 127 pairs": simulations(15_000, 127),
  "simulations of small specs": simulations(1_000, 127),
  "forged amino JSON of 53 kB": forged,
  "sends up to full blocks": sends,
  "searches and results of blocks": queries(
    callText("tx_search", { query: "tx.height>0", per_page: "100" }),
    callText("block_results", { height: "5" }),
    callText("block", { height: "5" }),
    callText("tx_search", { query: "message.action='/cosmos.bank.v1beta1.MsgSend'", per_page: "100", page: "20" }),
    callText("genesis_chunked", { chunk: "0" }),
  ),
};

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));
