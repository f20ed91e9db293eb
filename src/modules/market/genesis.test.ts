import { describe, expect, it } from "vitest";
import { groupSpec, orderOf, TestMarket } from "../../../test/support/chain/index.ts";
import { DEFAULT_CONSENSUS_PARAMS } from "../../abci/index.ts";
import { createApp } from "../../app/index.ts";
import { memoryDatabase } from "../../store/index.ts";
import { testChain } from "../../testing/index.ts";
import { errorText } from "../../util/index.ts";
import type { JsonObject } from "../../wire/index.ts";

type Path = readonly (string | number)[];

/** A state with a lease, an order with bids and a closed deployment. */
function exported(): { readonly state: JsonObject; readonly stranger: string } {
  const chain = testChain();
  const market = new TestMarket(chain);
  const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key("carol")];
  market.register(bob, carol);
  const id = market.deploy(alice, { dseq: 1n, groups: ["a", "b"].map((name) => groupSpec(name, { price: "10" })) });
  market.leased(alice, orderOf(id), { provider: bob, price: "1.25" });
  market.bid(bob, orderOf(id, 2), "2");
  market.bid(carol, orderOf(id, 2), "2");
  const closed = market.deploy(alice, { dseq: 2n });
  market.leased(alice, orderOf(closed), { provider: bob, price: "1" });
  market.closeDeployment(alice, closed);
  return { state: chain.app.exportGenesis(), stranger: chain.key("dave").address };
}

function begin(appState: JsonObject): void {
  const app = createApp({ database: memoryDatabase(), checkInvariants: true });
  app.initChain({
    chainId: "test-2",
    time: 1n,
    initialHeight: 100n,
    validators: [],
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    appState,
  });
}

/** The object at a place. */
function at(state: JsonObject, path: Path): Record<string | number, unknown> {
  // Every place holds an object or a list.
  return path.reduce<Record<string | number, unknown>>((o, key) => o[key] as Record<string | number, unknown>, state);
}

/** A copy with another value at one place; undefined takes the place away. */
function changed(state: JsonObject, path: Path, value: unknown): JsonObject {
  const copy = structuredClone(state);
  const parent = at(copy, path.slice(0, -1));
  const last = path.at(-1) ?? "";
  expect(parent).toHaveProperty([last]);
  if (Array.isArray(parent) && value === undefined) parent.splice(Number(last), 1);
  else parent[last] = value;
  return copy;
}

const { state: now, stranger } = exported();
/** Orders in a state of an older program repeat their group's spec. */
const state = changed(
  changed(now, ["market", "orders", 0], { ...at(now, ["market", "orders", 0]), spec: {} }),
  ["market", "orders", 0, "spec"],
  at(now, ["deployment", "deployments", 0, "groups", 0, "group_spec"]),
);
const account = (index: number, ...rest: Path): Path => ["escrow", "accounts", index, ...rest];
const payment = (...rest: Path): Path => ["escrow", "payments", 0, ...rest];
const group = (...rest: Path): Path => ["deployment", "deployments", 0, "groups", 0, "group_spec", ...rest];
const row = (...rest: Path): Path => group("resources", 0, ...rest);

describe("an exported marketplace", () => {
  it("is taken as it is", () => {
    expect(() => begin(now)).not.toThrow();
    expect(() => begin(state)).not.toThrow();
  });

  it.each<[Path, unknown, RegExp]>([
    [account(1, "balance", "amount"), "", /malformed/],
    [account(1, "balance", "amount"), "0x4c4b40", /malformed/],
    [account(1, "balance", "amount"), "05000000", /malformed/],
    [account(1, "balance", "amount"), "1e3", /malformed/],
    [account(1, "transferred", "denom"), "", /malformed/],
    [account(1, "deposits", 0, "remaining", "denom"), "gold", /malformed/],
    [account(1, "deposits", 0, "depositor"), "", /is not an address/],
    [account(1, "deposits", 0, "depositor"), "svc1x", /is not an address/],
    [account(1, "owner"), stranger, /its id names/],
    [account(3, "owner"), stranger, /its id names/],
    [account(1, "id", "xid"), "elsewhere", /./],
    [account(1, "id", "scope"), "purse", /malformed/],
    [["escrow", "late_notices"], [`bid/${stranger}`], /has no notice that is late/],
    [payment("owner"), stranger, /goes to/],
    [payment("closed_at"), "5", /ended at 5/],
    [payment("balance", "denom"), "gold", /malformed/],
    [row("price", "amount"), "0", /price must be above 0/],
    [row("price", "denom"), "gold", /invalid price|the money in/],
    [row("count"), 0, /allowed are 1/],
    [row("resources", "cpu", "units", "val"), "-5", /allowed are 0/],
    [group("name"), "", /must have 1 to \d+ characters/],
    [group("name"), "another", /something else than its group/],
    [["deployment", "deployments", 0, "deployment", "version"], "AAAA", /invalid version/],
    [["market", "orders", 0, "spec", "name"], "another", /something else than its group/],
    [["market", "orders", 2, "order_id", "dseq"], "77", /not found/],
    [["market", "bids", 1, "price", "denom"], "gold", /does not fit the price/],
    [["market", "bids", 1, "price", "amount"], "0", /does not fit the price/],
    [["market", "leases", 0], undefined, /belongs to no lease|active leases/],
    [["market", "bids", 1], undefined, /belongs to no bid/],
    [["market", "params", "order_max_open_blocks"], "9223372036854775807", /must be 1 to/],
  ])("is refused with another %j: %j", (path, value, text) => {
    let refusal = "taken";
    try {
      begin(changed(state, path, value));
    } catch (error) {
      refusal = errorText(error);
    }
    expect(refusal).toMatch(text);
    expect(refusal).not.toBe("taken");
  });
});
