import { describe, expect, it } from "vitest";
import { parseDec } from "../../util/index.ts";
import { costOf, divisionOf, type Funds, lastBlock, leftAt } from "./funds.ts";

/** Two leases that began in different blocks, each with a price that is no whole number. */
const RATES = [
  { amount: parseDec("0.3"), since: 10n },
  { amount: parseDec("1.25"), since: 17n },
];
const FUNDS: Funds = { height: 20n, denom: "utoken", left: 94n, given: 100n, rates: RATES, exhaustsAt: 80n };

describe("the money of a deployment", () => {
  it("that a close returns falls by the whole units that each lease earns", () => {
    // Earned by block 20: 3 and 3 units; by block 23: 3 and 7; by block 24: 4 and 8.
    expect([20n, 23n, 24n].map((height) => leftAt(FUNDS, height))).toEqual([94n, 90n, 88n]);
  });

  it("lasts until the last block that it covers, as the chain counts", () => {
    // (100 + 0.3 x 10 + 1.25 x 17) / 1.55 = 80.16, and with 7 more 84.67.
    expect([lastBlock(FUNDS), lastBlock(FUNDS, 7n)]).toEqual([80n, 84n]);
  });

  it("lasts for no block that is known while nothing is paid", () => {
    expect(lastBlock({ given: 5n, rates: [] })).toBeUndefined();
  });

  it("for some days is that of the blocks begun in them, rounded up", () => {
    const rate = parseDec("0.5");
    expect(costOf(1, { rate, seconds: 86_400 })).toBe(1n);
    expect(costOf(30, { rate, seconds: 6 })).toBe(216_000n);
    expect(costOf(1, { rate, seconds: 7 })).toBe(6172n);
  });
});

describe("the events of a close", () => {
  const event = (type: string, attributes: Readonly<Record<string, string>>) => ({
    type,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value, index: true })),
  });
  const events = [
    event("transfer", { recipient: "svc1fees", sender: "svc1a", amount: "500utoken" }),
    event("transfer", { recipient: "svc1provider", sender: "svc1escrow", amount: "6utoken" }),
    event("transfer", { recipient: "svc1a", sender: "svc1escrow", amount: "90utoken" }),
    event("svc.v1", {
      module: "deployment",
      action: "deployment-closed",
      dseq: "7",
      paid: "6utoken",
      returned: "90utoken",
    }),
  ];
  const of = { dseq: 7n, denom: "utoken", depositors: ["svc1a"] };

  it("name the refund, and the transfers to the depositors", () => {
    expect(divisionOf(events, of)).toEqual({ returned: 90n, transfers: [{ to: "svc1a", amount: 90n }] });
  });

  it("of another deployment, or in another denomination, name nothing", () => {
    expect(divisionOf(events, { ...of, dseq: 8n }).returned).toBeUndefined();
    expect(divisionOf(events, { ...of, denom: "stake" })).toEqual({
      returned: 0n,
      transfers: [{ to: "svc1a", amount: 0n }],
    });
    expect(divisionOf([event("svc.v1", {})], of)).toEqual({ returned: undefined, transfers: [] });
  });
});
