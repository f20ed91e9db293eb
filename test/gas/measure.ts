import type { GasCase } from "./cases/index.ts";
import type { GasWorld } from "./world.ts";

/** What a case costs. */
export interface Measured {
  /** CPU milliseconds a million gas, of each round. */
  readonly rounds: readonly number[];
  /** Gas of one transaction. */
  readonly gas: bigint;
  /** CPU milliseconds of one transaction, of the best round. */
  readonly cpuMs: number;
}

/**
 * Runs the transactions of a case, those of a round in one block, whose end and commit count; what an empty block costs is
 * taken off. One round goes before, so that the code is warm.
 */
export function measureCase({ prepare, count: wanted }: GasCase, rounds: number): Measured {
  const { world, txs } = prepare(wanted * (rounds + 1));
  const count = Math.min(wanted, Math.floor(txs.length / (rounds + 1)));
  const ratios: number[] = [];
  const empty = emptyBlock(world);
  let gas = 0n;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const signed = txs.slice(round * count, (round + 1) * count).map((tx) => world.sign(tx));
    globalThis.gc?.();
    const { cpuMs: whole, gasUsed, results } = world.block(signed);
    const cpuMs = Math.max(0, whole - empty);
    const failed = results.find(({ code }) => code !== 0);
    if (failed !== undefined) throw new Error(`${failed.codespace}/${failed.code}: ${failed.log.slice(0, 300)}`);
    if (round === 0) continue;
    ratios.push((cpuMs * 1_000_000) / Number(gasUsed));
    gas = gasUsed / BigInt(signed.length);
    best = Math.min(best, cpuMs / signed.length);
  }
  return { rounds: ratios, gas, cpuMs: best };
}

/** The same case with rounds of about so much gas, where its people suffice: the code is warm, as in full blocks. */
export function filled(each: GasCase, gas: number): GasCase {
  const perStep = Number(measureCase(each, 1).gas) * each.count;
  return { ...each, count: each.count * Math.max(1, Math.ceil(gas / perStep)) };
}

/**
 * CPU milliseconds of blocks that messages of this case fill up to so much gas, each round one block; those before a round
 * have made the code warm.
 */
export function measureBlocks(each: GasCase, maxGas: bigint, rounds: number): number[] {
  const { gas } = measureCase({ ...each, count: 1 }, 1);
  const count = Number(maxGas / gas);
  const block = measureCase({ ...each, count }, rounds);
  return block.rounds.map((ratio) => (ratio * Number(block.gas) * count) / 1e6);
}

function emptyBlock(world: GasWorld): number {
  return Math.min(...Array.from({ length: 4 }, () => world.block([]).cpuMs));
}
