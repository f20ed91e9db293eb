import {
  type BidRecord,
  clientErrors,
  type GroupRecord,
  isBusy,
  type OrderRecord,
  type ProviderRecord,
} from "../../client/index.ts";
import { formatDecCoin, isOneOf, SvcError, shellWord } from "../../util/index.ts";
import { sleep, unlessInterrupted } from "../session/clock.ts";
import { deployErrors } from "../session/errors.ts";
import type { Offer } from "../session/offer.ts";
import type { BidPolicy } from "../session/policy.ts";
import type { Note } from "../session/progress.ts";
import { nextHeight, type Session } from "../session/session.ts";
import { bidsByGroup, bidWindow, isAcceptable, rankBids } from "./bids.ts";
import { lowest } from "./lowest.ts";
import { bidTable, offersOf } from "./offers.ts";
import { type Reached, reachable } from "./reachable.ts";
import { askSilence, hopelessOrder, NO_PROVIDERS, orderNames, refusalOf, silenceText } from "./refusals.ts";

const RETRY_MS = 1_000;
/** Connection errors of the node. */
const AWAY = [clientErrors.unreachable, clientErrors.timeout];
/** Blocks without a bid after which we ask the providers why. */
const PATIENCE_BLOCKS = 3n;

/** Collects bids for the groups of a deployment until the window closes, and accepts one for each. */
export async function takeBids(
  session: Session,
  dseq: bigint,
  groups: readonly GroupRecord[],
): Promise<readonly BidRecord[]> {
  const { market, request, progress } = session;
  const gseqs = groups.map(({ gseq }) => gseq);
  const ranked = bidsByGroup(gseqs, await collectBids(session, dseq, gseqs));
  const blockSeconds = await market.blockSeconds();
  const taken: BidRecord[] = [];
  for (const { gseq, spec } of groups) {
    const offers = await offersOf(session, ranked.get(gseq) ?? []);
    const heading = groups.length > 1 ? `group ${spec.name}:\n` : "";
    progress.note(heading + bidTable(offers, blockSeconds), { kind: "bids", group: spec.name, offers, blockSeconds });
    taken.push(await choose(session, { dseq, group: spec.name }, offers));
  }
  await unlessInterrupted(() => market.confirmBids(taken), request.signal);
  const prices = taken.map(({ id, price }) => `${formatDecCoin(price)} per block from ${id.provider}`).join(", ");
  const kind = request.policy.choice.kind === "cheapest" ? "cheapest of" : "taken of";
  const count = [...ranked.values()].reduce((sum, bids) => sum + bids.length, 0);
  progress.done("bid", `${kind} ${count} bid${count === 1 ? "" : "s"}: ${prices}`);
  return taken;
}

async function choose(
  session: Session,
  { dseq, group }: { readonly dseq: bigint; readonly group: string },
  offers: readonly Offer[],
): Promise<BidRecord> {
  const { request, progress } = session;
  const acceptable = offers.filter(({ bid }) => isAcceptable(bid, request.policy));
  if (acceptable.length === 0) throw deployErrors.noBids(`group ${group}`);
  const { choose: ask } = request.questions ?? {};
  const isAsked = request.policy.choice.kind === "ask" && ask !== undefined;
  const reached = await reachable(session, { group, offers: acceptable }, isAsked ? acceptable.length : 1);
  const [best] = reached.offers;
  if (best === undefined) throw nobodyReached(session, { dseq, group }, reached);
  if (!isAsked) return best.bid;
  progress.waiting("", { for: "user" });
  return unlessInterrupted(() => ask(group, reached.offers), request.signal);
}

/** Nothing but the order was paid for. */
function nobodyReached(
  { request }: Session,
  { dseq, group }: { readonly dseq: bigint; readonly group: string },
  { hosts: [refusal] }: Reached,
): Error {
  const again = `svc deploy ${shellWord(request.file)} tries again, svc deploy close --dseq ${dseq} returns the deposit`;
  if (refusal === undefined) return deployErrors.noBids(`group ${group}: no bidder's gateway answers`, { hint: again });
  const hint = refusal.remedy === undefined ? again : `${refusal.remedy}; then ${again}`;
  return deployErrors.noBids(`group ${group}: ${refusal.reason}`, { hint });
}

