import type { ValidatorUpdate } from "../../abci/index.ts";
import type { ExecutedBlock } from "./blocks/block-records.ts";
import type { Attributes } from "./index/query.ts";
import { attributesOf, txAttributes } from "./index/search.ts";
import type { FoundTx } from "./index/tx-index.ts";

/** A block that has just become durable. */
export interface CommittedBlock extends ExecutedBlock {
  readonly txHashes: readonly Uint8Array[];
}

/** Events of a block for subscribers, in this order. */
export type EngineEvent =
  | { readonly type: "NewBlock"; readonly block: CommittedBlock }
  | { readonly type: "NewBlockHeader"; readonly block: CommittedBlock }
  | { readonly type: "NewBlockEvents"; readonly block: CommittedBlock }
  | { readonly type: "Tx"; readonly tx: FoundTx }
  | { readonly type: "ValidatorSetUpdates"; readonly updates: readonly ValidatorUpdate[] };

/** An event with the values that queries can ask for. */
export interface PublishedEvent {
  readonly event: EngineEvent;
  readonly attributes: Attributes;
}

export type BlockListener = (block: CommittedBlock) => void;

/**
 * Notifies listeners of every block after its commit, in the order of the blocks; an error of one listener does not affect
 * the others.
 */
export class BlockBus {
  readonly #listeners = new Set<BlockListener>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void = () => {}) {
    this.#report = report;
  }

  /** Returns the function that ends the subscription. */
  listen(listener: BlockListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  publish(block: CommittedBlock): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(block);
      } catch (error) {
        this.#report(error);
      }
    }
  }
}

/** The events of a block for subscribers. */
export function* eventsOf(block: CommittedBlock): Generator<PublishedEvent> {
  for (const type of ["NewBlock", "NewBlockHeader", "NewBlockEvents"] as const) {
    yield { event: { type, block }, attributes: blockAttributes(type, block) };
  }
  for (const tx of txsOf(block)) yield { event: { type: "Tx", tx }, attributes: txAttributes(tx) };
  const updates = block.validatorUpdates;
  if (updates.length > 0) {
    const type = "ValidatorSetUpdates";
    yield { event: { type, updates }, attributes: attributesOf([], [["tm.event", type]]) };
  }
}

function* txsOf({ block, txHashes, txResults }: CommittedBlock): Generator<FoundTx> {
  for (const [index, tx] of block.txs.entries()) {
    const hash = txHashes[index];
    const result = txResults[index];
    if (hash !== undefined && result !== undefined) yield { tx, hash, result, height: block.header.height, index };
  }
}

function blockAttributes(type: string, { block, events }: CommittedBlock): Attributes {
  const height: [string, string] = ["block.height", block.header.height.toString()];
  return attributesOf(events, [["tm.event", type], height]);
}
