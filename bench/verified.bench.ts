/**
 * CPU and requests of `svc query bank balances` with proof beside the same query without: in the home of the node, which
 * trusts its own chain, once the newest verified block is in the home.
 *
 *   npm run bench -- verified [rounds]
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Fixture, ROOT, startNode, svcOk } from "../test/support/index.ts";
import { startLiar } from "../test/support/light/liar.ts";
import { type Cost, costOf } from "./lib/cpu.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

const MODES = ["off", "on"] as const;
const [rounds = 20] = process.argv.slice(2).map(Number);

const fixture = new Fixture();
try {
  const node = await startNode(fixture, { blockIntervalMs: 1_000 });
  const { home } = node;
  await svcOk(["keys", "add", "alice", "--home", home, "--keyring-backend", "test"]);
  const show = ["keys", "show", "alice", "-a", "--home", home, "--keyring-backend", "test"];
  const query = ["query", "bank", "balances", (await svcOk(show)).trim(), "--denom", "utoken", "--home", home];
  while (!existsSync(join(home, "data", "trusted-block.json"))) await sleep(100);
  await svcOk([...query, "--node", node.address]);

  const report = new Report(
    "verified",
    "Balance of one account with --verify off and on, in turn; user and system time of the whole command, measured by bash; " +
      "requests counted by a proxy between command and node.",
  );
  const costs: Record<(typeof MODES)[number], Cost[]> = { off: [], on: [] };
  const env = { PATH: process.env.PATH, HOME: fixture.folder };
  for (let round = 0; round <= rounds; round++) {
    for (const mode of MODES) {
      const command = [join(ROOT, "svc"), ...query, "--node", node.address, "--verify", mode];
      const cost = costOf(command, env);
      if (round > 0) costs[mode].push(cost);
    }
  }
  const proxy = await startLiar(node.address);
  fixture.defer(() => proxy.close());
  for (const mode of MODES) {
    report.add({ name: `--verify ${mode}: CPU`, unit: "ms", samples: costs[mode].map(({ cpuMs }) => cpuMs) });
    report.add({ name: `--verify ${mode}: wall`, unit: "ms", samples: costs[mode].map(({ wallMs }) => wallMs) });
    proxy.requests.length = 0;
    await svcOk([...query, "--node", proxy.url, "--verify", mode]);
    report.add({ name: `--verify ${mode}: requests`, unit: "", samples: [proxy.requests.length] });
  }
  const plain = median(costs.off.map(({ cpuMs }) => cpuMs));
  const samples = costs.on.map(({ cpuMs }) => cpuMs / plain);
  report.add({ name: "CPU with proof over that without", unit: "x", samples, target: { atMost: 2 } });
  report.save();
} finally {
  await fixture.close();
}
