import {
  type BidRecord,
  balanceNow,
  type DeploymentRecord,
  isUnproven,
  type LeaseRecord,
  type PaidLease,
} from "../../client/index.ts";
import { formatPrice, priceOverTime } from "../../sdl/index.ts";
import { errorText, formatDecShort, shellWord } from "../../util/index.ts";
import { totalPrice } from "../order/deposit.ts";
import type { LeaseState, OpenGateway, ServiceState } from "../session/gateway.ts";
import type { Journal } from "../session/journal.ts";
import { activeLeases, type Market } from "../session/market.ts";

/** A deployment as `deploy ps` shows it; also its JSON form. */
export interface DeploymentLine {
  readonly dseq: string;
  readonly state: string;
  readonly services: readonly { readonly name: string; readonly available: number; readonly total: number }[];
  readonly uris: readonly string[];
  readonly ports: readonly string[];
  /** Per block, a decimal; empty while nothing is paid. */
  readonly price: { readonly denom: string; readonly amount: string };
  readonly price_per_month: string;
  readonly balance: { readonly denom: string; readonly amount: string };
  /** Blocks until the funds run out at this price; 0 while nothing is paid. */
  readonly blocks_left: string;
  /** When the funds run out, RFC 3339; empty while nothing is paid. */
  readonly until: string;
  /** Why a provider could not be asked, and its messages about services that do not work. */
  readonly problems: readonly string[];
  /** The owner's next step, with the command; empty if there is none. */
  readonly next: string;
}

