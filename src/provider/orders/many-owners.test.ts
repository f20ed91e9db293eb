import { afterEach, expect, test } from "vitest";
import { DEPOSIT, OrderMarket } from "../../../test/support/provider/orders/market.ts";
import { formatOrderId } from "../../wire/index.ts";

/** Tenants whose bids nobody takes, beside one who takes them. */

const BLOCK_MS = 6_000;
const BID_BLOCKS = 50;
const LIMITS = { bidShare: 25, bidTimeoutMs: BID_BLOCKS * BLOCK_MS };

let market: OrderMarket;
afterEach(() => market.service.stop());

/** Orders of accounts that accept no bid. */
async function hostile(first: number, count: number, cpu = 1_000n): Promise<void> {
  for (let at = first; at < first + count; at++) market.ask(`svc1hostile${at}`, 1n, { cpu });
  await market.pass(0);
}

/** Blocks until the order has a bid; `meanwhile` is what others do in each. */
async function blocksUntilBid(text: string, meanwhile: (block: number) => Promise<void> = async () => {}) {
  for (let block = 0; block < 10_000; block++) {
    if (market.bids.has(text)) return block;
    await meanwhile(block);
    await market.pass(BLOCK_MS, BLOCK_MS);
  }
  return Number.POSITIVE_INFINITY;
}

test("a thousand owners who never accept hold at most half, and one who accepts gets bids and leases in turn", async () => {
  const owners = 1_000;
  const slots = 100;
  market = new OrderMarket({ ...LIMITS, cores: 200n });
  market.balances.utoken = 2n * BigInt(owners) * DEPOSIT.amount;
  await hostile(0, owners);
  expect(market.bids.size).toBe(slots);
  // The bids of those in front run out, with some blocks to spare for the withdrawals of each round.
  const most = (owners / slots) * (BID_BLOCKS + 2);
  for (let dseq = 1n; dseq <= 2n; dseq++) {
    const text = await market.order("svc1honest", dseq, { cpu: 1_000n });
    const watch = async () => expect(market.bids.size).toBeLessThanOrEqual(slots);
    expect(await blocksUntilBid(text, watch)).toBeLessThanOrEqual(most);
    market.lease(text);
    expect(market.service.find({ owner: "svc1honest", dseq, gseq: 1, oseq: 1 })?.phase).toBe("won");
  }
}, 240_000);

test("so does one beside new accounts in every block: who comes later waits behind", async () => {
  market = new OrderMarket({ ...LIMITS, cores: 20n });
  await hostile(0, 50);
  const text = await market.order("svc1honest", 1n, { cpu: 1_000n });
  const blocks = await blocksUntilBid(text, (block) => hostile(50 + 10 * block, 10));
  expect(blocks).toBeLessThanOrEqual(5 * (BID_BLOCKS + 2));
}, 120_000);

test("accounts that cancel and ask again in one block come after one that waits", async () => {
  market = new OrderMarket({ ...LIMITS, cores: 20n });
  await hostile(0, 10);
  const text = await market.order("svc1honest", 1n, { cpu: 1_000n });
  for (const bid of [...market.bids]) market.cancel(bid);
  for (let at = 0; at < 20; at++) market.ask(`svc1hostile${at}`, 2n, { cpu: 1_000n });
  await market.pass(BLOCK_MS);
  expect(market.bids.has(text)).toBe(true);
});

test("one owner's orders leave room and deposits for another", async () => {
  market = new OrderMarket({ ...LIMITS, cores: 16n });
  for (let dseq = 1n; dseq <= 10n; dseq++) await market.order("svc1hostile", dseq, { cpu: 1_000n });
  expect(market.bids.size).toBe(2);
  const reason = /cpu 1000m wanted, open bids of its tenant hold 2000m of the 2000m that they may/;
  expect(market.service.status().at(-1)?.reason).toMatch(reason);
  const text = await market.order("svc1honest", 1n, { cpu: 1_000n });
  expect(market.bids.has(text)).toBe(true);
});

