/**
 * Processor time of a node for bank sends, one and fifty in a transaction, beside 0.1.0 in the same run. It fails if the ratio is
 * more than 5 % above the recorded one; with `record` it records the ratios instead.
 *
 *   npm run bench -- guard [record] [rounds] [transfers]
 *
 * The machine may have other work: rounds alternate between the builds, and the least of each counts. A node is measured twice:
 * cold, just after its start, and warm, when V8 has optimized its code. `BENCH_BEFORE` names other builds to show beside.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../test/support/index.ts";
import { cpuOfNode, ownNode, PHASES, type StartLoaded, type Transfers } from "./lib/own-node.ts";
import { Report } from "./lib/report.ts";
import { loader } from "./lib/sends.ts";

/** The release with which the path of a transaction is compared. */
const RELEASE = "1752d118";
const MESSAGES = [1, 50] as const;
/** How far above the recorded ratio a run may be. */
const TOLERANCE = 1.05;

type Figures = Map<string, number[]>;

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const words = process.argv.slice(2);
  const [rounds = 3, transfers = 6_000] = words.filter((word) => word !== "record").map(Number);
  const others = (process.env.BENCH_BEFORE ?? "").split(",").filter((path) => path !== "");
  const builds: [string, StartLoaded][] = [
    ["svc", ownNode()],
    ["0.1.0", ownNode(earlierBuild())],
    ...others.map((main, i): [string, StartLoaded] => [`other build ${i + 1}`, ownNode(main)]),
  ];
  const figures: Figures = new Map();
  for (const messages of MESSAGES)
    for (let round = 0; round < rounds; round++)
      for (const [name, start] of builds) await measureNode(figures, name, { start, messages, transfers });
  const report = new Report(
    "guard",
    `processor time of a node a bank send, ${transfers} after its start and as many again, one and fifty in a transaction; ` +
      "builds in turn, the least of all rounds; the ratio is to 0.1.0.",
  );
  for (const [name, samples] of figures) report.add({ name, unit: "ms", samples });
  const ratios = ratiosOf(figures);
  for (const [name, ratio] of ratios) report.add({ name, unit: "x", samples: [ratio] });
  if (words.includes("record")) report.save();
  else compare(ratios);
}

function earlierBuild(): string {
  const tool = join(ROOT, "tools", "earlier.mjs");
  return execFileSync(process.execPath, [tool, RELEASE], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
}

async function measureNode(
  figures: Figures,
  name: string,
  { start, ...each }: Transfers & { readonly start: StartLoaded },
): Promise<void> {
  const taken = await cpuOfNode(start, each, fileURLToPath(import.meta.url));
  for (const [i, phase] of PHASES.entries()) {
    const key = nameOf(name, phase, each.messages);
    figures.set(key, [...(figures.get(key) ?? []), taken[i] ?? Number.NaN]);
  }
}

function nameOf(build: string, phase: string, messages: number): string {
  return `${build}: CPU of the node a send, ${messages} in a transaction, ${phase}`;
}

/** The least processor time of this build over that of 0.1.0. */
function ratiosOf(figures: Figures): Map<string, number> {
  const least = (build: string, phase: string, messages: number) =>
    Math.min(...(figures.get(nameOf(build, phase, messages)) ?? []));
  const rows = MESSAGES.flatMap((messages) => PHASES.map((phase) => [messages, phase] as const));
  return new Map(
    rows.map(([messages, phase]) => {
      const ratio = least("svc", phase, messages) / least("0.1.0", phase, messages);
      return [`svc over 0.1.0, ${messages} in a transaction, ${phase}`, ratio];
    }),
  );
}

function compare(ratios: ReadonlyMap<string, number>): void {
  const path = join(ROOT, "bench", "results", "guard.json");
  if (!existsSync(path)) throw new Error("nothing is recorded yet: npm run bench -- guard record");
  const { figures }: { figures: { name: string; median: number }[] } = JSON.parse(readFileSync(path, "utf8"));
  for (const [name, ratio] of ratios) {
    const recorded = figures.find((figure) => figure.name === name)?.median;
    if (recorded === undefined || ratio <= recorded * TOLERANCE) continue;
    console.log(`FAILED ${name}: ${ratio.toFixed(3)} is more than 5 % above the recorded ${recorded}`);
    process.exitCode = 1;
  }
}
