import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { coin, MIN_DEPOSIT, orderOf, price, TestMarket } from "../../../test/support/chain/index.ts";
import { testChain } from "../../testing/index.ts";
import { MsgPauseGroupSchema, MsgStartGroupSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { Bid_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import { MsgCreateLeaseSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";

/** A chain with one order of alice's, on which bob bids. */
function setUp() {
  const chain = testChain();
  const market = new TestMarket(chain);
  const [alice, bob] = [chain.key("alice"), chain.key("bob")];
  market.register(bob);
  const id = market.deploy(alice, { dseq: 1n });
  return { chain, market, alice, bob, id, order: orderOf(id) };
}

test("a bid that was withdrawn leaves nothing in the state: its provider bids again as often as it pays the fees", () => {
  const { chain, market, bob, order } = setUp();
  const balance = chain.balance(bob.address);
  const records = () => ["market", "escrow"].map((name) => [...chain.app.state.store(name).iterate()].length);
  const before = records();
  for (let i = 0; i < 30; i++) {
    expect(market.bid(bob, order, "0.5").code).toBe(0);
    expect(market.bid(bob, order, "0.5")).toMatchObject({ codespace: "market", code: 21 });
    expect(market.closeBid(bob, order).code).toBe(0);
  }
  expect(records()).toEqual(before);
  expect(chain.balance(bob.address)).toBe(balance);
  expect(chain.query(Query.method.bids, { filters: { ...order } }).bids).toEqual([]);
});

test("a bid that an earlier release kept when it was withdrawn does not stand in the way", () => {
  const first = setUp();
  const { alice, bob, id } = first;
  first.market.bid(bob, first.order, "0.5");
  first.chain.mustSend(create(MsgPauseGroupSchema, { id: { ...id, gseq: 1 } }), { from: alice });
  first.chain.mustSend(create(MsgStartGroupSchema, { id: { ...id, gseq: 1 } }), { from: alice });
  // The bid that ended with the first order becomes one of the second.
  const text = JSON.stringify(first.chain.app.restartAt(first.chain.height, {})?.appState)
    .replaceAll(`/1/1/1/${bob.address}`, `/1/1/2/${bob.address}`)
    .replaceAll(`"oseq":1,"provider":"${bob.address}"`, `"oseq":2,"provider":"${bob.address}"`);
  const market = new TestMarket(testChain({ genesis: JSON.parse(text) }));
  const order = orderOf(id, 1, 2);
  const bidId = { ...order, provider: bob.address };
  expect(market.bidOf(bidId).state).toBe(Bid_State.closed);
  expect(market.bid(bob, order, "0.7").code).toBe(0);
  expect(market.bidOf(bidId)).toMatchObject({ state: Bid_State.open, closedOn: 0n, price: price("0.7") });
  expect(market.bidAccount(bidId)).toMatchObject({ state: 1, balance: coin(MIN_DEPOSIT) });
  expect(market.lease(alice, order, bob).code).toBe(0);
});

test("a lease costs no more than its owner accepts, although the provider has bid again at a higher price", () => {
  const { chain, market, alice, bob, order } = setUp();
  const bidId = { ...order, provider: bob.address };
  const take = (text: string, denom?: string) =>
    chain.send(create(MsgCreateLeaseSchema, { bidId, maxPrice: price(text, denom) }), { from: alice });
  market.bid(bob, order, "0.2");
  market.closeBid(bob, order);
  market.bid(bob, order, "1");
  const refused = take("0.2");
  expect(refused).toMatchObject({ codespace: "market", code: 34 });
  expect(refused.log).toContain("1utoken, at most 0.2utoken");
  expect(take("1", "stake")).toMatchObject({ codespace: "market", code: 34 });
  expect(take("-1")).toMatchObject({ codespace: "market", code: 22 });
  market.closeBid(bob, order);
  market.bid(bob, order, "0.1");
  expect(take("0.2").code).toBe(0);
  expect(market.payment(bidId)).toMatchObject({ rate: price("0.1") });
});
