import { type Block, type ChainClient, followBlocks } from "../../client/index.ts";
import { errorText, type Logger } from "../../util/index.ts";
import { formatLeaseId, type LeaseKey } from "../../wire/index.ts";
import type { LeaseService } from "../leases/index.ts";
import { type MarketEvent, marketEvents } from "../orders/index.ts";
import type { Outbox, TxVerdict } from "../outbox/index.ts";

/** A block with the events of the market in it. */
export interface MarketBlock extends Block {
  readonly market: readonly MarketEvent[];
}

/** Work of one part of the provider at each block; steps run in order and share nothing but the block. */
export type BlockStep = (block: MarketBlock) => void;

export interface FollowOptions {
  readonly client: ChainClient;
  /** The first height. */
  readonly from: bigint;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly steps: readonly BlockStep[];
}

/** Times in a row that the node must refuse a block: one answer, of one of the nodes behind an address, proves nothing. */
const TRIES = 10;

/** Takes each block through the steps until the signal is aborted; rejects if blocks can no longer be followed. */
export async function passBlocks({ client, from, signal, log, steps }: FollowOptions): Promise<void> {
  const onProblem = (error: Error) => log.warn("node does not answer", { err: error.message });
  for await (const block of followBlocks(client, { from, signal, onProblem, tries: TRIES })) {
    const events = block.txs.flatMap((tx) => (tx.code === 0 ? tx.events : []));
    const seen = { ...block, market: marketEvents([...events, ...block.events]) };
    for (const step of steps) step(seen);
  }
}

/** Tells the outbox which of its transactions the block has. */
export function settleTxs(outbox: Pick<Outbox, "onBlock">): BlockStep {
  return ({ height, txs }) => {
    const verdicts = txs.map(({ hash, code, codespace, log }): readonly [string, TxVerdict] => [
      hash,
      { code, codespace, log },
    ]);
    outbox.onBlock({ height, txs: new Map(verdicts) });
  };
}

/** Ends the provider's leases that the block closes: a block that was followed is the proof that a workload may go. */
export function endClosedLeases(provider: string, leases: Pick<LeaseService, "leaseClosed">, log: Logger): BlockStep {
  const end = (id: LeaseKey, height: bigint): void => {
    const lease = formatLeaseId(id);
    log.info("lease closed", { lease, height });
    leases.leaseClosed(id, height).catch((error: unknown) => {
      log.error("teardown not finished, going on with it", { lease, err: errorText(error) });
    });
  };
  return ({ market, height }) => {
    for (const { action, id } of market)
      if (action === "lease-closed" && id.provider === provider) end({ ...id, provider }, height);
  };
}

/** Repeats a comparison with the chain; a block that comes while the last one still runs is compared with the next. */
export function compareLedger(compare: () => Promise<void>, log: Logger): BlockStep {
  let isComparing = false;
  return () => {
    if (isComparing) return;
    isComparing = true;
    compare()
      .catch((error: unknown) => log.debug("reservations not compared", { err: errorText(error) }))
      .finally(() => {
        isComparing = false;
      });
  };
}
