import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { coin, MIN_DEPOSIT, orderOf, price, TestMarket } from "../../../test/support/chain/index.ts";
import { testChain } from "../../testing/index.ts";
import { Order_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  MsgCloseBidSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";

describe("the gas of messages", () => {
  it("fits the default of a transaction and does not depend on the state", () => {
    const accounts = ["alice", "bob", ...Array.from({ length: 18 }, (_, i) => `p${i}`)];
    const chain = testChain({ accounts });
    const market = new TestMarket(chain);
    const [alice, bob] = [chain.key("alice"), chain.key("bob")];
    market.register(...accounts.slice(1).map((name) => chain.key(name)));
    const order = orderOf(market.deploy(alice, { dseq: 1n }));
    const limits = { gas: 200_000n, fee: [{ denom: "utoken", amount: 1000n }] };
    const bid = (provider: string) =>
      create(MsgCreateBidSchema, { order, provider, price: price("1"), deposit: coin(MIN_DEPOSIT) });
    const used = accounts.slice(1).map((name) => {
      const from = chain.key(name);
      return chain.mustSend(bid(from.address), { from, ...limits }).gasUsed;
    });
    const spread = used.map((each) => Number(each - (used[0] ?? 0n)));
    // The first transaction of an account carries the same bytes as any other; only varints differ.
    expect(Math.max(...spread.map(Math.abs))).toBeLessThanOrEqual(20);
    const lease = create(MsgCreateLeaseSchema, { bidId: { ...order, provider: bob.address } });
    expect(chain.mustSend(lease, { from: alice, ...limits }).gasUsed).toBeLessThan(200_000n);
    const close = create(MsgCloseBidSchema, { bidId: { ...order, provider: bob.address } });
    expect(chain.mustSend(close, { from: bob, ...limits }).gasUsed).toBeLessThan(200_000n);
    expect(market.order(order).state).toBe(Order_State.closed);
  });
});