test("open bids hold at most half of the money for deposits, and one owner a part of that", async () => {
  market = new OrderMarket({ ...LIMITS, cores: 1_000n });
  // Each bid also costs a fee.
  market.balances.utoken = 16n * DEPOSIT.amount + 100_000n;
  const orders: string[] = [];
  for (let dseq = 1n; dseq <= 4n; dseq++) orders.push(await market.order("svc1hostile", dseq, { cpu: 1n }));
  expect([...market.bids]).toEqual(orders.slice(0, 2));
  await hostile(0, 10, 1n);
  expect(market.bids.size).toBe(8);
  expect(market.service.status().at(-1)?.reason).toMatch("open bids hold half of the money for deposits");
  // Further orders of the one owner wait for the end of its bids, not for money.
  market.balances.utoken += 8n * DEPOSIT.amount;
  await market.pass(BLOCK_MS);
  expect([market.bids.size, market.bids.has(orders[2] ?? "")]).toEqual([12, true]);
  market.lease(orders[0] ?? "");
  await market.pass(BLOCK_MS);
  expect(orders.map((text) => market.bids.has(text))).toEqual([false, true, true, true]);
});

test("one owner who gives bids back again and again does not keep its many orders in front of another's", async () => {
  market = new OrderMarket({ ...LIMITS, cores: 1_000n });
  market.balances.utoken = 100n * DEPOSIT.amount;
  let dseq = 0n;
  const ask = () => market.ask("svc1hostile", ++dseq, { cpu: 1n });
  const giveBack = () => {
    const [bid = ""] = market.bids;
    market.cancel(bid);
    ask();
  };
  for (let at = 0; at < 2_500; at++) {
    ask();
    if (at % 500 === 0) await market.pass(0);
  }
  giveBack();
  const text = await market.order("svc1honest", 1n, { cpu: 1n });
  for (let second = 0; second < 20 && !market.bids.has(text); second++) {
    await market.pass(1_000);
    giveBack();
  }
  expect(market.bids.has(text)).toBe(true);
}, 60_000);

test("leased addresses go to one tenant up to a bound, and the rest is there for others", async () => {
  market = new OrderMarket({ cores: 20n, addresses: 5 });
  const wish = { cpu: 1n, leasedIp: true };
  const crowd: string[] = [];
  for (let dseq = 1n; dseq <= 10n; dseq++) crowd.push(await market.order("svc1crowd", dseq, wish));
  expect([...market.bids], "half of five, rounded up").toEqual(crowd.slice(0, 3));
  const [refused] = market.service.status().slice(-1);
  expect(refused?.reason).toMatch(/its tenant has 3 of the 3 that one tenant may have/);
  for (const text of crowd.slice(0, 3)) market.lease(text);
  await market.pass(BLOCK_MS);
  const other = await market.order("svc1honest", 1n, wish);
  expect(market.bids.has(other)).toBe(true);
  const last = await market.order("svc1late", 1n, wish);
  expect(market.bids.has(last), "none is left").toBe(false);
  market.cancel(other);
  await market.pass(1_000);
  expect([market.bids.has(last), market.bids.has(crowd[3] ?? "")]).toEqual([true, false]);
});

test("of very many only some are kept in mind, and the rest are looked for when those are gone", async () => {
  market = new OrderMarket({ cores: 10n });
  for (let first = 0; first < 7_000; first += 500) await hostile(first, 500);
  const known = market.service.status().map(({ id }) => formatOrderId(id));
  expect(known.length).toBeLessThanOrEqual(6_000);
  const forgotten = [...market.groups.keys()].filter((text) => !known.includes(text));
  for (const text of known) market.cancel(text);
  await market.pass(BLOCK_MS);
  expect(market.bids.size).toBe(10);
  expect(forgotten).toEqual(expect.arrayContaining([...market.bids]));
}, 120_000);
