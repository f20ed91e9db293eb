import { describe, expect, it } from "vitest";
import { orderOf, TestMarket, testChain } from "../../testing/index.ts";

describe("a lease", () => {
  it("is paid by the block", () => {
    const chain = testChain();
    const market = new TestMarket(chain);
    const [alice, bob] = [chain.key("alice"), chain.key("bob")];
    market.register(bob);
    const id = market.deploy(alice, { dseq: 1n });
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "0.5" });
    chain.nextBlock(10);
    expect(market.payment(lease).accrued?.amount).toBe("5");
  });
});
