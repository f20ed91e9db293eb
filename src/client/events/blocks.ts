import { is } from "valibot";
import { isOneOf } from "../../util/index.ts";
import { newBlock } from "../chain/answers.ts";
import type { ChainClient } from "../chain/chain.ts";
import type { Block } from "../chain/node.ts";
import { clientErrors, RpcError } from "../errors.ts";
import { Wake } from "../wake.ts";

/** Where following blocks begins, and when it ends. */
export interface FollowOptions {
  /** First block; by default the one after the node's latest. */
  readonly from?: bigint;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
  /** Longest time between two polls of the node in milliseconds; new-block events trigger earlier ones. */
  readonly pollMs?: number;
  /** Receives the error before each new attempt. */
  readonly onProblem?: (error: Error) => void;
  /** Times in a row that the node must say that it lacks a block, or serves another chain, until iterating ends; 1 by default. */
  readonly tries?: number;
}

const DEFAULT_POLL_MS = 1000;
const MAX_PAUSE_MS = 15_000;
/** Polls without a new block, between two looks at the node itself. */
const LOOK_EVERY = 30;
const NOT_YET =
  /must be less than or equal to|could not find results|height \d+ (is )?not (yet )?available(?!, lowest)/;
const PRUNED = /lowest height is (\d+)/;

/**
 * All blocks from a height on, in order and without gaps, with everything that happened in them; waits for new blocks.
 * Lost connections are re-established silently (`onProblem` is called). Ends when the signal is aborted. Rejects with
 * `clientErrors.pruned` when the node no longer has a block and `clientErrors.wrongChain` when it serves another chain,
 * as often in a row as `tries` says.
 */
export async function* followBlocks(chain: ChainClient, options: FollowOptions = {}): AsyncGenerator<Block, void> {
  const { signal, pollMs = DEFAULT_POLL_MS } = options;
  const wake = new Wake();
  let told: bigint | undefined;
  const stopListening = onBlocks(chain, options, (height) => {
    told = height === undefined || told === undefined || height > told ? height : told;
    wake.wake();
  });
  const retry = new Retry(wake, options);
  try {
    const chainId = await retry.until(() => chain.chainId());
    let empty = 0;
    let next = options.from ?? (await retry.until(async () => (await chain.node.status()).latestHeight + 1n));
    while (signal?.aborted !== true && chainId !== undefined && next !== undefined) {
      const height = next;
      const block = await retry.until(() => fetchBlock(chain, chainId, height));
      if (block === undefined) {
        empty += 1;
        if (empty % LOOK_EVERY === 0)
          await retry.until(() => checkNode(chain, { chainId, seen: height - 1n }, options));
        await wake.sleep(pollMs, signal);
      } else {
        empty = 0;
        yield block;
        next += 1n;
        // The next block is there when the node tells of it, or does not tell any more.
        const end = performance.now() + pollMs;
        while (told === height && (await wake.sleep(end - performance.now(), signal)));
      }
    }
  } finally {
    stopListening();
  }
}

/** Throws when the node serves another chain now; reports when it is behind its earlier height. */
async function checkNode(
  chain: ChainClient,
  { chainId, seen }: { readonly chainId: string; readonly seen: bigint },
  { onProblem }: FollowOptions,
): Promise<void> {
  const status = await chain.node.status();
  if (status.chainId !== chainId) throw clientErrors.wrongChain(`the node serves ${status.chainId}, not ${chainId}`);
  if (status.latestHeight >= seen) return;
  onProblem?.(new Error(`the node is at height ${status.latestHeight}, behind ${seen}, which it has reported before`));
}

/** A block, or undefined while the chain has not reached it. */
async function fetchBlock(chain: ChainClient, chainId: string, height: bigint): Promise<Block | undefined> {
  try {
    const block = await chain.node.block(height);
    if (block.chainId !== chainId) throw clientErrors.wrongChain(`the node serves ${block.chainId}, not ${chainId}`);
    return block;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const lowest = PRUNED.exec(error.data)?.[1];
    if (lowest !== undefined) throw clientErrors.pruned(`the node's first block is ${lowest}, not ${height}`);
    if (NOT_YET.test(error.data)) return undefined;
    throw error;
  }
}

/** Repeats a call until the node answers, or has refused for good as often as the options say. */
class Retry {
  readonly #wake: Wake;
  readonly #options: FollowOptions;

  constructor(wake: Wake, options: FollowOptions) {
    this.#wake = wake;
    this.#options = options;
  }

  /** The answer, or undefined if it has to stop. */
  async until<T>(call: () => Promise<T>): Promise<T | undefined> {
    const { signal, pollMs = DEFAULT_POLL_MS, onProblem, tries = 1 } = this.#options;
    let refusals = 0;
    for (let pause = pollMs; signal?.aborted !== true; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        refusals = isRefusal(error) ? refusals + 1 : 0;
        if (refusals >= tries) throw error;
        onProblem?.(error);
      }
      await this.#wake.sleep(pause, signal);
    }
    return undefined;
  }
}

function isRefusal(error: Error): boolean {
  return isOneOf([clientErrors.pruned, clientErrors.wrongChain], error);
}

/** Wakes the follower at every new block while the node's events are available, and tells its height; otherwise it polls. */
function onBlocks(chain: ChainClient, options: FollowOptions, tell: (height: bigint | undefined) => void): () => void {
  const events = chain.socket().subscribe("tm.event='NewBlock'");
  const listen = async (): Promise<void> => {
    for await (const item of events)
      tell(item.kind === "event" && is(newBlock, item.value) ? BigInt(item.value.block.header.height) : undefined);
  };
  listen()
    .catch((error) => options.onProblem?.(error))
    .finally(() => tell(undefined));
  return () => events.close();
}