/** Chain, gateways and journal of a list of deployments. */
export interface PsParts {
  readonly market: Market;
  readonly openGateway: OpenGateway;
  /** Journal of this machine's runs. */
  readonly journal: Journal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The active deployments of the account with their providers' status. */
export async function listDeployments(parts: PsParts): Promise<readonly DeploymentLine[]> {
  const { market } = parts;
  const deployments = await market.deployments("active");
  if (deployments.length === 0) return [];
  const [height, blockSeconds] = await Promise.all([market.height(), market.blockSeconds()]);
  return Promise.all(deployments.map((each) => deploymentLine(parts, each, { height, blockSeconds })));
}

interface ChainTime {
  readonly height: bigint;
  readonly blockSeconds: number;
}

async function deploymentLine(parts: PsParts, deployment: DeploymentRecord, time: ChainTime): Promise<DeploymentLine> {
  const all = await parts.market.leases(deployment.dseq);
  const leases = activeLeases(all);
  const looks = await Promise.all(leases.map((lease) => look(parts, lease)));
  const groups = await groupStates(parts.market, deployment, { leases, looks });
  const states = looks.flatMap(({ state }) => state ?? []);
  const price = totalPrice(leases.map((lease) => lease.price));
  return {
    dseq: deployment.dseq.toString(),
    state: [...new Set(groups.map(({ text }) => text))].join(", "),
    services: states.flatMap(({ services }) =>
      services.map(({ name, available, total }) => ({ name, available, total })),
    ),
    uris: states.flatMap(({ services }) => services.flatMap(({ urls }) => urls)),
    ports: states.flatMap(({ ports }) =>
      ports.map(({ proto, host, port }) => `${proto.toLowerCase()}://${host}:${port}`),
    ),
    price: { denom: price.denom, amount: leases.length === 0 ? "" : formatDecShort(price.amount) },
    price_per_month: leases.length === 0 ? "" : perMonth(price, time),
    ...moneyLeft(deployment, all, { ...time, now: parts.now() }),
    problems: looks.flatMap(({ problems }) => problems),
    next: nextStep(groups, unfinished(parts, deployment.dseq)),
  };
}

/** A paused group waits for its owner; any other step belongs to an unfinished run. */
function nextStep(groups: readonly GroupLook[], run: string | undefined): string {
  const paused = groups.find(({ text }) => text === PAUSED);
  return (paused ?? (run === undefined ? groups.find(({ next }) => next !== undefined) : { next: run }))?.next ?? "";
}

const PAUSED = "paused";

/** A run of `svc deploy` that was interrupted goes on where it was, with its file. */
function unfinished({ market, journal }: PsParts, dseq: bigint): string | undefined {
  const entry = journal.entries(market.owner, market.chainId).find((each) => each.dseq === dseq);
  if (entry === undefined || entry.step === "done") return undefined;
  return `svc deploy ${shellWord(entry.file)} continues it, svc deploy close ${dseq} ends it and returns its money`;
}

function perMonth(price: { readonly denom: string; readonly amount: bigint }, { blockSeconds }: ChainTime): string {
  return formatPrice({ denom: price.denom, amount: priceOverTime(price, blockSeconds).perMonth });
}

interface GroupLook {
  /** `active`, or the event that the group waits for. */
  readonly text: string;
  readonly next?: string;
}

interface LeaseLooks {
  readonly leases: readonly LeaseRecord[];
  /** One for each lease. */
  readonly looks: readonly Look[];
}

async function groupStates(
  market: Market,
  { dseq, groups }: DeploymentRecord,
  { leases, looks }: LeaseLooks,
): Promise<readonly GroupLook[]> {
  const isLeased = (gseq: number): boolean => leases.some(({ id }) => id.gseq === gseq);
  const isWaiting = groups.some(({ gseq, state }) => state === "open" && !isLeased(gseq));
  const bids = isWaiting ? await market.openBids(dseq) : [];
  return groups.map(({ gseq, state }) => {
    if (state === PAUSED)
      return {
        text: state,
        next: `open a new order with: svc tx deployment group start --dseq ${dseq} --gseq ${gseq}`,
      };
    if (state !== "open") return { text: state };
    const at = leases.findIndex(({ id }) => id.gseq === gseq);
    const lease = leases[at];
    if (lease !== undefined) return leasedState(lease, looks[at]);
    return waitingState(bids.filter(({ id }) => id.gseq === gseq));
  });
}

function leasedState({ id }: LeaseRecord, look: Look | undefined): GroupLook {
  if (look?.lacksManifest !== true) return { text: "active" };
  const next = `send the manifest with: svc provider send-manifest FILE --dseq ${id.dseq} --provider ${id.provider}`;
  return { text: "leased, without its manifest", next };
}

function waitingState(bids: readonly BidRecord[]): GroupLook {
  const [bid] = bids;
  if (bid === undefined) return { text: "waiting for bids" };
  const { owner, dseq, gseq, oseq } = bid.id;
  const order = `--dseq ${dseq} --gseq ${gseq} --oseq ${oseq}`;
  const list = `svc query market bid list --owner ${owner} ${order} --state open`;
  const take = `svc tx market lease create ${order} --provider ADDRESS`;
  return {
    text: bids.length === 1 ? "1 bid" : `${bids.length} bids`,
    next: `accept one with: ${take} (the bids: ${list})`,
  };
}

interface Look {
  readonly state?: LeaseState;
  /** The provider answers but has no manifest. */
  readonly lacksManifest?: true;
  readonly problems: readonly string[];
}

async function look({ market, openGateway }: PsParts, lease: LeaseRecord): Promise<Look> {
  const { provider: address } = lease.id;
  try {
    const provider = await market.provider(address);
    if (provider === undefined) return { problems: [`${address} is no longer registered`] };
    const state = await openGateway(provider).status(lease.id);
    if (state === undefined) return { lacksManifest: true, problems: [`${address} has no manifest`] };
    return { state, problems: troubles(address, state) };
  } catch (error) {
    if (isUnproven(error)) throw error;
    return { problems: [`${address} does not answer: ${errorText(error)}`] };
  }
}

/** Faults that the provider reports and the numbers of replicas do not show. */
function troubles(address: string, { unknown, error, services }: LeaseState): readonly string[] {
  const lost = `${address} cannot look at its containers now: what is shown is from its last look`;
  return [
    ...(unknown === true ? [lost] : []),
    ...(error === undefined ? [] : [error]),
    ...services.flatMap(serviceTrouble),
  ];
}

/** An update that does not start leaves what ran before in place. */
function serviceTrouble({ name, available, updated, total, error }: ServiceState): readonly string[] {
  if (updated < total && available > 0) {
    const serving = `${name}: the version before the last update serves with ${available} of ${total} replicas`;
    return [error === undefined ? `${serving}, the new one is on its way` : `${serving}; the new one: ${error}`];
  }
  return error === undefined ? [] : [`${name}: ${error}`];
}

/** The balance at this height, not at the last settlement. */
function moneyLeft(
  { escrow }: DeploymentRecord,
  leases: readonly PaidLease[],
  { height, blockSeconds, now }: ChainTime & { readonly now: number },
): Pick<DeploymentLine, "balance" | "blocks_left" | "until"> {
  const balance = { denom: escrow?.denom ?? "", amount: balanceNow(escrow, leases).toString() };
  const end = escrow?.exhaustsAt ?? 0n;
  if (end === 0n) return { balance, blocks_left: "0", until: "" };
  const blocks = end > height ? end - height : 0n;
  const until = new Date(Math.min(now + Number(blocks) * blockSeconds * 1000, MAX_TIME));
  return { balance, blocks_left: blocks.toString(), until: until.toISOString().replace(/\.\d+Z$/, "Z") };
}

/** 9999-12-31, the last day of RFC 3339. */
const MAX_TIME = 253_402_300_799_000;
