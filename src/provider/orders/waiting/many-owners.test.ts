import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEPOSIT, OrderMarket } from "../../../../test/support/provider/orders/market.ts";
import { formatOrderId } from "../../../wire/index.ts";

/** Many accounts with one order each, whose bids are never accepted: each is the only order of its owner. */

const OWNERS = 100n;
const CORES = 10n;
const BLOCK_MS = 6_000;
const FEW_BLOCKS = 5;

let market: OrderMarket;
beforeEach(() => {
  vi.useFakeTimers();
  market = new OrderMarket({ cores: CORES });
});
afterEach(() => {
  market.service.stop();
  vi.useRealTimers();
});

/** Orders of other accounts, a little smaller than an honest one, so that they are as cheap to serve. */
async function hostile(first: bigint, count: bigint): Promise<void> {
  for (let at = first; at < first + count; at++) market.ask(`svc1hostile${at}`, 1n, { cpu: 990n });
  await vi.advanceTimersByTimeAsync(1_000);
}

/** Blocks until the order has a bid; `meanwhile` runs in each. */
async function blocksUntilBid(text: string, meanwhile: (block: bigint) => Promise<void> = async () => {}) {
  for (let block = 0; block < 1_000; block++) {
    if (market.bids.has(text)) return block;
    await meanwhile(BigInt(block));
    await vi.advanceTimersByTimeAsync(BLOCK_MS);
  }
  return Number.POSITIVE_INFINITY;
}

const honest = () => market.order("svc1honest", 1n, { cpu: 1_000n });

test("one who comes after them has a bid in a few blocks", async () => {
  await hostile(0n, OWNERS);
  expect(market.bids.size).toBe(Number(CORES));
  expect(await blocksUntilBid(await honest())).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("so has one where deposits are short", async () => {
  market.service.stop();
  market = new OrderMarket({ cores: 10n * OWNERS });
  market.balances.utoken = CORES * (DEPOSIT.amount + 10_000n);
  await hostile(0n, OWNERS);
  expect(market.bids.size).toBe(Number(CORES));
  expect(await blocksUntilBid(await honest())).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("so has one among them, while new ones come in every block", async () => {
  await hostile(0n, OWNERS / 2n);
  const text = await honest();
  expect(await blocksUntilBid(text, (block) => hostile(OWNERS / 2n + block, 1n))).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("so has one before them, who waits since all room was taken", async () => {
  await hostile(0n, CORES);
  const text = await honest();
  await hostile(CORES, OWNERS - CORES);
  expect(await blocksUntilBid(text)).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("accounts that cancel and ask again in one block come after one that did not", async () => {
  await hostile(0n, OWNERS);
  const text = await honest();
  let last = 1n;
  const again = async (): Promise<void> => {
    last += 1n;
    for (const bid of [...market.bids].filter((each) => each.includes("hostile"))) market.cancel(bid);
    for (let at = 0n; at < CORES; at++) market.ask(`svc1hostile${at}`, last, { cpu: 990n });
  };
  expect(await blocksUntilBid(text, again)).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("one who let a bid go by comes after one who had none, until he takes a lease", async () => {
  market.service.stop();
  market = new OrderMarket();
  for (const hasLeased of [false, true]) {
    market.cancel(await market.order("svc1waster", 1n));
    const taken = await market.order("svc1other", hasLeased ? 2n : 1n, { cpu: 990n });
    if (hasLeased) market.lease(await market.order("svc1waster", 5n, { cpu: 1n }));
    const first = await market.order("svc1waster", hasLeased ? 12n : 2n, { cpu: 900n });
    const text = await market.order(`svc1honest${hasLeased}`, 1n, { cpu: 990n });
    const last = await market.order("svc1waster", hasLeased ? 13n : 3n, { cpu: 910n });
    market.cancel(taken);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([market.bids.has(text), market.bids.has(last)]).toEqual([!hasLeased, hasLeased]);
    for (const each of [first, text, last]) market.cancel(each);
    await vi.advanceTimersByTimeAsync(1_000);
  }
});

test("one who let bids go by has one in the end, although new accounts come faster than room is found", async () => {
  for (let at = 1n; at <= 5n; at++) market.cancel(await market.order("svc1honest", at));
  await hostile(0n, OWNERS);
  const text = await market.order("svc1honest", 9n, { cpu: 1_000n });
  expect(await blocksUntilBid(text, (block) => hostile(OWNERS + block * CORES, CORES))).toBeLessThan(300);
});

test("one who waits is not forgotten for the many who come after", async () => {
  await hostile(0n, CORES);
  const text = await honest();
  await hostile(CORES, 1_100n);
  expect(await blocksUntilBid(text)).toBeLessThanOrEqual(FEW_BLOCKS);
});

test("leased addresses go to one tenant up to a bound, and the rest is there for others", async () => {
  market.service.stop();
  market = new OrderMarket({ cores: 20n, addresses: 5 });
  const wish = { cpu: 1n, leasedIp: true };
  const crowd: string[] = [];
  for (let dseq = 1n; dseq <= 10n; dseq++) crowd.push(await market.order("svc1crowd", dseq, wish));
  expect([...market.bids], "half of five, rounded up").toEqual(crowd.slice(0, 3));
  const [refused] = market.service.status().slice(-1);
  expect(refused?.reason).toMatch(/its tenant has 3 of the 3 that one tenant may have/);
  for (const text of crowd.slice(0, 3)) market.lease(text);
  const other = await market.order("svc1honest", 1n, wish);
  expect(market.bids.has(other)).toBe(true);
  const last = await market.order("svc1late", 1n, wish);
  expect(market.bids.has(last), "none is left").toBe(false);
  market.cancel(other);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([market.bids.has(last), market.bids.has(crowd[3] ?? "")]).toEqual([true, false]);
});

test("of very many only some are kept in mind, and the rest are looked for when those are gone", async () => {
  for (const [first, count] of [
    [0n, 6_500n],
    [6_500n, 500n],
  ] as const)
    await hostile(first, count);
  const known = market.service.status().map(({ id }) => formatOrderId(id));
  expect(known.length).toBeLessThanOrEqual(6_000);
  const forgotten = [...market.groups.keys()].filter((text) => !known.includes(text));
  for (const text of known) market.cancel(text);
  await vi.advanceTimersByTimeAsync(BLOCK_MS);
  expect(market.bids.size).toBe(Number(CORES));
  expect(forgotten).toEqual(expect.arrayContaining([...market.bids]));
}, 60_000);
