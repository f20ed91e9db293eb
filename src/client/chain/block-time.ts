import * as v from "valibot";
import { parseTimestamp, toNanos } from "../../wire/index.ts";
import { clientErrors, RpcError } from "../errors.ts";
import type { ChainClient } from "./chain.ts";

/** The last hundred blocks are measured as spans: the ten blocks around them are one batch. */
const SPANS = 9;
const SPAN_BLOCKS = 11;
/** The first block has the genesis time, which may be long before the start of the chain. */
const SECOND_BLOCK = 2n;
const NANOS_PER_SECOND = 1_000_000_000n;
const commit = v.object({ signed_header: v.object({ header: v.object({ time: v.string() }) }) });

/** How fast a chain makes blocks. Times are nanoseconds since 1970. */
export interface BlockPace {
  /** The last of the measured blocks. */
  readonly height: bigint;
  readonly time: bigint;
  /** Nanoseconds between two blocks, at least 1: the median of spans, so that a pause of the chain counts no more than any other. */
  readonly blockNanos: bigint;
}

/** Measures the last hundred blocks up to a height, or fewer on a younger chain. */
export async function blockPace(chain: ChainClient, upTo?: bigint): Promise<BlockPace> {
  const { latestHeight, earliestHeight } = await chain.node.status();
  const height = upTo ?? latestHeight;
  const first = earliestHeight > SECOND_BLOCK ? earliestHeight : SECOND_BLOCK;
  const blocks = BigInt(Math.min(SPAN_BLOCKS, Math.max(1, Math.floor(Number(height - first) / SPANS))));
  const heights = Array.from({ length: SPANS + 1 }, (_, at) => height - BigInt(at) * blocks);
  const known = heights.filter((each) => each === height || each >= first);
  const calls = known.map((each) => ({ method: "commit", params: { height: each.toString() } }));
  const times = (await chain.rpc.batch(calls)).map((answer, at) => timeOf(answer, known[at]));
  const [time = 0n, ...starts] = times;
  const paces = starts.map((start, at) => ((times[at] ?? start) - start) / blocks).sort((a, b) => (a < b ? -1 : 1));
  const median = paces[paces.length >> 1] ?? 0n;
  return { height, time, blockNanos: median > 0n ? median : NANOS_PER_SECOND };
}

/** Seconds between blocks. */
export async function blockSeconds(chain: ChainClient): Promise<number> {
  return Number((await blockPace(chain)).blockNanos) / Number(NANOS_PER_SECOND);
}

function timeOf(answer: unknown, height: bigint | undefined): bigint {
  if (answer instanceof RpcError) throw answer;
  const found = v.safeParse(commit, answer);
  const instant = found.success ? parseTimestamp(found.output.signed_header.header.time) : undefined;
  if (instant === undefined) throw clientErrors.badAnswer(`the node has no time for block ${height}`);
  return toNanos(instant);
}
