import { expect } from "vitest";
import type { Acknowledged } from "./sends.ts";
import { waitFor } from "./wait.ts";

/** Blocks of all nodes compared with one another, over JSON-RPC at `http://host:port`. */

/** Blocks that one call of `blockchain` answers. */
const PAGE = 20;
const PATIENT = { timeoutMs: 120_000, pollMs: 200 } as const;
const NO_ANSWER_MS = 60_000;

/** The result of a JSON-RPC call; undefined for an error. */
export async function answerOf(rpc: string, path: string): Promise<ReturnType<typeof JSON.parse>> {
  const response = await fetch(`${rpc}/${path}`, { signal: AbortSignal.timeout(NO_ANSWER_MS) });
  return JSON.parse(await response.text()).result;
}

/** The last block; 0 for a node that does not answer. */
export async function heightAt(rpc: string): Promise<number> {
  try {
    return Number((await answerOf(rpc, "status")).sync_info.latest_block_height);
  } catch {
    return 0;
  }
}

/**
 * Hash, state, voters and results of each block are the same on all nodes, up to the height that all have. Returns it; it is
 * above the least.
 */
export async function expectSameBlocks(rpcs: readonly string[], least: number): Promise<number> {
  const height = await waitFor(
    async () => {
      const all = Math.min(...(await Promise.all(rpcs.map(heightAt))));
      return all > least ? all : undefined;
    },
    `a block above ${least} on all nodes`,
    PATIENT,
  );
  for (let from = 1; from <= height; from += PAGE) {
    const to = Math.min(from + PAGE - 1, height);
    const [first, ...others] = await Promise.all(rpcs.map((rpc) => headersOf(rpc, from, to)));
    expect(first).toHaveLength(to - from + 1);
    for (const other of others) expect(other, `blocks ${from} to ${to}`).toEqual(first);
  }
  return height;
}

/** A node of a busy machine may refuse a query that takes long. */
async function headersOf(rpc: string, from: number, to: number): Promise<unknown[]> {
  const path = `blockchain?minHeight=${from}&maxHeight=${to}`;
  const { block_metas } = await waitFor(() => answerOf(rpc, path), `an answer of ${rpc} to ${path}`, PATIENT);
  return block_metas.map(({ block_id, header }: ReturnType<typeof JSON.parse>) => ({ hash: block_id.hash, header }));
}

/** Acknowledged sends that a node does not have in their block. */
export async function notThere(rpc: string, acknowledged: readonly Acknowledged[]): Promise<Acknowledged[]> {
  const lost: Acknowledged[] = [];
  for (const send of acknowledged) {
    const found = await answerOf(rpc, `tx?hash=0x${send.hash}`);
    if (found?.height !== send.height || found.tx_result.code !== 0) lost.push(send);
  }
  return lost;
}

/** Transactions of blocks in base64, in order. */
export async function txsUpTo(rpc: string, height: number): Promise<string[]> {
  const txs: string[] = [];
  for (let at = 1; at <= height; at++) {
    const { block } = await waitFor(() => answerOf(rpc, `block?height=${at}`), `block ${at} of ${rpc}`, PATIENT);
    txs.push(...block.data.txs);
  }
  return txs;
}
