import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { testChain } from "../../src/testing/index.ts";
import { NATIVE_DENOM } from "../../src/util/index.ts";
import { Lease_State } from "../../src/wire/gen/svc/market/v1beta1/market_pb.js";
import { MsgCreateLeaseSchema } from "../../src/wire/gen/svc/market/v1beta1/tx_pb.js";
import { groupSpec, MIN_DEPOSIT, orderOf, TestMarket } from "../support/chain/index.ts";

const LEASES = 20;
/** Blocks for which a lease must have funds at its start. */
const START_BLOCKS = 100n;

describe("a tenant who starts twenty leases in one transaction with money for one", () => {
  it("gets none of them, and as many as the money lasts for one by one", () => {
    const chain = testChain();
    const market = new TestMarket(chain);
    const [tenant, provider] = [chain.key("alice"), chain.key("bob")];
    market.register(provider);
    // Each alone has funds for exactly the required blocks; all together would have funds for five.
    const price = (MIN_DEPOSIT / START_BLOCKS).toString();
    const groups = Array.from({ length: LEASES }, (_, i) => groupSpec(`g${i}`, { price }));
    const id = market.deploy(tenant, { dseq: 1n, groups, deposit: { denom: NATIVE_DENOM, amount: MIN_DEPOSIT } });
    const orders = groups.map((_, i) => orderOf(id, i + 1));
    for (const order of orders) expect(market.bid(provider, order, price)).toMatchObject({ code: 0 });
    const lease = (order: (typeof orders)[number]) =>
      create(MsgCreateLeaseSchema, { bidId: { ...order, provider: provider.address } });

    const all = chain.send(orders.map(lease), { from: tenant, gas: 50_000_000n });
    expect(all).toMatchObject({ codespace: "escrow", code: 4 });
    expect(market.account(id).balance?.amount).toBe(MIN_DEPOSIT.toString());

    const oneByOne = orders.map((order) => chain.send(lease(order), { from: tenant }).code === 0);
    expect(oneByOne.filter(Boolean)).toHaveLength(1);
    expect(market.account(id).exhaustsAt - chain.height).toBeGreaterThanOrEqual(START_BLOCKS - BigInt(LEASES));
    const [first] = orders;
    if (first === undefined) throw new Error("there are orders");
    expect(market.leaseOf({ ...first, provider: provider.address }).state).toBe(Lease_State.active);
  });
});
