import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEPOSIT, GAS, OrderMarket } from "../../../../test/support/provider/orders/market.ts";

/**
 * Tenants whose waiting orders try to make the provider withdraw others' bids for nothing, or keep it from doing so.
 */

let market: OrderMarket;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  market.service.stop();
  vi.useRealTimers();
});

const HOUR = 3_600_000;

/** Two bids of one honest tenant take the whole core. */
async function honestBids(): Promise<string[]> {
  const made = [await market.order("svc1honest", 1n), await market.order("svc1honest", 2n)];
  expect([...market.bids]).toEqual(made);
  return made;
}

test("no bid gives way to an order that pays less than the provider's price", async () => {
  market = new OrderMarket();
  const honest = await honestBids();
  await market.order("svc1cheap", 1n, { price: "0.1" });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
});

test("no bid gives way to an order that has cheaper bids of others in every place", async () => {
  market = new OrderMarket();
  const honest = await honestBids();
  market.others = Array.from({ length: 20 }, () => "0.1");
  const text = await market.order("svc1full", 1n);
  await vi.advanceTimersByTimeAsync(HOUR / 60);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
  market.others.pop();
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest.slice(0, 1), true]);
});

test.each([
  ["another coin is short", { ugas: 5n }],
  ["all deposits together are too few", { utoken: -30_000_000n }],
])("no bid gives way for its deposit where %s", async (_, balances: Record<string, bigint>) => {
  market = new OrderMarket({ fee: GAS });
  const honest = await honestBids();
  Object.assign(market.balances, balances);
  await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, [...market.bids]]).toEqual([[], honest]);
});

test("as many bids give way as deposits are missing", async () => {
  market = new OrderMarket({ fee: GAS });
  const honest = await honestBids();
  market.balances.utoken = -DEPOSIT.amount;
  const text = await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest, true]);
});

test("bids give way for their deposits as soon as those are all that is missing", async () => {
  market = new OrderMarket({ fee: GAS });
  const honest = await honestBids();
  Object.assign(market.balances, { utoken: 0n, ugas: 5n });
  const text = await market.order("svc1other", 1n, { cpu: 1n });
  await vi.advanceTimersByTimeAsync(HOUR);
  expect(market.withdrawn).toEqual([]);
  market.balances.ugas = 1_000n;
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([honest.slice(0, 1), true]);
});

test("orders that nothing helps keep nobody else from the room of bids", async () => {
  market = new OrderMarket();
  const held = await honestBids();
  for (let dseq = 1n; dseq <= 40n; dseq++) await market.order("svc1waits", dseq, { cpu: 1n, leasedIp: true });
  const text = await market.order("svc1other", 1n);
  await vi.advanceTimersByTimeAsync(HOUR);
  expect([market.withdrawn, market.bids.has(text)]).toEqual([held.slice(0, 1), true]);
});
