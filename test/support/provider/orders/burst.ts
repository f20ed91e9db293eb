import { ChainClient, followBlocks, sendTx, type TxSigner } from "../../../../src/client/index.ts";
import { marketEvents } from "../../../../src/provider/orders/index.ts";
import { NATIVE_DENOM } from "../../../../src/util/index.ts";
import {
  MsgCloseDeploymentSchema,
  MsgCreateDeploymentSchema,
} from "../../../../src/wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { type Any, packAny } from "../../../../src/wire/index.ts";
import { sampleDeployment } from "../deployment.ts";

export interface BurstOptions {
  /** Address of the node. */
  readonly url: string;
  readonly tenant: TxSigner;
  readonly provider: string;
  readonly orders: number;
  /** One in this many orders is cancelled at once. */
  readonly cancelEvery: number;
  /** Gives up after this many blocks without the last bid. */
  readonly mostBlocks: number;
}

export interface BurstResult {
  /** Orders that were not cancelled, and the number with a bid. */
  readonly wanted: number;
  readonly bidOn: number;
  /** From the block with the last order to the one with the last bid. */
  readonly blocks: number;
  /** Failed transactions of the provider. */
  readonly failed: number;
}

/** Messages of one transaction. */
const BATCH = 20;
const DEPOSIT = "5000000";
const GAS_PER_MESSAGE = 400_000n;

/** Puts all orders on the chain at once, cancels some of them, and follows the blocks until all others have a bid. */
export async function orderBurst(options: BurstOptions): Promise<BurstResult> {
  const client = new ChainClient(options.url);
  const stop = new AbortController();
  try {
    const { owner, creations, closings } = messagesOf(options);
    const from = (await client.node.status()).latestHeight + 1n;
    const follow = followBlocks(client, { from, signal: stop.signal });
    await sendAll(client, options.tenant, creations);
    await sendAll(client, options.tenant, closings);
    const orders = new Set<bigint>();
    const cancelled = new Set<bigint>();
    const bids = new Set<bigint>();
    const seen = { lastOrder: 0n, lastBid: 0n, failed: 0 };
    for await (const { height, txs, events } of follow) {
      seen.failed += txs.filter(({ code }) => code !== 0).length;
      for (const { action, id } of marketEvents([...txs.flatMap((tx) => tx.events), ...events])) {
        if (id.owner !== owner) continue;
        if (action === "order-created") {
          orders.add(id.dseq);
          seen.lastOrder = height;
        } else if (action === "order-closed") cancelled.add(id.dseq);
        else if (action === "bid-created" && id.provider === options.provider && !cancelled.has(id.dseq)) {
          bids.add(id.dseq);
          seen.lastBid = height;
        }
      }
      const open = [...orders].filter((dseq) => !cancelled.has(dseq));
      const done =
        orders.size === options.orders && cancelled.size === closings.length && open.every((n) => bids.has(n));
      const late = seen.lastOrder > 0n && height > seen.lastOrder + BigInt(options.mostBlocks);
      if (!done && !late) continue;
      const bidOn = open.filter((dseq) => bids.has(dseq)).length;
      return { wanted: open.length, bidOn, blocks: Number(seen.lastBid - seen.lastOrder), failed: seen.failed };
    }
    throw new Error("the blocks ended");
  } finally {
    stop.abort();
    client.close();
  }
}

function messagesOf({ tenant, orders, cancelEvery }: BurstOptions): {
  readonly owner: string;
  readonly creations: readonly Any[];
  readonly closings: readonly Any[];
} {
  const owner = tenant.address;
  const { groups, hash } = sampleDeployment();
  const ids = Array.from({ length: orders }, (_, i) => ({ owner, dseq: BigInt(i + 1) }));
  const deposit = { denom: NATIVE_DENOM, amount: DEPOSIT };
  const creations = ids.map((id) =>
    packAny(MsgCreateDeploymentSchema, { id, groups: [...groups], version: Uint8Array.from(hash), deposit }),
  );
  const ended = ids.filter((_, i) => i % cancelEvery === cancelEvery - 1);
  return { owner, creations, closings: ended.map((id) => packAny(MsgCloseDeploymentSchema, { id })) };
}

/** One transaction after the other, none waited for but the last. */
async function sendAll(client: ChainClient, signer: TxSigner, messages: readonly Any[]): Promise<void> {
  for (let at = 0; at < messages.length; at += BATCH) {
    const batch = messages.slice(at, at + BATCH);
    const mode = at + BATCH < messages.length ? "sync" : "block";
    const { code, rawLog } = await sendTx(client, signer, batch, { mode, gas: GAS_PER_MESSAGE * BigInt(batch.length) });
    if (code !== 0) throw new Error(rawLog);
  }
}
