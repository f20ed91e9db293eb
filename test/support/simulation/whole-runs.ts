import { writeFileSync, writeSync } from "node:fs";
import { cpuUsage } from "node:process";
import { describe, expect, it } from "vitest";
import { standardModules, storeNames } from "../../../src/app/index.ts";
import type { TestChain } from "../../../src/testing/index.ts";
import { toHex } from "../../../src/util/index.ts";
import { simulateWhole, type WholeProgress, wholeOperations } from "./whole.ts";

/** From this total number on, each kind of operation and each message succeeds at least once. */
const ENOUGH_FOR_ALL = 50_000;
/** Longer runs report their progress after this many operations. */
const TOLD_FROM = 100_000;
const TOLD_EVERY = 10_000;
const STDERR = 2;
/** Messages that these runs do not bring to success, and why. */
const ELSEWHERE = {
  "sdk.evidence.v1beta1.MsgSubmitEvidence": "no module takes evidence in a message",
  "sdk.upgrade.v1beta1.MsgSoftwareUpgrade": "the run would end at the height of the upgrade",
  "sdk.upgrade.v1beta1.MsgCancelUpgrade": "only a proposal carries it, and no upgrade is planned",
};

export interface WholeRuns {
  readonly seeds: readonly number[];
  /** Operations of each run. */
  readonly operations: number;
  /** A file for the results of the last run. */
  readonly record?: string | undefined;
}

/** Tests of the whole chain, a run for each seed, and one that each kind of operation succeeded in some run. */
export function describeWholeRuns({ seeds, operations, record }: WholeRuns): void {
  describe("everything that people do on the chain", () => {
    const outcomes = new Set<string>();
    const messages = new Set<string>();

    it.each(seeds)(
      "never breaks an invariant, with faults, restarts and exports in between, seed %d",
      { timeout: 36_000_000 },
      (seed) => {
        console.log(`simulation of the whole chain: seed ${seed}, ${operations} operations`);
        const began = Date.now();
        const run = simulateWhole({ seed, operations, ...(operations < TOLD_FROM ? {} : { observe: teller() }) });
        run.chain.exportTwice();
        console.log(`${run.operations} operations in ${run.chain.height} blocks`);
        if (process.env.WHOLE_SIM_VERBOSE !== undefined) console.log(run.outcomes);
        if (record !== undefined) writeFileSync(record, recordOf(run, { seed, seconds: (Date.now() - began) / 1_000 }));
        for (const outcome of run.outcomes.keys()) outcomes.add(outcome);
        for (const name of run.messages) messages.add(name);
      },
    );

    if (seeds.length * operations < ENOUGH_FOR_ALL) return;
    it("does each thing with success in one of these runs", () => {
      const undone = wholeOperations.filter(({ name }) => !outcomes.has(`${name}: done`)).map(({ name }) => name);
      expect(undone).toEqual([]);
      expect(allMessages().filter((name) => !messages.has(name) && !Object.hasOwn(ELSEWHERE, name))).toEqual([]);
    });
  });
}

function allMessages(): string[] {
  const services = standardModules().modules.flatMap(({ msg, older }) => [msg, older?.msg]);
  const names = services.flatMap((bound) => [...(bound?.methods.values() ?? [])].map(({ input }) => input.typeName));
  // Which modules' parameters a proposal that passes changes is chance.
  return names.filter((name) => !name.endsWith(".MsgUpdateParams"));
}

/** Writes the progress of a run at once: output through the runner appears only when the test has ended. */
function teller(): (progress: WholeProgress) => void {
  let told = 0;
  let before = cpuUsage();
  return ({ chain, operations }) => {
    if (operations - told < TOLD_EVERY) return;
    const { user, system } = cpuUsage(before);
    const ms = ((user + system) / 1_000 / ((operations - told) / 1_000)).toFixed(0);
    const blocks = `${operations} operations in ${chain.height} blocks`;
    writeSync(STDERR, `${blocks}: ${records(chain)} records, ${ms} ms of CPU time for 1000 operations\n`);
    told = operations;
    before = cpuUsage();
  };
}

function records({ app }: TestChain): number {
  let count = 0;
  for (const name of storeNames(app.modules)) for (const _ of app.state.store(name).iterate({})) count += 1;
  return count;
}

function recordOf(run: WholeProgress, { seed, seconds }: { readonly seed: number; readonly seconds: number }): string {
  const { chain, operations, outcomes } = run;
  const { user, system } = cpuUsage();
  const figures = {
    seed,
    operations,
    blocks: Number(chain.height),
    records: records(chain),
    breaches: 0,
    seconds,
    cpuSeconds: (user + system) / 1e6,
    appHash: toHex(chain.app.info().lastBlockAppHash),
    outcomes: Object.fromEntries([...outcomes].sort()),
  };
  return `${JSON.stringify(figures, undefined, 2)}\n`;
}
