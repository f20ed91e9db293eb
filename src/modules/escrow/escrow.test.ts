import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  coin,
  groupSpec,
  MIN_DEPOSIT,
  marketEvents,
  orderOf,
  price,
  TestMarket,
} from "../../../test/support/chain/index.ts";
import { becomeOperator, passProposal, SHORT_VOTES } from "../../../test/support/proposals.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { NATIVE_DENOM } from "../../util/index.ts";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import {
  GenesisStateSchema as DeploymentGenesis,
  Group_State,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { MsgCloseDeploymentSchema, MsgStartGroupSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { GenesisStateSchema, MsgUpdateParamsSchema, Query } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { Bid_State, Lease_State, Order_State } from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import {
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { type DeploymentKey, encodeAddress, toJson } from "../../wire/index.ts";
import { defaultParams as deploymentParams } from "../deployment/params.ts";
import { defaultParams } from "./genesis.ts";

interface Small {
  readonly cap?: number;
  readonly lowBalanceBlocks?: bigint;
  readonly minStartBlocks?: bigint;
  readonly accounts?: readonly string[];
  readonly minDeposits?: readonly { readonly denom: string; readonly amount: string }[];
}

const orderOfNobody = { owner: "", dseq: 0n, gseq: 0, oseq: 0, provider: "" };

function genesisOf({ cap = 200, lowBalanceBlocks = 5n, minStartBlocks = 1n, minDeposits = [coin(1n)] }: Small) {
  const params = { ...defaultParams(), maxEndblockRecords: cap, lowBalanceBlocks };
  const minimum = minDeposits.map((each) => create(CoinSchema, each));
  const deployments = { ...deploymentParams(), minDeposits: minimum, minStartBlocks };
  return {
    escrow: toJson(GenesisStateSchema, create(GenesisStateSchema, { params })),
    gov: SHORT_VOTES,
    deployment: toJson(DeploymentGenesis, create(DeploymentGenesis, { params: deployments })),
  };
}

/** A chain whose deployments may hold as little as one unit and start with money for one block. */
function setUp(small: Small = {}) {
  const accounts = small.accounts === undefined ? {} : { accounts: small.accounts };
  const chain = testChain({ genesis: genesisOf(small), ...accounts });
  const market = new TestMarket(chain);
  const [alice, bob] = [chain.key("alice"), chain.key("bob")];
  market.register(bob);
  const deploy = (dseq: bigint, deposit: bigint, groups = [groupSpec("web", { price: "100" })]) =>
    market.deploy(alice, { dseq, groups, deposit: { denom: NATIVE_DENOM, amount: deposit } });
  return { chain, market, alice, bob, deploy };
}

/** The marketplace's actions at the end of the last block. */
function endActions(chain: TestChain): string[] {
  return marketEvents({ events: chain.blockEvents }).map(({ action }) => action ?? "");
}

describe("money that ends", () => {
  it("ends the lease in the block computed beforehand, pays everything, and leaves the deployment for a top-up", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const id = deploy(1n, 1234n);
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "99.5" });
    const start = chain.height;
    const end = start + 12n;
    const before = chain.balance(bob.address);
    expect(market.account(id).exhaustsAt).toBe(end);
    while (chain.height < end - 1n) chain.nextBlock();
    expect(market.leaseOf(lease).state).toBe(Lease_State.active);
    chain.nextBlock();
    expect(endActions(chain)).toEqual(["lease-closed", "bid-closed", "order-closed", "group-insufficient-funds"]);
    expect(market.leaseOf(lease)).toMatchObject({
      state: Lease_State.insufficient_funds,
      closedOn: end,
      closeReason: Closed_Reason.insufficient_funds,
    });
    expect(market.order(lease).state).toBe(Order_State.closed);
    expect(market.bidOf(lease).state).toBe(Bid_State.closed);
    expect(market.deployment(id)).toMatchObject({
      isActive: true,
      groups: [{ state: Group_State.insufficient_funds }],
    });
    expect(market.account(id)).toMatchObject({
      state: 1,
      balance: coin(40n),
      transferred: coin(1194n),
      exhaustsAt: 0n,
    });
    expect(market.payment(lease)).toMatchObject({ closedAt: end, withdrawn: coin(1194n), accrued: coin(0n) });
    expect(chain.balance(bob.address)).toBe(before + 1194n);
  });

  it("goes on after a top-up and a start of the group", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const id = deploy(1n, 150n);
    market.leased(alice, orderOf(id), { provider: bob, price: "100" });
    chain.nextBlock();
    expect(market.deployment(id).groups[0]?.state).toBe(Group_State.insufficient_funds);
    const start = () => chain.send(create(MsgStartGroupSchema, { id: { ...id, gseq: 1 } }), { from: alice });
    expect(start()).toMatchObject({ codespace: "escrow", code: 4 });
    market.deposit(alice, id, 250n);
    expect(start().code).toBe(0);
    market.leased(alice, orderOf(id, 1, 2), { provider: bob, price: "100" });
    expect(market.account(id)).toMatchObject({ balance: coin(300n), exhaustsAt: chain.height + 3n });
  });

  it("does so for a provider that never withdraws, and stops all groups of the deployment", () => {
    const { chain, market, alice, bob, deploy } = setUp({ accounts: ["alice", "bob", "carol"] });
    const carol = chain.key("carol");
    market.register(carol);
    const groups = ["a", "b", "c"].map((name) => groupSpec(name, { price: "100" }));
    const id = deploy(1n, 1234n, groups);
    market.leased(alice, orderOf(id), { provider: bob, price: "45" });
    market.bid(carol, orderOf(id, 3), "1");
    market.leased(alice, orderOf(id, 2), { provider: carol, price: "55" });
    const deposits = chain.balance(carol.address);
    while (market.deployment(id).groups[0]?.state === Group_State.open) chain.nextBlock();
    expect(market.deployment(id).groups.map(({ state }) => state)).toEqual([3, 3, 3]);
    // The open bid on the third group came back beside the earnings.
    expect(chain.balance(carol.address)).toBeGreaterThan(deposits + MIN_DEPOSIT);
    expect(market.order(orderOf(id, 3)).closeReason).toBe(Closed_Reason.insufficient_funds);
  });

  it("follows the two worked examples on the chain", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const two = (dseq: bigint, deposit: bigint, prices: readonly [string, string]) => {
      const id = deploy(dseq, deposit, [groupSpec("a", { price: "9" }), groupSpec("b", { price: "9" })]);
      for (const gseq of [1, 2]) market.bid(bob, orderOf(id, gseq), prices[gseq - 1] ?? "");
      const txs = [1, 2].map((gseq) => {
        const bidId = { ...orderOf(id, gseq), provider: bob.address };
        return create(MsgCreateLeaseSchema, { bidId });
      });
      chain.mustSend(txs, { from: alice });
      return { id, start: chain.height };
    };
    const small = two(1n, 3n, ["0.4", "0.4"]);
    expect(market.account(small.id).exhaustsAt).toBe(small.start + 3n);
    market.withdraw(bob, orderOf(small.id, 1));
    market.withdraw(bob, orderOf(small.id, 2));
    expect(market.account(small.id).exhaustsAt).toBe(small.start + 3n);
    chain.nextBlock();
    expect(market.account(small.id)).toMatchObject({ balance: coin(1n), transferred: coin(2n) });
    const large = two(2n, 1000n, ["1.25", "2.6"]);
    expect(market.account(large.id).exhaustsAt).toBe(large.start + 259n);
    while (chain.height < large.start + 259n) chain.nextBlock(7);
    expect(market.account(large.id)).toMatchObject({ balance: coin(4n), transferred: coin(996n) });
  });

  it("leaves nothing for a lease that would not last a block", () => {
    const { market, alice, bob, deploy } = setUp();
    const id = deploy(1n, 1n, [groupSpec("a", { price: "9" }), groupSpec("b", { price: "9" })]);
    market.bid(bob, orderOf(id, 1), "0.4");
    market.bid(bob, orderOf(id, 2), "0.6");
    market.lease(alice, orderOf(id, 1), bob);
    // One unit is still there, but 0.4 of it belong to the first lease.
    const late = market.lease(alice, orderOf(id, 2), bob);
    expect(late).toMatchObject({ codespace: "escrow", code: 4 });
    expect(late.log).toContain("would last 0 blocks and must last 1");
  });

  it("must be far enough for all leases together, in one transaction as in many", () => {
    const { chain, market, alice, bob, deploy } = setUp({ minStartBlocks: 100n });
    const groups = ["a", "b", "c"].map((name) => groupSpec(name, { price: "40" }));
    // One lease alone is paid for 250 blocks, two for 125, all three for 83.
    const id = deploy(1n, 10_000n, groups);
    for (const gseq of [1, 2, 3]) market.bid(bob, orderOf(id, gseq), "40");
    const lease = (gseq: number) =>
      create(MsgCreateLeaseSchema, { bidId: { ...orderOf(id, gseq), provider: bob.address } });
    const all = chain.send([lease(1), lease(2), lease(3)], { from: alice });
    expect(all).toMatchObject({ codespace: "escrow", code: 4 });
    expect(all.log).toContain("needs 12000utoken for 100 blocks at 120utoken a block and holds 10000utoken");
    expect(chain.send([lease(1), lease(2)], { from: alice }).code).toBe(0);
    expect(market.account(id).exhaustsAt).toBe(chain.height + 125n);
    expect(chain.send(lease(3), { from: alice })).toMatchObject({ codespace: "escrow", code: 4 });
  });

  it("is pushed back by a deposit in its last block", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const id = deploy(1n, 200n);
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "100" });
    chain.nextBlock();
    expect(market.account(id).exhaustsAt).toBe(chain.height + 1n);
    market.deposit(alice, id, 100n);
    expect(market.leaseOf(lease).state).toBe(Lease_State.active);
    chain.nextBlock();
    expect(market.leaseOf(lease)).toMatchObject({ state: Lease_State.insufficient_funds, closedOn: chain.height });
  });
});