/** Bids for these groups, including refused ones, once each group has an acceptable bid. */
async function collectBids(session: Session, dseq: bigint, gseqs: readonly number[]): Promise<readonly BidRecord[]> {
  const { market, request, clock } = session;
  const deadline = clock.now() + request.timeoutMs;
  const watch = new BidWatch(session);
  for (let height = await market.height(); ; ) {
    const [bids, orders, providers] = await patiently(session, deadline, () =>
      Promise.all([market.openBids(dseq), market.openOrders(dseq), market.providers()]),
    );
    const wanted = bids.filter(({ id }) => gseqs.includes(id.gseq));
    const ordered = orders.filter(({ id }) => gseqs.includes(id.gseq));
    requireOrders(dseq, gseqs, ordered);
    const acceptable = wanted.filter((bid) => isAcceptable(bid, request.policy));
    const { choice } = request.policy;
    const bidders = choice.kind === "provider" ? 1 : providers.length;
    const state = bidWindow({ height, groups: gseqs, bids: acceptable, blocks: request.bidWindow, bidders });
    if (state.kind === "closed") return wanted;
    if (state.kind === "empty") {
      const missing = ordered.filter(({ id }) => state.groups.includes(id.gseq));
      const refused = wanted.filter(({ id }) => state.groups.includes(id.gseq));
      await watch.empty({ height, orders: missing, bids: refused, providers: asked(providers, choice) });
    } else watch.open(state.until, acceptable.length);
    const left = deadline - clock.now();
    if (left <= 0) throw timedOut(session, dseq, wanted);
    height = (await nextHeight(session, height, left)) ?? height;
  }
}

/** The providers whose bids are awaited. */
function asked(providers: readonly ProviderRecord[], choice: BidPolicy["choice"]): readonly ProviderRecord[] {
  return choice.kind === "provider" ? providers.filter(({ address }) => address === choice.address) : providers;
}

/** Retries while the node is unavailable, for as long as bids are awaited. */
async function patiently<T>(
  { clock, request, progress }: Session,
  deadline: number,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await unlessInterrupted(ask, request.signal);
    } catch (error) {
      if (!(error instanceof SvcError && (isBusy(error) || isOneOf(AWAY, error))) || clock.now() >= deadline)
        throw error;
      progress.waiting(`the node (${error.message})`, { for: "node", reason: error.message });
      await sleep(clock, RETRY_MS, request.signal);
    }
  }
}

function requireOrders(dseq: bigint, gseqs: readonly number[], orders: readonly OrderRecord[]): void {
  const gone = gseqs.find((gseq) => !orders.some(({ id }) => id.gseq === gseq));
  if (gone === undefined) return;
  const hint = "run the same command again: it opens a new order";
  throw deployErrors.noBids(`the order of deployment ${dseq}, group ${gone} has closed`, { hint });
}

function timedOut({ request }: Session, dseq: bigint, bids: readonly BidRecord[]): Error {
  const waited = `waited ${Math.round(request.timeoutMs / 1000)} s`;
  const file = shellWord(request.file);
  const isTooDear = request.policy.maxPrice !== undefined && bids.length > 0;
  const again = isTooDear
    ? `with a higher --max-price svc deploy ${file} continues`
    : `svc deploy ${file} keeps waiting`;
  const hint = `${again}, svc deploy close --dseq ${dseq} returns the deposit`;
  return deployErrors.noBids(`${waited}, ${unacceptableText(bids, request.policy) ?? "nobody has bid"}`, { hint });
}

function nobodyElse({ request }: Session, { id }: OrderRecord, reason: string): Error {
  const file = shellWord(request.file);
  const hint =
    `with a higher --max-price svc deploy ${file} continues, ` +
    `svc deploy close --dseq ${id.dseq} returns the deposit`;
  return deployErrors.noBids(`${reason}, and nobody else bids`, { hint });
}

