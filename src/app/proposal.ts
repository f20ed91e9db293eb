import type { ProcessProposal } from "../abci/index.ts";
import type { BlockBid } from "../runtime/index.ts";
import { equalBytes } from "../util/index.ts";

/** A transaction that could come into a block. */
export interface Candidate extends BlockBid {
  readonly tx: Uint8Array;
}

/**
 * The order of blocks: by gas price, then by arrival. A transaction stays behind its signers' earlier ones, so that it
 * counts with the lowest price among them. An order of this kind does not change.
 */
export function orderByFee(candidates: readonly Candidate[]): Candidate[] {
  const lowest = new Map<string, bigint>();
  const priced = candidates.map((candidate) => {
    let price = candidate.gasPrice;
    for (const signer of candidate.signers) {
      const earlier = lowest.get(signer);
      if (earlier !== undefined && earlier < price) price = earlier;
    }
    for (const signer of candidate.signers) lowest.set(signer, price);
    return { candidate, price };
  });
  return priced.sort((a, b) => compare(b.price, a.price)).map(({ candidate }) => candidate);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Total limits of the transactions of one block. */
export interface BlockRoom {
  /** Each transaction counts with its tag and length. */
  readonly maxBytes: number;
  /** Negative = no limit. */
  readonly maxGas: bigint;
}

/** Bytes that a transaction takes in a block, with its tag and length. */
export function sizeInBlock(size: number): number {
  let bytes = size + 2;
  for (let rest = size >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/**
 * Takes transactions in their order until the block is full. A transaction that could never fit is skipped; the first
 * that no longer fits ends the block, because later ones of the same account build on it. One that `passes` refuses is
 * left out.
 */
export function fillBlock(
  candidates: readonly Pick<Candidate, "tx" | "gas">[],
  room: BlockRoom,
  passes: (tx: Uint8Array) => boolean = () => true,
): Uint8Array[] {
  const chosen: Uint8Array[] = [];
  let bytes = 0;
  let wanted = 0n;
  for (const { tx, gas } of candidates) {
    const size = sizeInBlock(tx.length);
    if (!isWithin(room, size, gas)) continue;
    if (!isWithin(room, bytes + size, wanted + gas)) break;
    if (!passes(tx)) continue;
    bytes += size;
    wanted += gas;
    chosen.push(tx);
  }
  return chosen;
}

function isWithin({ maxBytes, maxGas }: BlockRoom, bytes: number, gas: bigint): boolean {
  return bytes <= maxBytes && (maxGas < 0n || gas <= maxGas);
}

/** The parts of a proposal that the checks of its transactions depend on. */
export type Proposal = Pick<ProcessProposal, "height" | "time" | "proposer" | "txs">;

/** Whether two proposals at one state have the same outcome. */
export function isSameProposal(one: Proposal, other: Proposal): boolean {
  return (
    one.height === other.height &&
    one.time === other.time &&
    equalBytes(one.proposer, other.proposer) &&
    one.txs.length === other.txs.length &&
    one.txs.every((tx, i) => equalBytes(tx, other.txs[i] ?? new Uint8Array(0)))
  );
}