describe("the work of one block", () => {
  it("is bounded; accounts that wait end at their own block all the same", () => {
    const { chain, market, alice, bob, deploy } = setUp({ cap: 1 });
    const ids = [1n, 2n, 3n].map((dseq) => deploy(dseq, 1000n));
    for (const id of ids) market.bid(bob, orderOf(id), "100");
    const messages = ids.map((id) => {
      return create(MsgCreateLeaseSchema, { bidId: { ...orderOf(id), provider: bob.address } });
    });
    chain.mustSend(messages, { from: alice });
    const end = chain.height + 10n;
    chain.nextBlock(10);
    const states = () => ids.map((id) => market.leaseOf({ ...orderOf(id), provider: bob.address }).state);
    const { active, insufficient_funds: ended } = Lease_State;
    expect(states()).toEqual([ended, active, active]);
    chain.nextBlock();
    expect(states()).toEqual([ended, ended, active]);
    // Requests to an account that waits take effect after its end.
    expect(market.deposit(alice, ids[2] ?? orderOf({ owner: "", dseq: 0n }), 500n).code).toBe(0);
    expect(states()).toEqual([ended, ended, ended]);
    for (const id of ids) {
      expect(market.payment({ ...orderOf(id), provider: bob.address })).toMatchObject({
        closedAt: end,
        withdrawn: coin(1000n),
      });
    }
  });

  it("counts every order and lease that ends with a deployment", () => {
    const { chain, market, alice, bob, deploy } = setUp({ cap: 2, accounts: ["alice", "bob", "carol"] });
    const carol = chain.key("carol");
    market.register(carol);
    const groups = ["lease", "bids"].map((name) => groupSpec(name, { price: "100" }));
    const ids = [1n, 2n, 3n].map((dseq) => deploy(dseq, 3000n, groups));
    for (const from of [bob, carol]) for (const id of ids) market.bid(from, orderOf(id, 2), "1");
    for (const id of ids) market.bid(bob, orderOf(id), "100");
    const leases = ids.map((id) => ({ ...orderOf(id), provider: bob.address }));
    const messages = leases.map((bidId) => create(MsgCreateLeaseSchema, { bidId }));
    chain.mustSend(messages, { from: alice });
    const end = chain.height + 30n;
    chain.nextBlock(29);
    const stopped: number[] = [];
    for (let i = 0; i < 3; i++) {
      chain.nextBlock();
      stopped.push(ids.filter((id) => market.account(id).exhaustsAt === 0n).length);
    }
    expect(stopped).toEqual([1, 2, 3]);
    expect(leases.map((id) => market.leaseOf(id).closedOn)).toEqual([end, end, end]);
  });

  it("lets a provider collect from, and an owner close, what waits", () => {
    const { chain, market, alice, bob, deploy } = setUp({ cap: 1 });
    const ids = [1n, 2n, 3n].map((dseq) => deploy(dseq, 150n));
    for (const id of ids) market.bid(bob, orderOf(id), "100");
    const messages = ids.map((id) => {
      return create(MsgCreateLeaseSchema, { bidId: { ...orderOf(id), provider: bob.address } });
    });
    chain.mustSend(messages, { from: alice });
    const end = chain.height + 1n;
    const [, second, third] = ids;
    if (second === undefined || third === undefined) throw new Error("three deployments were made");
    chain.nextBlock();
    const txs = [
      chain.sign(create(MsgWithdrawLeasesSchema, { provider: bob.address }), { from: bob }),
      chain.sign(create(MsgCloseDeploymentSchema, { id: third }), { from: alice }),
    ];
    const results = chain.block(txs);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(market.deployment(third).isActive).toBe(false);
    for (const id of [second, third]) {
      const lease = { ...orderOf(id), provider: bob.address };
      expect(market.leaseOf(lease)).toMatchObject({ state: Lease_State.insufficient_funds, closedOn: end });
      expect(market.payment(lease)).toMatchObject({ withdrawn: coin(100n), closedAt: end });
    }
  });

  it("does not grow with the number of leases", () => {
    const writes = (leases: number): number => {
      const { chain, market, alice, bob, deploy } = setUp();
      const ids = Array.from({ length: leases }, (_, i) => deploy(BigInt(i + 1), 1_000_000n));
      for (const id of ids) market.leased(alice, orderOf(id), { provider: bob, price: "1" });
      const before = chain.hashOfModules();
      chain.nextBlock();
      // An idle block changes nothing at all, whatever runs.
      return Buffer.compare(before, chain.hashOfModules());
    };
    expect([writes(1), writes(25)]).toEqual([0, 0]);
  });
});

