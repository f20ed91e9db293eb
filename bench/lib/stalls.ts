import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Records of `stall-probe.cjs` about a node in a period. */
export interface Span {
  readonly threads: readonly ThreadStalls[];
  readonly blocks: readonly BlockSteps[];
}

export interface ThreadStalls {
  readonly thread: string;
  /** Longest stall outside of blocks, without the time in which the thread waited for a core. */
  readonly stallMs: number;
  readonly wholeMs: number;
  /** Longest garbage collection. */
  readonly garbageMs: number;
}

export interface BlockSteps {
  readonly from: number;
  readonly to: number;
  /** Time of the thread on a core. */
  readonly ranMs: number;
  readonly txs: number;
  /** The same by steps. */
  readonly steps: readonly (readonly [step: string, ranMs: number])[];
}

interface Stall {
  readonly kind: "stall";
  readonly from: number;
  readonly to: number;
  readonly ms: number;
  readonly waitedMs: number;
}

interface Collection {
  readonly kind: "gc";
  readonly from: number;
  readonly ms: number;
}

interface Step {
  readonly kind: "step";
  readonly at: number;
  readonly step: string;
  readonly txs?: number;
  readonly ranMs: number;
  readonly waitedMs: number;
}

type Line = Stall | Collection | Step;

/** Times are milliseconds since 1970. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Reads the records of a node's threads in a period. */
export function readSpan(folder: string, stretch: Stretch): Span {
  const threads = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const lines = new Map(threads.map((name) => [name.replace(".jsonl", ""), linesOf(join(folder, name), stretch)]));
  const blocks = blocksOf([...lines.values()].flat());
  return {
    threads: [...lines].map(([thread, noted]) => ({ thread, ...longest(noted, blocks) })),
    blocks,
  };
}

function linesOf(path: string, { from, to }: Stretch): Line[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text !== "");
  return lines.map((text): Line => JSON.parse(text)).filter((line) => from <= timeOf(line) && timeOf(line) <= to);
}

function timeOf(line: Line): number {
  return line.kind === "step" ? line.at : line.from;
}

/** Stalls of the block thread are the pauses around blocks, less their steps. */
function longest(lines: readonly Line[], blocks: readonly BlockSteps[]): Omit<ThreadStalls, "thread"> {
  const makesBlocks = lines.some(({ kind }) => kind === "step");
  const stalls = lines.flatMap((line) => (line.kind === "stall" ? [line] : []));
  const outside = stalls.map((stall) => {
    const inside = makesBlocks ? blocks.filter(({ from, to }) => from < stall.to && to > stall.from) : [];
    const blockMs = inside.reduce((sum, { from, to }) => sum + to - from, 0);
    const waited = inside.length === 0 ? stall.waitedMs : 0;
    return { wholeMs: Math.max(0, stall.ms - blockMs), stallMs: Math.max(0, stall.ms - blockMs - waited) };
  });
  return {
    garbageMs: Math.max(0, ...lines.flatMap((line) => (line.kind === "gc" ? [line.ms] : []))),
    wholeMs: Math.max(0, ...outside.map(({ wholeMs }) => wholeMs)),
    stallMs: Math.max(0, ...outside.map(({ stallMs }) => stallMs)),
  };
}

function blocksOf(lines: readonly Line[]): BlockSteps[] {
  const blocks: BlockSteps[] = [];
  let noted: Step[] = [];
  for (const line of lines) {
    if (line.kind !== "step") continue;
    noted = line.step === "begun" ? [line] : [...noted, line];
    const [first] = noted;
    if (line.step !== "done" || first?.step !== "begun") continue;
    const steps = noted.slice(1).map((step, i) => [step.step, step.ranMs - (noted[i]?.ranMs ?? 0)] as const);
    blocks.push({ from: first.at, to: line.at, ranMs: line.ranMs - first.ranMs, txs: line.txs ?? 0, steps });
  }
  return blocks;
}
