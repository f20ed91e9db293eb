import {
  balanceNow,
  type ChainClient,
  type ChainEvent,
  type DeploymentRecord,
  type MarketReader,
  marketReader,
  type PaidLease,
} from "../../client/index.ts";
import { DEC_ONE, decCeil, tryParseInt } from "../../util/index.ts";
import { Query as DeploymentQuery } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import type { DeploymentKey } from "../../wire/index.ts";

/** The price of a running lease, per block times 10^18, and the block after which it is paid. */
export interface Rate {
  readonly amount: bigint;
  readonly since: bigint;
}

/** The money of a deployment at one height. */
export interface Funds {
  readonly height: bigint;
  readonly denom: string;
  /** A close at this height returns it to the depositors. */
  readonly left: bigint;
  /** Deposits, less refunds and the earnings of leases that have ended. */
  readonly given: bigint;
  readonly rates: readonly Rate[];
  /** Last block that the money covers, as the chain says; 0 while nothing is paid. */
  readonly exhaustsAt: bigint;
}

/** A deployment, its leases and its money in the state of one block. */
export interface Held {
  readonly deployment: DeploymentRecord;
  readonly leases: readonly PaidLease[];
  readonly funds: Funds;
  /** Accounts that have paid into it: refunds go to them. */
  readonly depositors: readonly string[];
}

type Chain = Pick<ChainClient, "query">;

/** Reads a deployment and its leases at the newest height; undefined if the chain has no such record. */
export async function loadHeld(chain: Chain, id: DeploymentKey): Promise<Held | undefined> {
  const { height, value } = await chain.query.callAt(DeploymentQuery.method.deployment, { id });
  const reader = readerAt(chain, height);
  const [deployment, leases] = await Promise.all([reader.deployment(id), reader.leases(id)]);
  if (deployment === undefined) return undefined;
  const depositors = (value.escrowAccount?.deposits ?? []).map(({ depositor }) => depositor);
  return { deployment, leases, funds: fundsOf(deployment, leases, height), depositors };
}

/** Reads the active deployments of an account at the newest height, newest first. */
export async function loadOwn(chain: Chain, owner: string): Promise<readonly Omit<Held, "depositors">[]> {
  const { height } = await chain.query.callAt(DeploymentQuery.method.params, {});
  const reader = readerAt(chain, height);
  const [deployments, all] = await Promise.all([
    reader.deployments({ owner, state: "active" }),
    reader.leases({ owner, state: "active" }),
  ]);
  return deployments.toReversed().map((deployment) => {
    const leases = all.filter(({ id }) => id.dseq === deployment.dseq);
    return { deployment, leases, funds: fundsOf(deployment, leases, height) };
  });
}

function readerAt({ query }: Chain, height: bigint): MarketReader {
  return marketReader({ call: (method, request) => query.call(method, request, { height }) });
}

export function fundsOf({ escrow }: DeploymentRecord, leases: readonly PaidLease[], height: bigint): Funds {
  const running = leases.filter(({ state }) => state === "active");
  const earned = running.reduce((sum, { payment }) => sum + payment.withdrawn + payment.settled, 0n);
  return {
    height,
    denom: escrow?.denom ?? "",
    left: balanceNow(escrow, leases),
    given: (escrow?.balance ?? 0n) + earned,
    rates: running.map(({ price, createdAt }) => ({ amount: price.amount, since: createdAt })),
    exhaustsAt: escrow?.exhaustsAt ?? 0n,
  };
}

/** The price of all running leases, per block times 10^18. */
export function rateOf({ rates }: Pick<Funds, "rates">): bigint {
  return rates.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Earnings of the leases by a height: of each the whole units, rounded down, as the chain counts them. */
function earnedBy(rates: readonly Rate[], height: bigint): bigint {
  return rates.reduce((sum, { amount, since }) => sum + (amount * (height - since)) / DEC_ONE, 0n);
}

/** The money that a close in a later block returns if nothing else happens. */
export function leftAt({ left, height, rates }: Pick<Funds, "left" | "height" | "rates">, later: bigint): bigint {
  return left - (earnedBy(rates, later) - earnedBy(rates, height));
}

/** Last block that the money covers with some more of it, rounded down as on the chain; undefined while nothing is paid. */
export function lastBlock({ given, rates }: Pick<Funds, "given" | "rates">, more = 0n): bigint | undefined {
  const rate = rateOf({ rates });
  if (rate === 0n) return undefined;
  const offset = rates.reduce((sum, { amount, since }) => sum + amount * since, 0n);
  return ((given + more) * DEC_ONE + offset) / rate;
}

const DAY_SECONDS = 86_400;

/** The price of some days at that pace of blocks, in whole units, rounded up. */
export function costOf(days: number, { rate, seconds }: { readonly rate: bigint; readonly seconds: number }): bigint {
  const blocks = BigInt(Math.ceil((days * DAY_SECONDS) / seconds));
  return decCeil(rate * blocks);
}

/** A payment to an account, from the events of a transaction. */
export interface Paid {
  readonly to: string;
  readonly amount: bigint;
}

/** The division of a deployment's money by its close, from the transaction's events. */
export interface Division {
  /** The refund as the deployment's own event names it; undefined without one. */
  readonly returned: bigint | undefined;
  /** Transfers to its depositors. */
  readonly transfers: readonly Paid[];
}

/** Reads the refund of a close out of the transaction's events. */
export function divisionOf(
  events: readonly ChainEvent[],
  {
    dseq,
    denom,
    depositors,
  }: { readonly dseq: bigint; readonly denom: string; readonly depositors: readonly string[] },
): Division {
  const closed = events.find(
    (event) =>
      event.type === "svc.v1" &&
      attributeOf(event, "action") === "deployment-closed" &&
      attributeOf(event, "dseq") === String(dseq),
  );
  const transfers = events
    .filter((event) => event.type === "transfer" && depositors.includes(attributeOf(event, "recipient")))
    .map((event) => ({ to: attributeOf(event, "recipient"), amount: amountOf(attributeOf(event, "amount"), denom) }));
  return { returned: closed && amountOf(attributeOf(closed, "returned"), denom), transfers };
}

function attributeOf({ attributes }: ChainEvent, key: string): string {
  return attributes.find((each) => each.key === key)?.value ?? "";
}

/** Units of a denomination in a list of coins; 0 where the text has none. */
function amountOf(text: string, denom: string): bigint {
  const amounts = text.split(",").filter((coin) => coin.endsWith(denom));
  return amounts.reduce((sum, coin) => sum + (tryParseInt(coin.slice(0, coin.length - denom.length)) ?? 0n), 0n);
}
