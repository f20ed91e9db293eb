import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BidRecord } from "../../client/market/types.ts";
import { parseDec, parseDecCoin } from "../../util/index.ts";
import { hostOf, type Offer } from "../session/offer.ts";
import { bidsByGroup, bidWindow, isAcceptable, rankBids } from "./bids.ts";
import { attributeText, bidTable, shortAddress } from "./offers.ts";

interface BidInit {
  readonly provider?: string;
  readonly price?: string;
  readonly createdAt?: bigint;
  readonly gseq?: number;
}

function bid({ provider = "svc1a", price = "10", createdAt = 100n, gseq = 1 }: BidInit = {}): BidRecord {
  const id = { owner: "svc1t", dseq: 1n, gseq, oseq: 1, provider };
  return { id, state: "open", price: { denom: "utoken", amount: parseDec(price) }, createdAt };
}

const providers = (bids: readonly BidRecord[]): string[] => bids.map(({ id }) => id.provider);

describe("ranking", () => {
  test("cheapest first, then the earlier, then by address", () => {
    const bids = [
      bid({ provider: "d", price: "2" }),
      bid({ provider: "c", price: "1.5", createdAt: 9n }),
      bid({ provider: "b", price: "1.5", createdAt: 8n }),
      bid({ provider: "a", price: "1.5", createdAt: 9n }),
    ];
    expect(providers(rankBids(bids))).toEqual(["b", "a", "c", "d"]);
  });

  test("does not depend on the order in which bids come", () => {
    const one = fc.record({
      provider: fc.constantFrom("a", "b", "c", "d"),
      price: fc.constantFrom("1", "1.000000000000000001", "2"),
      createdAt: fc.bigInt(1n, 3n),
    });
    const bids = fc.uniqueArray(one, { selector: ({ provider }) => provider }).map((list) => list.map(bid));
    fc.assert(
      fc.property(bids, (list) => {
        expect(rankBids([...list].reverse())).toEqual(rankBids(list));
        const prices = rankBids(list).map(({ price }) => price.amount);
        expect(prices.every((price, at) => at === 0 || (prices[at - 1] ?? 0n) <= price)).toBe(true);
      }),
    );
  });

  test("by group, those without bids included", () => {
    const grouped = bidsByGroup([1, 2, 3], [bid({ gseq: 2, provider: "b", price: "3" }), bid({ gseq: 2 }), bid()]);
    expect([...grouped].map(([gseq, bids]) => [gseq, providers(bids)])).toEqual([
      [1, ["svc1a"]],
      [2, ["b", "svc1a"]],
      [3, []],
    ]);
  });
});

describe("what may be taken", () => {
  test("a limit holds to the last decimal, in its own denomination", () => {
    const policy = { choice: { kind: "cheapest" }, maxPrice: parseDecCoin("1.5utoken") } as const;
    expect(isAcceptable(bid({ price: "1.5" }), policy)).toBe(true);
    expect(isAcceptable(bid({ price: "1.500000000000000001" }), policy)).toBe(false);
    expect(isAcceptable(bid(), { ...policy, maxPrice: parseDecCoin("100stake") })).toBe(false);
  });

  test("only the named provider's", () => {
    const policy = { choice: { kind: "provider", address: "svc1b" } } as const;
    expect(isAcceptable(bid(), policy)).toBe(false);
    expect(isAcceptable(bid({ provider: "svc1b" }), policy)).toBe(true);
  });
});

