/**
 * CPU time of short commands of the checkout's `./svc`, beside that of an empty Node.js process in the same rounds.
 *
 *   npm run bench -- startup [rounds]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fixture, ROOT, runSvc, svcOk } from "../test/support/index.ts";
import { type Cost, costOf } from "./lib/cpu.ts";
import { Report } from "./lib/report.ts";
import { median } from "./lib/stats.ts";

const SVC = join(ROOT, "svc");
const [rounds = 20] = process.argv.slice(2).map(Number);

const fixture = new Fixture();
try {
  const home = fixture.tempHome();
  const keyring = ["--home", home, "--keyring-backend", "test"];
  for (const name of ["alice", "bob", "carol"]) await svcOk(["keys", "add", name, ...keyring]);
  const [from, to] = await Promise.all(["alice", "bob"].map((name) => svcOk(["keys", "show", name, "-a", ...keyring])));
  const unsigned = join(fixture.folder, "unsigned.json");
  const send = ["tx", "bank", "send", `${from}`.trim(), `${to}`.trim(), "1000utoken", "--chain-id", "svc-bench-1"];
  writeFileSync(unsigned, await svcOk([...send, "--fees", "500utoken", "--generate-only", "--offline", ...keyring]));
  const offline = ["--offline", "-a", "1", "-s", "0", "--chain-id", "svc-bench-1", "--from", "alice"];
  const commands = new Map([
    ["node -e 0", [process.execPath, "-e", "0"]],
    ["svc version", [SVC, "version"]],
    ["svc keys list", [SVC, "keys", "list", ...keyring]],
    ["svc tx sign --offline", [SVC, "tx", "sign", unsigned, ...offline, ...keyring]],
    ["svc --help", [SVC, "--help"]],
  ]);
  for (const [name, [program, ...args]] of commands) {
    const { code, stderr } = program === SVC ? await runSvc(args) : { code: 0, stderr: "" };
    if (code === 0) continue;
    commands.delete(name);
    console.error(`left out: ${name}: ${stderr.trim()}`);
  }
  const env = { PATH: process.env.PATH, HOME: fixture.folder };
  const costs = new Map<string, Cost[]>([...commands.keys()].map((name) => [name, []]));
  // The first round, which fills caches, is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const [name, command] of commands) {
      const cost = costOf(command, env);
      if (round > 0) costs.get(name)?.push(cost);
    }
  }
  report(costs);
} finally {
  await fixture.close();
}

function report(costs: ReadonlyMap<string, readonly Cost[]>): void {
  const method =
    "User and system time of the whole command, shell wrapper included, measured by bash; all commands in turn, medians.";
  const figures = new Report("startup", method);
  const cpu = (name: string): number[] => costs.get(name)?.map(({ cpuMs }) => cpuMs) ?? [];
  const empty = median(cpu("node -e 0"));
  for (const [name, samples] of costs) {
    figures.add({ name: `${name}: CPU`, unit: "ms", samples: cpu(name) });
    figures.add({ name: `${name}: wall`, unit: "ms", samples: samples.map(({ wallMs }) => wallMs) });
  }
  for (const name of costs.keys()) {
    if (name === "node -e 0") continue;
    const samples = cpu(name).map((value) => value / empty);
    const target = name === "svc version" ? { target: { atMost: 1.5 } } : {};
    figures.add({ name: `${name}: CPU over that of node -e 0`, unit: "x", samples, ...target });
  }
  figures.save();
}
