/**
 * Committed bank sends a second: a real node process with durable commits and application hash, and a loader in a second
 * process on the same cores, which signs everything beforehand and waits for each answer.
 *
 *   npm run bench -- sends [runs] [transactions] [connections] [accounts]
 */
import { fileURLToPath } from "node:url";
import { Fixture } from "../test/support/index.ts";
import { startBenchNode } from "./lib/bench-node.ts";
import { loadKeys } from "./lib/load-accounts.ts";
import { Report } from "./lib/report.ts";
import { loader, measureSends, OWN, type Sent } from "./lib/sends.ts";
import { quantile } from "./lib/stats.ts";

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
  const results: Sent[] = [];
  for (let run = 0; run < runs; run++) results.push(await measureOnce({ txs, connections, accounts }));
  const of = (pick: (result: Sent) => number): number[] => results.map(pick);
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

async function measureOnce(load: { txs: number; connections: number; accounts: number }): Promise<Sent> {
  const fixture = new Fixture();
  try {
    const addresses = loadKeys(load.accounts).map(({ address }) => address);
    const node = await startBenchNode(fixture, addresses);
    const sent = await measureSends(fileURLToPath(import.meta.url), node.process.pid, {
      ...OWN,
      ...load,
      port: node.port,
      messages: 1,
    });
    await node.process.stop();
    return sent;
  } finally {
    await fixture.close();
  }
}
