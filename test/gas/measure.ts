import { logOf } from "../../src/abci/index.ts";
import type { GasCase } from "./cases/index.ts";
import type { BlockCost, GasChain } from "./chain.ts";

/** Cost of a case. */
export interface Measured {
  /** CPU milliseconds a million gas, of each round. */
  readonly rounds: readonly number[];
  /** Gas of one transaction. */
  readonly gas: bigint;
  /** CPU milliseconds of one transaction in the best round. */
  readonly cpuMs: number;
}

/**
 * Runs the transactions of a case, each round in one block, including the block's end and commit, less the cost of an
 * empty block. One round goes before, so that the code is warm.
 */
export function measureCase({ prepare, count: wanted }: GasCase, rounds: number): Measured {
  const { chain, txs } = prepare(wanted * (rounds + 1));
  const count = Math.min(wanted, Math.floor(txs.length / (rounds + 1)));
  const ratios: number[] = [];
  const empty = emptyBlock(chain);
  let gas = 0n;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= rounds; round++) {
    const signed = txs.slice(round * count, (round + 1) * count).map((tx) => chain.sign(tx));
    globalThis.gc?.();
    const { cpuMs: whole, gasUsed } = succeeded(chain.block(signed));
    const cpuMs = Math.max(0, whole - empty);
    if (round === 0) continue;
    ratios.push((cpuMs * 1_000_000) / Number(gasUsed));
    gas = gasUsed / BigInt(signed.length);
    best = Math.min(best, cpuMs / signed.length);
  }
  return { rounds: ratios, gas, cpuMs: best };
}

/** The same case with rounds of about this much gas, where its people suffice: the code is warm, as in full blocks. */
export function filled(each: GasCase, gas: number): GasCase {
  const perStep = Number(measureCase(each, 1).gas) * each.count;
  return { ...each, count: each.count * Math.max(1, Math.ceil(gas / perStep)) };
}

/** CPU milliseconds of blocks, and their gas. */
export interface FullBlocks {
  /** The first of its kind, with empty caches of the application. */
  readonly cold: number;
  readonly warm: readonly number[];
  readonly gas: bigint;
  readonly txs: number;
  /** Whether the people of the case sufficed; otherwise the blocks hold fewer and the times are multiplied up. */
  readonly isFull: boolean;
}

/**
 * Blocks that messages of this case fill up to this much gas, from their bytes to the commit: a cold one, then this
 * many more. Nothing is taken off. Where there are not enough people, the blocks hold fewer messages and their times
 * are multiplied.
 */
export function measureBlocks({ prepare }: GasCase, maxGas: bigint, rounds: number): FullBlocks {
  const wanted = Number(maxGas / gasOfOne(prepare));
  const { chain, txs } = prepare(wanted * (rounds + 1));
  const count = Math.min(wanted, Math.floor(txs.length / (rounds + 1)));
  chain.reopen();
  const blocks = Array.from({ length: rounds + 1 }, (_, round) => {
    const signed = txs.slice(round * count, (round + 1) * count).map((tx) => chain.sign(tx));
    globalThis.gc?.();
    return succeeded(chain.block(signed));
  });
  const [cold = 0, ...warm] = blocks.map(({ cpuMs }) => (cpuMs * wanted) / count);
  return { cold, warm, gas: blocks[0]?.gasUsed ?? 0n, txs: count, isFull: count === wanted };
}

/** The gas of one of several transactions: the first may cost less or more than the others. */
function gasOfOne(prepare: GasCase["prepare"]): bigint {
  const { chain, txs } = prepare(2);
  const { gasUsed } = succeeded(chain.block(txs.map((tx) => chain.sign(tx))));
  return gasUsed / BigInt(txs.length);
}

function succeeded(block: BlockCost): BlockCost {
  const failed = block.results.find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(`${failed.codespace}/${failed.code}: ${logOf(failed).slice(0, 300)}`);
  return block;
}

function emptyBlock(chain: GasChain): number {
  return Math.min(...Array.from({ length: 4 }, () => chain.block([]).cpuMs));
}
