import { describe, expect, it } from "vitest";
import type { Misbehavior, TxResult } from "../../../src/abci/index.ts";
import type { TestChain, TestKey, TestMessage, TxSettings } from "../../../src/testing/index.ts";
import { toHex } from "../../../src/util/index.ts";
import { IS_NIGHT, sized } from "../runs.ts";
import { type SimRandom, simRandom } from "./operation.ts";

/** `done`, or the codespace and code of the refusal, for example `sdk/5`. */
export type Outcome = "done" | `${string}/${number}`;

/** A transaction, and the model's result for it. */
export interface ModelStep {
  readonly name: string;
  readonly message: TestMessage | readonly TestMessage[];
  readonly settings?: TxSettings;
  /** Does the same to the model, when the transaction has its turn in the block. */
  apply(): Outcome;
}

/** A chain, and an independent model of one of its modules. */
export interface ModelRun {
  readonly chain: TestChain;
  /** Who may send a transaction in the next block. */
  actors(): readonly TestKey[];
  /** An account's next step; undefined for nothing. */
  plan(from: TestKey): ModelStep | undefined;
  /** Misbehaviour that the engine proves in the next block. */
  misbehavior?(): readonly Misbehavior[];
  /** Effects of the block before its transactions. */
  begin?(): void;
  /** Effects of the block after its transactions. */
  end?(): void;
  /** Throws where the chain and the model differ. */
  compare(): void;
}

export interface ModelSimulation {
  /** Name of the module. */
  readonly name: string;
  readonly seed: number;
  readonly blocks: number;
  /** Outcomes that must occur in a run of `blocks` with `seed`, such as `send: done`. */
  readonly wanted: readonly string[];
  start(random: SimRandom): ModelRun;
}

const REPEATED_BLOCKS = 12;

/**
 * A run with a given seed repeats with `MODEL_SIM_SEED`; `MODEL_SIM_RUNS` further ones take the seeds behind it. The model's
 * own seed, with which all that is wanted occurs, is tried every night.
 *
 * Random operations on a chain and on a model of the module: each transaction must come out as the model says, and the
 * two must agree after each block, when the chain's invariants are checked too.
 */
export function modelSimulation(simulation: ModelSimulation): void {
  const { name, wanted } = simulation;
  const number = (suffix: string, otherwise: number) => Number(process.env[`MODEL_SIM_${suffix}`] ?? otherwise);
  const [runs, blocks, first] = [
    number("RUNS", 1),
    number("BLOCKS", Math.ceil(simulation.blocks / sized(3, 1))),
    number("SEED", simulation.seed),
  ];
  const further = Array.from({ length: runs }, (_, i) => first + i);
  const seeds = IS_NIGHT ? [...new Set([simulation.seed, ...further])] : further;
  describe(`random operations of ${name}`, () => {
    it.each(seeds)("agree with the model after each block, seed %d", (seed) => {
      console.log(`${name} simulation: seed ${seed}, ${blocks} blocks`);
      const random = simRandom(seed);
      const run = simulation.start(random);
      const outcomes = runModel(run, random, blocks);
      if (process.env.MODEL_SIM_VERBOSE !== undefined) console.log(outcomes);
      run.chain.exportTwice();
      if (seed !== simulation.seed || blocks < simulation.blocks) return;
      expect(wanted.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
    });

    it("come to the same state from the same seed", () => {
      const hash = (): string => {
        const random = simRandom(first + 1);
        const run = simulation.start(random);
        runModel(run, random, REPEATED_BLOCKS);
        return toHex(run.chain.app.info().lastBlockAppHash);
      };
      expect(hash()).toBe(hash());
    });
  });
}

/** Returns how often each operation came out how. */
function runModel(run: ModelRun, random: SimRandom, blocks: number): Map<string, number> {
  const outcomes = new Map<string, number>();
  for (let block = 0; block < blocks; block++) {
    const senders = run.actors().filter(() => random.int(3) === 0);
    const planned = senders.flatMap((from) => {
      const step = run.plan(from);
      return step === undefined ? [] : [{ from, step }];
    });
    const txs = planned.map(({ from, step: { message, settings } }) => {
      const list = Array.isArray(message) ? message : [message];
      return run.chain.sign(list, { ...settings, from });
    });
    const results = run.chain.block(txs, run.misbehavior?.() ?? []);
    run.begin?.();
    planned.forEach(({ step }, i) => {
      const outcome = `${step.name}: ${judge(run.chain, step, results[i])}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
    run.end?.();
    compare(run);
  }
  return outcomes;
}

function judge({ height }: TestChain, step: ModelStep, result: TxResult | undefined): Outcome {
  const { code = -1, codespace = "", log = "" } = result ?? {};
  const came: Outcome = code === 0 ? "done" : `${codespace}/${code}`;
  const said = step.apply();
  if (came === said) return came;
  throw new Error(`${step.name} at height ${height} should be ${said}, and is ${came} ${code === 0 ? "" : log}`);
}

function compare({ chain, compare }: ModelRun): void {
  try {
    compare();
  } catch (error) {
    throw new Error(`after height ${chain.height}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
