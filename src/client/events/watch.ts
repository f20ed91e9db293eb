import type { ChainClient } from "../chain/chain.ts";
import type { Block, ChainEvent } from "../chain/node.ts";
import { type FollowOptions, followBlocks } from "./blocks.ts";

/** Which events are wanted, and from which block on. */
export interface WatchOptions extends FollowOptions {
  /** Type of the events, for example `transfer`; all types if left out. */
  readonly type?: string;
  /** Attributes that must have these values, for example `{ recipient: "svc1..." }`. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** An event and where it happened. */
export interface WatchedEvent {
  readonly height: bigint;
  /** Upper-case hex; absent for events of the block itself. */
  readonly txHash: string | undefined;
  readonly type: string;
  /** Values by key; if a key appears twice the last one counts. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Events of committed blocks that match, in the order of the chain, each exactly once, even across lost connections.
 * Events of failed transactions are left out. Ends and rejects as `followBlocks` does.
 */
export async function* watchEvents(chain: ChainClient, options: WatchOptions = {}): AsyncGenerator<WatchedEvent, void> {
  for await (const block of followBlocks(chain, options)) yield* matching(block, options);
}

function matching(block: Block, options: WatchOptions): WatchedEvent[] {
  const ofTxs = block.txs
    .filter(({ code }) => code === 0)
    .flatMap(({ hash, events }) => events.map((event) => watched(event, block.height, hash)));
  const ofBlock = block.events.map((event) => watched(event, block.height, undefined));
  return [...ofTxs, ...ofBlock].filter((event) => isWanted(event, options));
}

function watched({ type, attributes }: ChainEvent, height: bigint, txHash: string | undefined): WatchedEvent {
  return { height, txHash, type, attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value])) };
}

function isWanted(event: WatchedEvent, { type = event.type, attributes = {} }: WatchOptions): boolean {
  const own = new Map(Object.entries(event.attributes));
  return event.type === type && Object.entries(attributes).every(([key, value]) => own.get(key) === value);
}
