/**
 * Requests a second to a provider's gateway over kept TLS connections, and the processor time of each; the clients are a process of
 * their own. New connections too, each with its handshake.
 *
 *   npm run bench -- gateway [rounds] [seconds]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { Agent, get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testNode } from "../src/testing/index.ts";
import { quietConfig, TestDaemon, testMarketplace } from "../test/support/provider/daemon.ts";
import { Report } from "./lib/report.ts";

const CONNECTIONS = 32;

interface Load {
  readonly port: number;
  readonly path: string;
  readonly seconds: number;
  readonly isKept: boolean;
}

if (process.send === undefined) await main();
else process.send(await load(JSON.parse(process.argv[2] ?? "{}") as Load));

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
      `${CONNECTIONS} clients with addresses of their own in a process for ${seconds} s, each with one request after the other; the daemon on a cluster in memory beside its node in the measuring process, whose processor time is counted.`,
    );
    for (const [name, path, isKept] of [
      ["GET /status", "/status", true],
      ["GET /version", "/version", true],
      ["GET /address with a new connection each", "/address", false],
    ] as const) {
      const perSecond: number[] = [];
      const cpuUs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const before = cpuTime();
        const count = await inProcess({ port, path, seconds, isKept });
        cpuUs.push((cpuTime() - before) / count);
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

/** Microseconds of this process. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function inProcess(given: Load): Promise<number> {
  const clients = fork(fileURLToPath(import.meta.url), [JSON.stringify(given)]);
  const broken = once(clients, "exit").then(() => Promise.reject(new Error("the clients ended without an answer")));
  const [count] = await Promise.race([once(clients, "message"), broken]);
  broken.catch(() => {});
  clients.disconnect();
  return Number(count);
}

/** How many requests were answered. */
async function load({ port, path, seconds, isKept }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: isKept, maxSockets: CONNECTIONS, rejectUnauthorized: false });
  const end = performance.now() + seconds * 1000;
  let count = 0;
  // One address may open only so many connections a second.
  const client = async (_: unknown, index: number): Promise<void> => {
    while (performance.now() < end) {
      await ask({ agent, port, path, localAddress: `127.0.1.${index + 1}` });
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return count;
}

interface Question extends Pick<Load, "port" | "path"> {
  readonly agent: Agent;
  readonly localAddress: string;
}

function ask(place: Question): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", ...place }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume().once("end", () => resolve());
    }).once("error", reject);
  });
}
