import { describe, expect, it } from "vitest";
import { testChain } from "../../src/testing/index.ts";
import { coin, TestMarket } from "../support/chain/index.ts";

const DEPOSITS = 100;
const LEAST = 1_000_000n;

describe("strangers who fill the places of an account's depositors", () => {
  it("get in with no dust, take a place each, and get back what they paid", () => {
    const chain = testChain({ accounts: ["owner", "stranger", "other", "sponsor"] });
    const market = new TestMarket(chain);
    const [owner, stranger, other, sponsor] = [...chain.keys.values()];
    if (owner === undefined || stranger === undefined || other === undefined || sponsor === undefined)
      throw new Error("the chain has four accounts");
    const before = [...chain.keys.values()].map(({ address }) => chain.balance(address));
    const id = market.deploy(owner, { dseq: 1n });
    const attack = (amount: bigint) =>
      Array.from({ length: DEPOSITS }, (_, i) => market.deposit(i % 2 === 0 ? stranger : other, id, amount).code);

    expect(attack(1n).filter((code) => code === 0)).toEqual([]);
    expect(market.account(id).deposits).toHaveLength(1);

    expect(attack(LEAST).filter((code) => code !== 0)).toEqual([]);
    expect(market.account(id).deposits).toHaveLength(3);
    expect(market.deposit(sponsor, id, LEAST)).toMatchObject({ code: 0 });
    expect(market.account(id).balance).toMatchObject(coin(105_000_000n + LEAST));

    expect(market.closeDeployment(owner, id)).toMatchObject({ code: 0 });
    expect([...chain.keys.values()].map(({ address }) => chain.balance(address))).toEqual(before);
  });
});