describe("the bid window", () => {
  const base = { groups: [1], blocks: 2n, bidders: 5 };

  test("opens with the first bid and closes a given number of blocks later", () => {
    const bids = [bid({ createdAt: 101n }), bid({ provider: "b", createdAt: 100n })];
    expect(bidWindow({ ...base, height: 100n, bids: [] })).toEqual({ kind: "empty", groups: [1] });
    expect(bidWindow({ ...base, height: 100n, bids })).toEqual({ kind: "open", until: 102n });
    expect(bidWindow({ ...base, height: 101n, bids })).toEqual({ kind: "open", until: 102n });
    expect(bidWindow({ ...base, height: 102n, bids })).toEqual({ kind: "closed" });
  });

  test("no window at all takes the first bid", () => {
    expect(bidWindow({ ...base, blocks: 0n, height: 100n, bids: [bid()] })).toEqual({ kind: "closed" });
  });

  test("closes when everybody has bid", () => {
    const bids = [bid(), bid({ provider: "b" })];
    expect(bidWindow({ ...base, bidders: 3, height: 100n, bids })).toMatchObject({ kind: "open" });
    expect(bidWindow({ ...base, bidders: 2, height: 100n, bids })).toEqual({ kind: "closed" });
  });

  test("waits for every group, and for the slowest", () => {
    const groups = [1, 2, 3];
    const some = [bid(), bid({ gseq: 3, createdAt: 105n })];
    expect(bidWindow({ ...base, groups, height: 110n, bids: some })).toEqual({ kind: "empty", groups: [2] });
    const all = [...some, bid({ gseq: 2, createdAt: 103n })];
    expect(bidWindow({ ...base, groups, height: 106n, bids: all })).toEqual({ kind: "open", until: 107n });
    expect(bidWindow({ ...base, groups, height: 107n, bids: all })).toEqual({ kind: "closed" });
  });

  test("simulated blocks: it never closes early, and always in time", () => {
    const arrivals = fc.array(fc.bigInt(1n, 20n), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(arrivals, fc.bigInt(0n, 5n), (heights, blocks) => {
        const all = heights.map((createdAt, at) => bid({ provider: `p${at}`, createdAt }));
        const first = heights.reduce((a, b) => (a < b ? a : b));
        let height = 0n;
        const seen = (): BidRecord[] => all.filter(({ createdAt }) => createdAt <= height);
        while (bidWindow({ groups: [1], blocks, bidders: 99, height, bids: seen() }).kind !== "closed") height += 1n;
        expect(height).toBe(first + blocks);
      }),
    );
  });
});

describe("the table of bids", () => {
  const offer: Offer = {
    bid: bid({ provider: "svc1qqqqqqqqqqqqqqqqqqqqprovider", price: "12.5" }),
    host: "provider.example:8443",
    attributes: [
      { key: "region", value: "eu" },
      { key: "capabilities/storage/1/class", value: "ram" },
    ],
    auditors: ["svc1auditorauditorauditor"],
  };

  test("prices over time follow the measured block time", () => {
    const [head, row, ...rest] = bidTable([offer], 6).split("\n");
    expect(head).toMatch(/PROVIDER +HOST +PER BLOCK +PER HOUR +PER MONTH +ATTRIBUTES +AUDITED BY/);
    expect(row).toMatch(
      /^1 {2}svc1qqqqqqqqqqqqqqqqqqqqprovider {2}provider.example:8443 {2}12.5 utoken {2}7500 utoken/,
    );
    expect(row).toContain("5.479 TOKEN");
    expect(row).toMatch(/region=eu +svc1audi\.\.itor$/);
    expect(rest).toEqual([""]);
    expect(bidTable([offer], 1)).toContain("32.87 TOKEN");
  });

  test("a provider's words cannot move the cursor or fill the screen", () => {
    const attributes = [{ key: "a", value: `\u001b[2J\n${"x".repeat(500)}` }];
    const lines = bidTable([{ ...offer, attributes }], 6).split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).not.toContain("\u001b");
    expect(lines[1]?.length).toBeLessThan(250);
  });

  test("attributes beyond some are counted, addresses shortened", () => {
    const many = ["a", "b", "c", "d", "e", "f"].map((key) => ({ key, value: "1" }));
    expect(attributeText(many)).toBe("a=1 b=1 c=1 d=1 +2");
    expect(attributeText([])).toBe("-");
    expect(shortAddress("svc1short")).toBe("svc1short");
    expect(hostOf("https://example.com:8443")).toBe("example.com:8443");
    expect(hostOf("nonsense")).toBe("nonsense");
  });
});
