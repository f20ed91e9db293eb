import { describe, expect, it } from "vitest";
import { changesOf, concerns, KINDS, merged } from "./changes.ts";

const event = (type: string, attributes: Readonly<Record<string, string>> = {}) => ({
  type,
  attributes: Object.entries(attributes).map(([key, value]) => ({ key, value, index: true })),
});

describe("the changes of a block", () => {
  it("are told by the events of the block and of its transactions, the marketplace's by their module", () => {
    const changes = changesOf({
      events: [event("coinbase"), event("svc.v1", { action: "lease-closed", module: "market" })],
      tx_results: [{ code: 0, events: [event("transfer")] }, { code: 5 }],
      validator_updates: [],
    });
    expect([...changes].sort()).toEqual(["coinbase", "svc.v1/market", "transfer"]);
    expect(concerns(changes, KINDS.market)).toBe(true);
    expect(concerns(changes, KINDS.deployments)).toBe(true);
    expect(concerns(changes, KINDS.providers)).toBe(false);
    expect(concerns(changes, KINDS.staking)).toBe(false);
  });

  it("are those of validators too where voting powers change without an event", () => {
    expect(concerns(changesOf({ validator_updates: [{ power: "1" }] }), KINDS.staking)).toBe(true);
  });

  it("of many transfers concern none of the facts on the overview but the supply", () => {
    const transfers = Array.from({ length: 100 }, () => ({
      events: [event("tx"), event("transfer"), event("message")],
    }));
    const changes = changesOf({ events: [event("mint"), event("coinbase")], tx_results: transfers });
    const concerned = Object.entries(KINDS).filter(([, kinds]) => concerns(changes, kinds));
    expect(concerned.map(([name]) => name)).toEqual(["supply"]);
  });

  it.each([[undefined], [null], ["x"], [{ events: 1, tx_results: [7, { events: [null, { type: 5 }] }] }]])(
    "of results that cannot be read are none: %j",
    (results) => expect([...changesOf(results)]).toEqual([]),
  );

  it("add up, and are all of them where events may have been missed", () => {
    const [a, b] = [new Set(["a"]), new Set(["b"])];
    expect(merged(a, b)).toEqual(new Set(["a", "b"]));
    expect([merged("all", a), merged(a, "all")]).toEqual(["all", "all"]);
    expect(concerns("all", ["anything"])).toBe(true);
  });
});
