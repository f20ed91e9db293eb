import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../test/support/index.ts";
import { median, rounded } from "./stats.ts";

/** One measured figure. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly number[];
  /** The value with which the median is compared. */
  readonly target?: { readonly atMost: number } | { readonly atLeast: number };
}

const LINE = 60;

/**
 * Prints figures and writes them to `results/<name>.json` with the machine and the time they were taken on;
 * `BENCH_CONDITIONS` says what else was special, for example "own scheduling group at nice -18, other work beside it".
 */
export class Report {
  readonly #name: string;
  readonly #method: string;
  readonly #figures: Figure[] = [];
  readonly #loadBefore = loadavg()[0] ?? 0;

  /** `method` describes in a sentence or two how the figures were taken. */
  constructor(name: string, method: string) {
    this.#name = name;
    this.#method = method;
  }

  add(figure: Figure): void {
    this.#figures.push(figure);
    const { name, unit, samples } = figure;
    const verdict = figure.target === undefined ? "" : isMet(figure) ? "  target met" : "  TARGET MISSED";
    console.log(`${name.padEnd(LINE)} ${rounded(median(samples)).toString().padStart(9)} ${unit}${verdict}`);
  }

  save(): void {
    const result = {
      benchmark: this.#name,
      command: `npm run bench -- ${this.#name}`,
      method: this.#method,
      date: new Date().toISOString(),
      commit: commit(),
      conditions: process.env.BENCH_CONDITIONS ?? "as started",
      machine: {
        cpu: cpus()[0]?.model ?? "unknown",
        cores: cpus().length,
        memoryGiB: Math.round(totalmem() / 2 ** 30),
        kernel: release(),
        node: process.version,
        loadBefore: rounded(this.#loadBefore),
      },
      figures: this.#figures.map((figure) => ({
        name: figure.name,
        unit: figure.unit,
        median: rounded(median(figure.samples)),
        ...(figure.target === undefined ? {} : { target: figure.target, met: isMet(figure) }),
        samples: figure.samples.map(rounded),
      })),
    };
    const folder = join(ROOT, "bench", "results");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `${this.#name}.json`);
    writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
    console.log(`written: bench/results/${this.#name}.json`);
  }
}

function isMet({ samples, target }: Figure): boolean {
  if (target === undefined) return true;
  const value = median(samples);
  return "atMost" in target ? value <= target.atMost : value >= target.atLeast;
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
