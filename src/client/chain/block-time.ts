import { isRecord } from "../../util/index.ts";
import { parseTimestamp, toNanos } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type { ChainClient } from "./chain.ts";

/** Blocks over which the time between blocks is measured. */
const MEASURED_BLOCKS = 100n;
/** The first block has the genesis time, which may be long before the start of the chain. */
const SECOND_BLOCK = 2n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** How fast a chain makes blocks. Times are nanoseconds since 1970. */
export interface BlockPace {
  /** The last of the measured blocks. */
  readonly height: bigint;
  readonly time: bigint;
  /** Mean nanoseconds between two blocks, at least 1. */
  readonly blockNanos: bigint;
}

/** Measures the last hundred blocks up to a height, or fewer on a younger chain. */
export async function blockPace(chain: ChainClient, upTo?: bigint): Promise<BlockPace> {
  const { latestHeight, earliestHeight } = await chain.node.status();
  const height = upTo ?? latestHeight;
  const start = [earliestHeight, SECOND_BLOCK, height - MEASURED_BLOCKS].reduce((a, b) => (a > b ? a : b));
  const last = await blockTime(chain, height);
  const measured = height > start ? (last - (await blockTime(chain, start))) / (height - start) : 0n;
  return { height, time: last, blockNanos: measured > 0n ? measured : NANOS_PER_SECOND };
}

/** Mean seconds between blocks. */
export async function blockSeconds(chain: ChainClient): Promise<number> {
  return Number((await blockPace(chain)).blockNanos) / Number(NANOS_PER_SECOND);
}

async function blockTime(chain: ChainClient, height: bigint): Promise<bigint> {
  const answer = await chain.rpc.call("commit", { height: height.toString() });
  const header = member(member(answer, "signed_header"), "header");
  const time = member(header, "time");
  const instant = typeof time === "string" ? parseTimestamp(time) : undefined;
  if (instant === undefined) throw clientErrors.badAnswer(`the node has no time for block ${height}`);
  return toNanos(instant);
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
