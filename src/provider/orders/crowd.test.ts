import { afterEach, expect, test } from "vitest";
import { DEPOSIT, OrderMarket } from "../../../test/support/provider/orders/market.ts";
import { sized } from "../../../test/support/runs.ts";
import { CHECKS_A_PASS, MAX_CHECKS } from "./limits.ts";

/** Very many cheap orders: what they cost the daemon in memory and in questions to the chain. */

const BLOCK_MS = 6_000;
/** Orders of one block. */
const CROWD = 500;
const MOST_KEPT = 6_000;
const FEE = 1_000n;

let market: OrderMarket;
afterEach(() => market.service.stop());

/** Many orders, a block's worth at a time; returns the most that were kept in mind. */
async function crowd(count: number, wish: Parameters<OrderMarket["ask"]>[2] = {}): Promise<number> {
  let most = 0;
  for (let at = 0; at < count; at++) {
    market.ask(`svc1hostile${at}`, 1n, wish);
    if (at % CROWD < CROWD - 1) continue;
    most = Math.max(most, market.service.status().length);
    await market.pass(0);
  }
  return most;
}

/** How often the chain is asked for an order meanwhile. */
async function looksWhile(work: () => unknown, ms = BLOCK_MS): Promise<number> {
  const before = market.looks;
  await work();
  await market.pass(ms);
  return market.looks - before;
}

const waiting = () => market.service.entries().filter(({ phase }) => phase === "refused").length;

test("very many that wait for money are not all kept in mind, nor all asked about when there is some", async () => {
  const orders = sized(20_000, 100_000);
  market = new OrderMarket({ cores: 1_000n });
  market.balances.utoken = 0n;
  expect(await crowd(orders)).toBeLessThanOrEqual(MOST_KEPT);
  expect(market.looks).toBe(orders);
  expect(market.lists).toBe(0);
  // The operator pays for one bid.
  const looks = await looksWhile(() => {
    market.balances.utoken = DEPOSIT.amount + FEE;
  }, 15_000);
  expect(market.bids.size).toBe(1);
  expect(looks).toBeLessThanOrEqual(CHECKS_A_PASS);
}, 240_000);

test("of many that wait for money each has its turn when there is enough", async () => {
  market = new OrderMarket({ cores: 1_000n });
  market.balances.utoken = 0n;
  await crowd(1_000);
  market.balances.utoken = 1_000n * (DEPOSIT.amount + FEE);
  await market.pass(15_000);
  expect(market.bids.size).toBe(1_000);
});

test("nobody is asked about because somebody cancels an order that waits", async () => {
  market = new OrderMarket();
  await crowd(5_000, { cpu: 990n });
  const [bid = ""] = market.bids;
  const cancel = () => market.cancel(`svc1hostile${4_000}/1/1/1`);
  expect(await looksWhile(cancel, 1_000)).toBe(0);
  // A cancelled bid makes room for one of the others, and only one is looked at.
  const looks = await looksWhile(() => market.cancel(bid), 1_000);
  expect(market.bids.size).toBe(1);
  expect(looks).toBeLessThanOrEqual(2 * CHECKS_A_PASS);
  expect(waiting()).toBeGreaterThan(3_000);
});

test("one that fits is found behind thousands that do not", async () => {
  market = new OrderMarket();
  const taken = await market.order("svc1first", 1n, { cpu: 990n });
  const large = await market.order("svc1second", 1n, { cpu: 10n });
  expect([...market.bids]).toEqual([taken, large]);
  await crowd(3_000, { cpu: 980n });
  const text = await market.order("svc1honest", 1n, { cpu: 10n });
  await crowd(500, { cpu: 981n });
  const looks = await looksWhile(() => market.cancel(large), 6_000);
  expect([market.bids.has(text), looks]).toEqual([true, 1]);
});

test("more than can be looked at in one block have their turn later, and each is asked about once", async () => {
  market = new OrderMarket({ cores: 10n });
  const count = 3 * MAX_CHECKS;
  for (let at = 0; at < count; at++) market.ask(`svc1hostile${at}`, 1n, { price: "0.1" });
  const text = market.ask("svc1honest", 1n, { cpu: 1_000n });
  await market.pass(1_000);
  expect(market.looks).toBe(MAX_CHECKS);
  for (let lot = 0; lot < 5 && !market.bids.has(text); lot++) {
    expect(await looksWhile(() => {}, 5_000)).toBeLessThanOrEqual(MAX_CHECKS);
  }
  expect(market.bids.has(text)).toBe(true);
  await market.pass(10 * BLOCK_MS);
  // Orders of the first block that were dropped since are found once more, and then no more.
  expect(market.looks).toBeLessThanOrEqual(2 * count + 1);
  expect(market.lists).toBe(1);
  expect(await looksWhile(() => {}, 10 * BLOCK_MS)).toBe(0);
});

test("one that found no place is looked at although the crowd that waits becomes no smaller", async () => {
  market = new OrderMarket();
  await market.order("svc1first", 1n, { cpu: 990n });
  await crowd(3_000, { cpu: 980n });
  for (let at = 0; at < MAX_CHECKS; at++) market.ask(`svc1late${at}`, 1n, { cpu: 981n });
  market.ask("svc1honest", 1n, { cpu: 10n });
  const isSeen = () => market.service.find({ owner: "svc1honest", dseq: 1n, gseq: 1, oseq: 1 }) !== undefined;
  await market.pass(10 * BLOCK_MS);
  expect([waiting() > 2_500, isSeen()]).toEqual([true, false]);
  await market.pass(100 * BLOCK_MS);
  expect([waiting() > 2_500, isSeen(), market.lists]).toEqual([true, true, 1]);
});

test("orders behind the first part of a long list are looked at after the others", async () => {
  market = new OrderMarket({ cores: 10n });
  market.listedAtOnce = 2_000;
  for (let at = 0; at < 4_999; at++) market.list(`svc1hostile${at}`, 1n, { price: "0.1" });
  const text = market.list("svc1honest", 1n, { cpu: 1_000n });
  await market.service.catchUp();
  await market.pass(20 * BLOCK_MS);
  expect([market.bids.has(text), market.lists]).toEqual([true, 3]);
  expect(await looksWhile(() => {}, 100 * BLOCK_MS)).toBe(0);
});

test("an order that fits is found after a restart, behind a crowd that waits for room", async () => {
  market = new OrderMarket();
  await market.order("svc1first", 1n, { cpu: 990n });
  const wish = { cpu: 980n };
  for (let at = 0; at < 4 * MAX_CHECKS; at++) market.list(`svc1hostile${at}`, 1n, wish);
  const text = market.list("svc1honest", 1n, { cpu: 10n });
  await market.service.catchUp();
  for (let lot = 0; lot < 100 && !market.bids.has(text); lot++) {
    expect(await looksWhile(() => {}, 5_000)).toBeLessThanOrEqual(2 * MAX_CHECKS);
  }
  expect([market.bids.has(text), market.lists]).toEqual([true, 1]);
});
