import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { dirname, join } from "node:path";
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
 * Prints figures and writes them to `results/<name>.json` with the machine and the time; `BENCH_CONDITIONS` adds
 * special conditions, for example "own scheduling group at nice -18, other work beside it".
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

  /** Writes the results; `keep` keeps earlier figures that this run has not measured again. */
  save(keep = false): void {
    const path = join(ROOT, "bench", "results", `${this.#name}.json`);
    const figures = this.#figures.map((figure) => ({ ...recorded(figure), ...(keep ? { taken: this.#taken() } : {}) }));
    const whole = {
      benchmark: this.#name,
      command: `npm run bench -- ${this.#name}`,
      method: this.#method,
      ...this.#taken(),
      machine: {
        cpu: cpus()[0]?.model ?? "unknown",
        cores: cpus().length,
        memoryGiB: Math.round(totalmem() / 2 ** 30),
        kernel: release(),
        node: process.version,
        loadBefore: rounded(this.#loadBefore),
      },
    };
    const result = keep && existsSync(path) ? merged(path, figures) : { ...whole, figures };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
    console.log(`written: bench/results/${this.#name}.json`);
  }

  #taken() {
    return {
      date: new Date().toISOString(),
      commit: commit(),
      conditions:
        process.env.BENCH_CONDITIONS ?? `load ${rounded(this.#loadBefore)} before, ${rounded(loadavg()[0] ?? 0)} after`,
    };
  }
}

interface Recorded {
  readonly name: string;
}

function recorded(figure: Figure) {
  return {
    name: figure.name,
    unit: figure.unit,
    median: rounded(median(figure.samples)),
    ...(figure.target === undefined ? {} : { target: figure.target, met: isMet(figure) }),
    samples: figure.samples.map(rounded),
  };
}

/** The recorded results, with figures of the same name replaced. */
function merged(path: string, figures: readonly Recorded[]) {
  const before: { readonly figures: readonly Recorded[] } = JSON.parse(readFileSync(path, "utf8"));
  const fresh = new Map(figures.map((figure) => [withoutCounts(figure.name), figure]));
  const known = new Set(before.figures.map(({ name }) => withoutCounts(name)));
  const renewed = before.figures.map((old) => fresh.get(withoutCounts(old.name)) ?? old);
  return { ...before, figures: [...renewed, ...figures.filter(({ name }) => !known.has(withoutCounts(name)))] };
}

function withoutCounts(name: string): string {
  return name.replace(/ of \d+ x /, " of ").replace(/ \(\d+ gas\)/, "");
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