describe("the notice of a low balance", () => {
  it("comes once per crossing and again after a top-up", () => {
    const { chain, market, alice, bob, deploy } = setUp({ lowBalanceBlocks: 5n });
    const id = deploy(1n, 1000n);
    market.leased(alice, orderOf(id), { provider: bob, price: "100" });
    const start = chain.height;
    const told: [bigint, string][] = [];
    const note = () => {
      for (const event of marketEvents({ events: chain.blockEvents })) {
        if (event.action === "deployment-low-balance")
          told.push([chain.height - start, event["blocks-remaining"] ?? ""]);
      }
    };
    const run = (blocks: number) => {
      for (let i = 0; i < blocks; i++) {
        chain.nextBlock();
        note();
      }
    };
    run(6);
    expect(told).toEqual([[5n, "5"]]);
    // One block more is still low; four more are not.
    market.deposit(alice, id, 120n);
    note();
    expect(market.account(id).exhaustsAt).toBe(start + 11n);
    market.deposit(alice, id, 280n);
    note();
    expect(told).toHaveLength(1);
    run(1);
    expect(told).toEqual([
      [5n, "5"],
      [9n, "5"],
    ]);
    market.withdraw(bob, orderOf(id));
    note();
    run(1);
    expect(told).toHaveLength(2);
  });

  it("comes at once to a lease that begins with little", () => {
    const { chain, market, alice, bob, deploy } = setUp({ lowBalanceBlocks: 50n });
    const id = deploy(1n, 1000n);
    market.leased(alice, orderOf(id), { provider: bob, price: "100" });
    expect(endActions(chain)).toEqual(["deployment-low-balance"]);
    chain.nextBlock();
    expect(endActions(chain)).toEqual([]);
  });
});

