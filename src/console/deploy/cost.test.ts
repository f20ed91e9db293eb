import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { gatewayClientErrors } from "../../client/index.ts";
import { parseDec } from "../../util/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { cheapest, isOutOfReach, lasting, readAmount, unitOf, type Verdict, verdictOf } from "./cost.ts";

const coin = (amount: string, denom = "utoken") => ({ denom, amount: parseDec(amount) });

describe("an amount as a person writes it", () => {
  it.each([
    ["5", 5_000_000n],
    [" 0.5 ", 500_000n],
    ["0.000001", 1n],
    ["0.0000001", undefined],
    ["0", undefined],
    ["-1", undefined],
    ["1e3", undefined],
    ["", undefined],
  ])("%j is %s utoken", (text, amount) => {
    expect(readAmount(text, unitOf("utoken").places)).toBe(amount);
  });

  it("has no decimal places in coins of others", () => {
    expect([readAmount("5", unitOf("ufoo").places), readAmount("0.5", unitOf("ufoo").places)]).toEqual([5n, undefined]);
  });
});

describe("a deposit", () => {
  it("lasts the whole blocks that it pays for", () => {
    // Three blocks of 1.5 and a rest of 0.5, in blocks of 20 minutes.
    expect(lasting(5n, coin("1.5"), 1200)).toEqual({ unit: "hours", tenths: 10n });
    expect(lasting(5_000_000n, coin("100"), 6)).toEqual({ unit: "days", tenths: 34n });
    expect(lasting(26n, coin("1"), 6)).toEqual({ unit: "minutes", tenths: 26n });
    expect(lasting(5n, coin("6"), 6)).toEqual({ unit: "minutes", tenths: 0n });
  });

  it("lasts for ever at no price", () => {
    expect(lasting(5n, coin("0"), 6)).toBeUndefined();
  });
});

describe("a provider's answer", () => {
  const group = create(GroupSpecSchema, {
    resources: [{ count: 2, price: { denom: "utoken", amount: `${parseDec("2")}` } }],
  });
  const bid = (amount: string, denom?: string) =>
    verdictOf(group, { screening: { bid: true, price: coin(amount, denom) } });

  it("is a yes up to the price of the file, in its coin", () => {
    expect(bid("4")).toEqual({ kind: "yes", price: coin("4") });
    expect(bid("4.1")).toEqual({ kind: "unknown" });
    expect(bid("1", "ufoo")).toEqual({ kind: "unknown" });
  });

  it("is a no with its reason", () => {
    expect(verdictOf(group, { screening: { bid: false, reason: "full" } })).toEqual({ kind: "no", reason: "full" });
  });

  it("that failed is no answer", () => {
    const error = new Error("silent");
    expect(verdictOf(group, { screening: { bid: false, reason: "its gateway is silent" }, error })).toEqual({
      kind: "unknown",
      error,
    });
  });
});

describe("the cheapest offers", () => {
  const yes = (amount: string): Verdict => ({ kind: "yes", price: coin(amount) });

  it("are summed over the groups", () => {
    expect(
      cheapest([
        [yes("3"), yes("2")],
        [{ kind: "asking" }, yes("0.5")],
      ]),
    ).toEqual(coin("2.5"));
  });

  it("are not known while a group has none", () => {
    expect(cheapest([[yes("3")], [{ kind: "no", reason: "full" }, { kind: "unknown" }]])).toBeUndefined();
    expect(cheapest([])).toBeUndefined();
  });
});

describe("a file", () => {
  const yes: Verdict = { kind: "yes", price: coin("1") };
  const no: Verdict = { kind: "no", reason: "full" };
  const beyond: Verdict = { kind: "unknown", error: gatewayClientErrors.noWebAddress("svc1p") };
  const silent: Verdict = { kind: "unknown", error: new Error("silent") };

  it.each<[string, boolean, Verdict[][]]>([
    ["whose only provider has no address for browsers", true, [[beyond]]],
    ["that all others refuse", true, [[no, beyond, no]]],
    ["with one group that a provider in reach takes", true, [[yes], [beyond]]],
    ["that a provider in reach takes", false, [[beyond, yes]]],
    ["that a provider is still asked about", false, [[beyond, { kind: "asking" }]]],
    ["with a provider that may answer again", false, [[beyond, silent]]],
    ["that every provider refuses", false, [[no]]],
    ["without providers", false, [[]]],
  ])("%s is out of reach: %s", (_, expected, groups) => {
    expect(isOutOfReach(groups)).toBe(expected);
  });
});
