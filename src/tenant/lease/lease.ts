import type { DeploymentRecord, GroupRecord, LeaseRecord } from "../../client/index.ts";
import { formatDecCoin, isOneOf, SvcError, shellWord } from "../../util/index.ts";
import { marketErrors } from "../../wire/index.ts";
import { createLease, startGroup } from "../chain/messages.ts";
import type { Placed } from "../order/order.ts";
import { unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { JournalEntry } from "../session/journal.ts";
import { activeLeases } from "../session/market.ts";
import type { Session } from "../session/session.ts";
import { takeBids } from "./bidding.ts";

const MAX_TRIES = 5;
/** Refusals of the market: a bid or an order has ended meanwhile, or the lease already exists. */
const CHANGED_MEANWHILE = [
  marketErrors.bidNotActive,
  marketErrors.bidNotOpen,
  marketErrors.orderNotOpen,
  marketErrors.bidNotFound,
  marketErrors.orderActive,
  marketErrors.orderClosed,
  marketErrors.priceRose,
];

/** Makes sure that every group has a lease. Returns the leases, in the order of the groups. */
export async function ensureLeases(session: Session, { entry }: Placed): Promise<readonly LeaseRecord[]> {
  const { market, progress } = session;
  const { dseq } = entry;
  for (let tries = 1; ; tries++) {
    const deployment = await needActive(session, dseq);
    const leases = activeLeases(await market.leases(dseq));
    const missing = deployment.groups.filter(({ gseq }) => !leases.some(({ id }) => id.gseq === gseq));
    if (missing.length === 0) return inOrder(leases);
    await startStopped(session, dseq, missing);
    try {
      await leaseGroups(session, entry, missing);
    } catch (error) {
      if (!isChangedMeanwhile(error) || tries >= MAX_TRIES) throw error;
      progress.note(`a chosen bid is gone (${error.message}); choosing again`);
    }
  }
}

function isChangedMeanwhile(error: unknown): error is SvcError {
  return error instanceof SvcError && isOneOf(CHANGED_MEANWHILE, error);
}

function inOrder(leases: readonly LeaseRecord[]): readonly LeaseRecord[] {
  return [...leases].sort((a, b) => a.id.gseq - b.id.gseq);
}

export async function needActive({ market, request }: Session, dseq: bigint): Promise<DeploymentRecord> {
  const deployment = await market.deployment(dseq);
  if (deployment?.state === "active") return deployment;
  const hint = `svc deploy ${shellWord(request.file)} makes a new one`;
  throw deployErrors.closed(`deployment ${dseq}`, { hint });
}

/** Opens new orders for groups that were stopped. */
async function startStopped(session: Session, dseq: bigint, groups: readonly GroupRecord[]): Promise<void> {
  const { market, progress, request } = session;
  const closed = groups.find(({ state }) => state === "closed");
  if (closed !== undefined) {
    const hint = `svc deploy close --dseq ${dseq} ends the rest, svc deploy ${shellWord(request.file)} --new makes a new deployment`;
    throw deployErrors.closed(`group ${closed.spec.name} of deployment ${dseq}`, { hint });
  }
  const stopped = groups.filter(({ state }) => state !== "open");
  if (stopped.length === 0) return;
  const names = stopped.map(({ spec, closeReason }) => `${spec.name} (stopped: ${closeReason})`).join(", ");
  progress.note(`opening a new order for ${names}`);
  const messages = stopped.map(({ gseq }) => startGroup({ owner: market.owner, dseq, gseq }));
  await unlessInterrupted(() => market.send(messages), request.signal);
}

/** One lease for each group, all in one transaction. */
async function leaseGroups(session: Session, entry: JournalEntry, groups: readonly GroupRecord[]): Promise<void> {
  const { market, journal, progress, request } = session;
  const bids = await takeBids(session, entry.dseq, groups);
  const chosen = bids.map(({ id }) => ({ gseq: id.gseq, provider: id.provider }));
  journal.save({ ...entry, step: "lease", chosen });
  progress.waiting("the block with the lease", { for: "lease" });
  const { height } = await unlessInterrupted(() => market.send(bids.map(createLease)), request.signal);
  const prices = bids.map(({ id, price }) => `${id.provider} for ${formatDecCoin(price)} per block`).join(", ");
  progress.done("lease", `in block ${height}: ${prices}`);
}