describe("a limit of low balances that governance changes", () => {
  const authority = encodeAddress(moduleAddress("gov"));
  const change = (chain: TestChain, lowBalanceBlocks: bigint) => {
    const params = { ...defaultParams(), lowBalanceBlocks };
    passProposal(chain, chain.key("carol"), create(MsgUpdateParamsSchema, { authority, params }));
  };
  const begun = () => {
    const { chain, market, alice, bob, deploy } = setUp({ lowBalanceBlocks: 5n });
    becomeOperator(chain, chain.key("carol"));
    const id = deploy(1n, 4000n);
    market.leased(alice, orderOf(id), { provider: bob, price: "100" });
    return { chain, market, alice, id, end: market.account(id).exhaustsAt };
  };
  const tellsAt = ({ chain, end }: ReturnType<typeof begun>): bigint[] => {
    const told: bigint[] = [];
    for (; chain.height < end; chain.nextBlock())
      if (endActions(chain).includes("deployment-low-balance")) told.push(end - chain.height);
    return told;
  };

  it("holds for what is queued already", () => {
    const lower = begun();
    change(lower.chain, 3n);
    expect(tellsAt(lower)).toEqual([3n]);
    const higher = begun();
    change(higher.chain, 20n);
    expect(tellsAt(higher)).toEqual([20n]);
  });

  it("notices again what it noticed before under a higher limit", () => {
    const parts = begun();
    const { chain, end } = parts;
    change(chain, 20n);
    while (chain.height < end - 15n) chain.nextBlock();
    change(chain, 3n);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    expect(tellsAt(parts)).toEqual([3n]);
  });

  it("leaves nothing behind of what was queued before", () => {
    const { chain, market, alice, id, end } = begun();
    change(chain, 3n);
    market.deposit(alice, id, 1000n);
    expect(tellsAt({ chain, market, alice, id, end: end + 10n })).toEqual([3n]);
    chain.mustSend(create(MsgCloseDeploymentSchema, { id }), { from: alice });
    chain.nextBlock(5);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
  });
});

