/**
 * Requests a second to a provider's gateway over kept TLS connections, and the processor time of each; the clients are a thread of
 * their own. New connections too, each with its handshake.
 *
 *   npm run bench -- gateway [rounds] [seconds]
 */
import { mkdtempSync } from "node:fs";
import { Agent, get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { quietConfig, TestDaemon, testMarketplace } from "../src/provider/testing/daemon.ts";
import { testNode } from "../src/testing/index.ts";
import { Report } from "./lib/report.ts";

const CONNECTIONS = 32;

interface Load {
  readonly port: number;
  readonly path: string;
  readonly seconds: number;
  readonly isKept: boolean;
}

if (isMainThread) await main();
else parentPort?.postMessage(await load(workerData as Load));

async function main(): Promise<void> {
  const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number);
  const node = await testNode();
  const market = await testMarketplace(node);
  const config = quietConfig(mkdtempSync(join(tmpdir(), "svc-bench-gateway-")));
  const daemon = new TestDaemon(market, { config, nodePorts: { first: 40_000, last: 40_001 } });
  try {
    await daemon.start();
    const port = Number(daemon.logged("provider started")?.gateway);
    const report = new Report(
      "gateway",
      `${CONNECTIONS} clients in a thread of their own for ${seconds} s, each with one request after the other; the daemon on a cluster in memory beside its node in the measuring thread, whose processor time is counted.`,
    );
    for (const [name, path, isKept] of [
      ["GET /status", "/status", true],
      ["GET /version", "/version", true],
      ["GET /address with a new connection each", "/address", false],
    ] as const) {
      const perSecond: number[] = [];
      const cpuUs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const before = threadCpu();
        const count = await inThread({ port, path, seconds, isKept });
        cpuUs.push((threadCpu() - before) / count);
        perSecond.push(count / seconds);
      }
      report.add({ name, unit: "requests/s", samples: perSecond });
      report.add({ name: `${name}: processor time of daemon and node`, unit: "us/request", samples: cpuUs });
    }
    report.save();
  } finally {
    await daemon.stop();
    await node.stop();
  }
}

let workerCpu = 0;

/** Microseconds of this process without those of the clients' thread. */
function threadCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system - workerCpu;
}

function inThread(given: Load): Promise<number> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: given });
    worker.once("message", ({ count, cpuUs }: { count: number; cpuUs: number }) => {
      workerCpu += cpuUs;
      resolve(count);
    });
    worker.once("error", reject);
  });
}

/** How many requests were answered, and what that cost the clients. */
async function load({
  port,
  path,
  seconds,
  isKept,
}: Load): Promise<{ readonly count: number; readonly cpuUs: number }> {
  const agent = new Agent({ keepAlive: isKept, maxSockets: CONNECTIONS, rejectUnauthorized: false });
  const begun = performance.eventLoopUtilization();
  const end = performance.now() + seconds * 1000;
  let count = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      await ask({ agent, port, path });
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  // The time that the thread's loop was busy: the clients do nothing but this.
  return { count, cpuUs: performance.eventLoopUtilization(begun).active * 1000 };
}

function ask(place: { readonly agent: Agent; readonly port: number; readonly path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", ...place }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume().once("end", () => resolve());
    }).once("error", reject);
  });
}