function refusedByAll({ request }: Session, order: OrderRecord): Error {
  const file = shellWord(request.file);
  const hint =
    `change ${file} as said above and run the same command again, ` +
    `or get the deposit back with: svc deploy close --dseq ${order.id.dseq}`;
  return deployErrors.noBids(`every provider refuses ${orderNames([order])} for good`, { hint });
}

/** Faults of the existing bids. */
export function unacceptableText(bids: readonly BidRecord[], { choice, maxPrice }: BidPolicy): string | undefined {
  const [cheapest] = rankBids(bids);
  if (cheapest === undefined) return undefined;
  const count = bids.length === 1 ? "there is one bid" : `there are ${bids.length} bids`;
  if (choice.kind === "provider" && !bids.some(({ id }) => id.provider === choice.address)) {
    return `${count}, none from ${choice.address}`;
  }
  const limit = maxPrice === undefined ? "" : `, above --max-price ${formatDecCoin(maxPrice)}`;
  return `${count}, the cheapest at ${formatDecCoin(cheapest.price)} per block${limit}`;
}

interface EmptyMarket {
  readonly height: bigint;
  /** Orders without an acceptable bid. */
  readonly orders: readonly OrderRecord[];
  /** Bids on them that the policy refuses. */
  readonly bids: readonly BidRecord[];
  readonly providers: readonly ProviderRecord[];
}

/** Reports the awaited bids and the reasons for missing ones, without repeating itself. */
class BidWatch {
  readonly #session: Session;
  readonly #told = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  open(until: bigint, bids: number): void {
    const count = bids === 1 ? "one so far" : `${bids} so far`;
    this.#session.progress.waiting(`more bids until block ${until}, ${count}`, { for: "more-bids", until, bids });
  }

  async empty({ height, orders, bids, providers }: EmptyMarket): Promise<void> {
    const { progress, request } = this.#session;
    const ids = orders.map(({ id }) => id);
    progress.waiting(`a bid on ${orderNames(orders)}, block ${height}`, { for: "bids", height, orders: ids });
    const reason = unacceptableText(bids, request.policy);
    if (reason !== undefined) this.#tell(`${reason}\n`);
    const since = lowest(
      height,
      orders.map(({ createdAt }) => createdAt),
    );
    if (providers.length === 0) return this.#tell(NO_PROVIDERS);
    if (height <= since) return;
    if (reason !== undefined) return this.#tooDear({ height, orders, bids, providers }, reason);
    const silences = await unlessInterrupted(() => askSilence(this.#session, providers, orders), request.signal);
    const hopeless = hopelessOrder(orders, providers, silences);
    const isLate = height >= since + PATIENCE_BLOCKS;
    if (isLate || hopeless !== undefined)
      this.#tell(`nobody has bid on ${orderNames(orders)}:\n${silenceText(silences)}`, {
        kind: "refusals",
        orders: ids,
        refusals: silences.map(refusalOf),
      });
    if (hopeless !== undefined) throw refusedByAll(this.#session, hopeless);
  }

  /** Ends the wait when every provider has bid or refuses for good, so that no lower bid can come. */
  async #tooDear({ orders, bids, providers }: EmptyMarket, reason: string): Promise<void> {
    for (const order of orders) {
      const own = bids.filter(({ id }) => id.gseq === order.id.gseq);
      const silent = providers.filter(({ address }) => !own.some(({ id }) => id.provider === address));
      if (own.length === 0) continue;
      const { signal } = this.#session.request;
      const silences = await unlessInterrupted(() => askSilence(this.#session, silent, [order]), signal);
      if (hopelessOrder([order], silent, silences) !== undefined)
        throw nobodyElse(this.#session, order, unacceptableText(own, this.#session.request.policy) ?? reason);
    }
  }

  #tell(text: string, note?: Note): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#session.progress.note(text, note);
  }
}