it("notices that wait for the next block survive export and import", () => {
  const { chain, market, alice, bob, deploy } = setUp({ cap: 1, lowBalanceBlocks: 1000n });
  const ids = [1n, 2n, 3n].map((dseq) => deploy(dseq, 1000n));
  for (const id of ids) market.bid(bob, orderOf(id), "100");
  const messages = ids.map((id) => create(MsgCreateLeaseSchema, { bidId: { ...orderOf(id), provider: bob.address } }));
  chain.mustSend(messages, { from: alice });
  expect(endActions(chain)).toEqual(["deployment-low-balance"]);
  const [first, second] = chain.exportTwice();
  const late = (dseq: number) => `deployment/${alice.address}/${dseq}`;
  expect(first).toMatchObject({ escrow: { late_notices: [late(2), late(3)] } });
  expect(second).toMatchObject({ escrow: { late_notices: [late(3)] } });
  chain.nextBlock();
  expect(endActions(chain)).toEqual(["deployment-low-balance"]);
  expect(chain.app.exportGenesis()).toEqual(second);
});

describe("what went wrong elsewhere", () => {
  const closeBy = ({ chain, alice }: ReturnType<typeof setUp>, id: DeploymentKey) =>
    chain.sign(create(MsgCloseDeploymentSchema, { id }), { from: alice });

  it("does not: an account that was settled in the same block closes with its payments", () => {
    const parts = setUp();
    const { chain, market, alice, bob, deploy } = parts;
    const id = deploy(1n, 1000n);
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "10" });
    const before = chain.balance(bob.address);
    const withdraw = chain.sign(create(MsgWithdrawLeaseSchema, { bidId: lease }), { from: bob });
    expect(chain.block([withdraw, closeBy(parts, id)]).map(({ code }) => code)).toEqual([0, 0]);
    expect(market.payment(lease)).toMatchObject({ state: 2, withdrawn: coin(10n), balance: coin(0n) });
    expect(chain.balance(bob.address)).toBe(before + 10n);
    expect(market.account(id)).toMatchObject({ state: 2, balance: coin(0n) });
  });

  it("does not: an account without a unit left closes, also in the block in which its money ends", () => {
    const parts = setUp();
    const { chain, market, alice, bob, deploy } = parts;
    const ids = [1n, 2n].map((dseq) => deploy(dseq, 300n));
    const [one, two] = ids as [DeploymentKey, DeploymentKey];
    const leases = ids.map((id) => market.leased(alice, orderOf(id), { provider: bob, price: "100" }));
    // The second lease began two blocks later.
    chain.nextBlock();
    expect(market.account(one)).toMatchObject({ state: 1, balance: coin(0n), exhaustsAt: 0n });
    expect(market.account(two).exhaustsAt).toBe(chain.height + 2n);
    chain.nextBlock();
    const [closed] = chain.block([closeBy(parts, two)]);
    expect(closed?.code).toBe(0);
    const { insufficient_funds, closed: ended } = Lease_State;
    expect(leases.map((lease) => market.leaseOf(lease).state)).toEqual([insufficient_funds, ended]);
    expect(market.payment(leases[1] ?? orderOfNobody).withdrawn).toMatchObject(coin(300n));
    expect(chain.block([closeBy(parts, one)])[0]?.code).toBe(0);
    expect(market.account(one)).toMatchObject({ state: 2, balance: coin(0n) });
  });

  it("does not: equal rates are paid equally when money ends", () => {
    const { chain, market, alice, bob, deploy } = setUp({ accounts: ["alice", "bob", "carol"] });
    const carol = chain.key("carol");
    market.register(carol);
    const id = deploy(1n, 101n, [groupSpec("a", { price: "9" }), groupSpec("b", { price: "9" })]);
    market.bid(bob, orderOf(id, 1), "7");
    market.bid(carol, orderOf(id, 2), "7");
    const take = (gseq: number, provider: string) =>
      create(MsgCreateLeaseSchema, { bidId: { ...orderOf(id, gseq), provider } });
    chain.mustSend([take(1, bob.address), take(2, carol.address)], { from: alice });
    chain.nextBlock(10);
    const paid = [bob, carol].map(({ address }, i) => {
      return market.payment({ ...orderOf(id, i + 1), provider: address }).withdrawn;
    });
    expect(paid).toMatchObject([coin(49n), coin(49n)]);
    expect(market.account(id).balance).toMatchObject(coin(3n));
  });

  it("does not: a deployment lives in any denomination that is listed, and in one only", () => {
    const chain = testChain({
      coins: { stake: 10n ** 9n, utoken: 10n ** 12n },
      genesis: genesisOf({ minDeposits: [coin(1n), coin(1n, "stake")] }),
    });
    const market = new TestMarket(chain);
    const [alice, bob] = [chain.key("alice"), chain.key("bob")];
    market.register(bob);
    const groups = [groupSpec("web", { price: "2", denom: "stake" })];
    const id = market.deploy(alice, { dseq: 1n, groups, deposit: { denom: "stake", amount: 100n } });
    const order = orderOf(id);
    expect(market.bid(bob, order, "1")).toMatchObject({ codespace: "market", code: 22 });
    const bid = { order, provider: bob.address, price: price("1.5", "stake"), deposit: coin(MIN_DEPOSIT) };
    chain.mustSend(create(MsgCreateBidSchema, bid), { from: bob });
    expect(market.lease(alice, order, bob).code).toBe(0);
    expect(market.deposit(alice, id, 5n)).toMatchObject({ codespace: "deployment", code: 20 });
    chain.nextBlock(3);
    market.closeDeployment(alice, id);
    // Five blocks at 1.5 are 7.5.
    expect(chain.balance(bob.address, "stake")).toBe(10n ** 9n + 7n);
    expect(chain.balance(alice.address, "stake")).toBe(10n ** 9n - 7n);
  });

  it("does not: the state survives export and import, queues included", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const id = deploy(1n, 100_000n, [groupSpec("a", { price: "9" }), groupSpec("b", { price: "9" })]);
    market.leased(alice, orderOf(id), { provider: bob, price: "0.7" });
    market.bid(bob, orderOf(id, 2), "3");
    chain.nextBlock(4);
    const [first, again] = chain.exportTwice();
    expect(again).toEqual(first);
  });
});

