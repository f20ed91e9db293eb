/**
 * Processor time of a node for bank sends, one and fifty in a transaction, beside the build of the last record in the same run; with
 * `record` beside 0.1.0, and recorded. Machines differ in the ratio of two builds by more than 5 %, so a ratio of another run is no
 * bound.
 *
 *   npm run bench -- guard [record] [rounds]
 *
 * The machine may have other work, so fresh nodes of the builds take short loads in turn, and each pair of loads gives one ratio. A
 * pair of the same build differs by up to 20 %; the benchmark fails where three of four pairs show more than 5 %. The first load
 * of a node is cold; the loads after it are warm, because V8 has optimized its code. `BENCH_BEFORE` names other builds to compare with.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fixture, ROOT } from "../test/support/index.ts";
import { ownNode, PHASES, type StartLoaded, startLaps, type Transfers } from "./lib/own-node.ts";
import { Report } from "./lib/report.ts";
import { loader } from "./lib/sends.ts";
import { median, quantile, rounded } from "./lib/stats.ts";

/** The release with which the path of a transaction is compared. */
const RELEASE = "1752d118";
/** Loads, in transfers: the shortest whose processor time the system counts to a hundredth. */
const LOADS: readonly Transfers[] = [
  { messages: 1, transfers: 4_000 },
  { messages: 50, transfers: 20_000 },
];
/** Loads of a node in a round, the cold one included. */
const LAPS = 7;
/** Fresh nodes of each build in a round; all but one take a cold load alone, because cold loads vary most. */
const STARTS = 5;
/** The greatest ratio of this build's time to the other's, and the share of pairs that must exceed it for a loss. */
const TOLERANCE = 1.05;
const SHARE_OF_LOSS = 0.75;

type Builds = readonly (readonly [name: string, start: StartLoaded])[];
/** Loads of each build and phase in their order, which is the same for all builds. */
type Figures = Map<string, number[]>;

if (process.send === undefined) await measure();
else await loader(JSON.parse(process.argv[2] ?? "{}"));

async function measure(): Promise<void> {
  const words = process.argv.slice(2);
  const [rounds = 3] = words.filter((word) => word !== "record").map(Number);
  const others = (process.env.BENCH_BEFORE ?? "").split(",").filter((path) => path !== "");
  const isRecord = words.includes("record");
  const builds: Builds = [
    ["svc", ownNode()],
    isRecord ? ["0.1.0", ownNode(buildOf(RELEASE))] : ["the recorded build", ownNode(buildOf(recordedCommit()))],
    ...others.map((main, i) => [`other build ${i + 1}`, ownNode(main)] as const),
  ];
  const figures: Figures = new Map();
  for (let round = 0; round < rounds; round++) for (const each of LOADS) await measureRound(figures, builds, each);
  const report = new Report(
    "guard",
    `processor time of a node a bank send in ${rounds} rounds of ${STARTS} cold and ${LAPS - 1} warm loads: ` +
      LOADS.map(({ messages, transfers }) => `${transfers} sends with ${messages} in a transaction`).join(", ") +
      "; fresh nodes of the builds in turn; each load, and the ratio of each pair.",
  );
  for (const [name, samples] of figures) report.add({ name, unit: "ms", samples });
  const ratios = builds.slice(1).flatMap(([other]) => ratiosTo(other, figures));
  for (const { name, samples } of ratios) {
    report.add({ name, unit: "x", samples });
    console.log(`  by pair: ${samples.map(rounded).join(", ")}`);
  }
  if (isRecord) report.save();
  judge(ratios);
}

function buildOf(commit: string): string {
  const tool = join(ROOT, "tools", "earlier.mjs");
  return execFileSync(process.execPath, [tool, commit], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }).trim();
}

function recordedCommit(): string {
  const path = join(ROOT, "bench", "results", "guard.json");
  if (!existsSync(path)) throw new Error("nothing is recorded yet: npm run bench -- guard record");
  const { commit }: { commit: string } = JSON.parse(readFileSync(path, "utf8"));
  return commit;
}

async function measureRound(figures: Figures, builds: Builds, each: Transfers): Promise<void> {
  for (let start = 0; start < STARTS; start++) await measureLaps(figures, builds, each, start === 0 ? LAPS : 1);
}

/** A fresh node of each build; they take their loads in turn. */
async function measureLaps(figures: Figures, builds: Builds, each: Transfers, laps: number): Promise<void> {
  const fixture = new Fixture();
  try {
    const script = fileURLToPath(import.meta.url);
    const nodes = [];
    for (const [name, start] of builds) nodes.push({ name, lap: await startLaps(fixture, start, { each, script }) });
    for (let count = 0; count < laps; count++) {
      const phase = count === 0 ? "cold" : "warm";
      for (const { name, lap } of nodes) note(figures, nameOf(name, phase, each), await lap());
    }
  } finally {
    await fixture.close();
  }
}

function note(figures: Figures, name: string, sample: number): void {
  figures.set(name, [...(figures.get(name) ?? []), sample]);
}

function nameOf(build: string, phase: (typeof PHASES)[number], { messages }: Transfers): string {
  return `${build}: CPU of the node a send, ${messages} in a transaction, ${phase}`;
}

interface Ratio {
  readonly name: string;
  readonly samples: readonly number[];
}

/** Processor time of this build over that of another, pair by pair. */
function ratiosTo(other: string, figures: Figures): Ratio[] {
  const rows = LOADS.flatMap((each) => PHASES.map((phase) => [each, phase] as const));
  return rows.map(([each, phase]) => {
    const theirs = figures.get(nameOf(other, phase, each)) ?? [];
    const ours = figures.get(nameOf("svc", phase, each)) ?? [];
    const samples = ours.map((sample, i) => sample / (theirs[i] ?? Number.NaN));
    return { name: `svc over ${other}, ${each.messages} in a transaction, ${phase}`, samples };
  });
}

function judge(ratios: readonly Ratio[]): void {
  for (const { name, samples } of ratios) {
    if (quantile(samples, 1 - SHARE_OF_LOSS) <= TOLERANCE) continue;
    console.log(`FAILED ${name}: ${median(samples).toFixed(3)}, and ${TOLERANCE} is exceeded by three of four pairs`);
    process.exitCode = 1;
  }
}
