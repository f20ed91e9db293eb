/**
 * From a deployment file to an answer: `svc localnet` with one provider, then `svc deploy` again and again.
 *
 *   npm run bench -- deploy [runs]
 */
import { join } from "node:path";
import { ChainClient } from "../src/client/index.ts";
import type { DeployResult } from "../src/tenant/result.ts";
import { Query as DeploymentQuery } from "../src/wire/gen/svc/deployment/v1beta1/query_pb.js";
import { Query as MarketQuery } from "../src/wire/gen/svc/market/v1beta1/query_pb.js";
import { TestEngine } from "../test/e2e/engine.ts";
import { Fixture, ROOT, type SvcProcess, svcOk } from "../test/support/index.ts";
import { Report } from "./lib/report.ts";

const BLOCK_MS = 1000;
const BID_WINDOW = 2;
const FILE = join(ROOT, "examples", "web.yaml");
/** An offset that localnets of people and tests do not use. */
const PORT_OFFSET = 3400;

interface Ready {
  readonly rpc: string;
  readonly home: string;
}

interface Run {
  /** The whole command, process start included. */
  readonly totalMs: number;
  readonly orderToBidBlocks: number;
  readonly steps: DeployResult["steps"];
}

const [runs = 7] = process.argv.slice(2).map(Number);
const fixture = new Fixture();
try {
  const missing = await TestEngine.missing();
  if (missing !== undefined) throw new Error(`this benchmark needs a container engine: ${missing}`);
  const engine = await TestEngine.start();
  fixture.defer(() => engine.destroy());
  const home = join(fixture.folder, "localnet");
  const flags = ["-o", "json", "--home", home, "--port-offset", `${PORT_OFFSET}`, "--cluster-engine", engine.socket];
  const begun = performance.now();
  const localnet = await fixture.start("localnet", ["localnet", ...flags, "--block-interval", `${BLOCK_MS}ms`]);
  fixture.defer(() => localnet.stop());
  const ready = await waitReady(localnet);
  const upMs = performance.now() - begun;
  const results: Run[] = [];
  for (let run = 0; run < runs; run++) results.push(await deployOnce(ready));
  report(results, upMs);
} finally {
  await fixture.close();
}

async function waitReady(localnet: SvcProcess): Promise<Ready> {
  return JSON.parse(await localnet.line(/"type":"ready"/));
}

async function deployOnce({ rpc, home }: Ready): Promise<Run> {
  const common = ["--home", home, "--keyring-backend", "test", "--from", "alice", "--node", rpc, "-y"];
  const begun = performance.now();
  const deploy = ["deploy", FILE, "--new", "--bid", "cheapest", "--bid-window", `${BID_WINDOW}`, "-o", "json"];
  const result: DeployResult = JSON.parse(await svcOk([...deploy, ...common]));
  const totalMs = performance.now() - begun;
  const orderToBidBlocks = await blocksToBid(rpc, result);
  await svcOk(["deploy", "close", result.dseq, ...common]);
  console.log(`  ${Math.round(totalMs)} ms: ${result.steps.map(({ name, ms }) => `${name} ${ms}`).join(", ")}`);
  return { totalMs, orderToBidBlocks, steps: result.steps };
}

/** Blocks from the order to the bid. */
async function blocksToBid(rpc: string, { owner, dseq }: DeployResult): Promise<number> {
  const client = new ChainClient(rpc);
  try {
    const id = { owner, dseq: BigInt(dseq) };
    const { deployment } = await client.query.call(DeploymentQuery.method.deployment, { id });
    const { bids } = await client.query.call(MarketQuery.method.bids, { filters: id });
    return Number((bids[0]?.bid?.createdAt ?? 0n) - (deployment?.createdAt ?? 0n));
  } finally {
    client.close();
  }
}

/** From the block of the lease to the first answer of its program: all steps that follow it. */
function afterLease({ steps }: Run): number {
  const leased = steps.findIndex(({ name }) => name === "lease");
  return steps.slice(leased + 1).reduce((sum, { ms }) => sum + ms, 0);
}

function report(results: readonly Run[], upMs: number): void {
  const method =
    `svc localnet with blocks every ${BLOCK_MS} ms and one provider; svc deploy examples/web.yaml --bid cheapest with a bid ` +
    `window of ${BID_WINDOW} blocks, one deployment after the other, closed in between; own container engine, image there.`;
  const figures = new Report("deploy", method);
  const atMost = 3 * BLOCK_MS + BID_WINDOW * BLOCK_MS + 1000;
  figures.add({ name: "localnet: command to ready", unit: "ms", samples: [upMs] });
  figures.add({
    name: "order to bid",
    unit: "blocks",
    samples: results.map(({ orderToBidBlocks }) => orderToBidBlocks),
    target: { atMost: 1 },
  });
  figures.add({
    name: "svc deploy: command to first 200",
    unit: "ms",
    samples: results.map(({ totalMs }) => totalMs),
    target: { atMost },
  });
  figures.add({ name: "lease to first byte", unit: "ms", samples: results.map(afterLease) });
  const names = results[0]?.steps.map(({ name }) => name) ?? [];
  for (const name of names) {
    const samples = results.flatMap(({ steps }) => steps.filter((step) => step.name === name).map(({ ms }) => ms));
    figures.add({ name: `svc deploy: step ${name}`, unit: "ms", samples });
  }
  figures.save();
}