describe("queries", () => {
  it("find accounts and payments by each filter", () => {
    const { chain, market, alice, bob, deploy } = setUp();
    const ids = [1n, 12n].map((dseq) => deploy(dseq, 1000n));
    const [one, twelve] = ids;
    if (one === undefined || twelve === undefined) throw new Error("two deployments were made");
    const lease = market.leased(alice, orderOf(one), { provider: bob, price: "1" });
    market.bid(bob, orderOf(twelve), "1");
    const xids = (request: object) => {
      return chain.query(Query.method.accounts, request).accounts.map(({ id }) => `${id?.scope}:${id?.xid.slice(43)}`);
    };
    const bid = (text: string) => `bid:${text}/1/1/${bob.address}`;
    expect(xids({})).toEqual([bid("1"), bid("12"), "deployment:1", "deployment:12"]);
    expect(xids({ scope: "deployment" })).toEqual(["deployment:1", "deployment:12"]);
    expect(xids({ scope: "bid", xid: `${alice.address}/1` })).toEqual([bid("1")]);
    expect(xids({ scope: "bid", xid: alice.address })).toEqual([bid("1"), bid("12")]);
    expect(xids({ scope: "bid", state: "open" })).toEqual([bid("12")]);
    expect(xids({ state: "closed" })).toEqual([bid("1")]);
    expect(xids({ owner: bob.address })).toEqual([bid("12"), bid("1")]);
    expect(xids({ owner: bob.address, state: "closed" })).toEqual([bid("1")]);
    expect(xids({ owner: bob.address, scope: "deployment" })).toEqual([]);
    const payments = (request: object) =>
      chain.query(Query.method.payments, request).payments.map(({ paymentId }) => paymentId);
    const paymentId = `1/1/${bob.address}`;
    for (const request of [
      {},
      { owner: bob.address },
      { owner: bob.address, state: "open" },
      { scope: "deployment", xid: `${alice.address}/1`, id: paymentId },
      { state: "open" },
    ]) {
      expect(payments(request)).toEqual([paymentId]);
    }
    expect(payments({ state: "closed" })).toEqual([]);
    expect(payments({ owner: alice.address })).toEqual([]);
    expect(payments({ scope: "bid", state: "open" })).toEqual([]);
    expect(() => xids({ xid: "x" })).toThrow(/scope/);
    expect(() => xids({ scope: "x" })).toThrow(/deployment or bid/);
    expect(() => payments({ state: "overdrawn" })).toThrow(/open or closed/);
    expect(() => payments({ id: paymentId })).toThrow(/xid/);
    chain.nextBlock(3);
    expect(market.payment(lease)).toMatchObject({
      balance: coin(0n),
      accrued: coin(chain.height - market.leaseOf(lease).createdAt),
    });
  });
});
