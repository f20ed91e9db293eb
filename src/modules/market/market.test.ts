import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  actionsOf,
  coin,
  type GroupInit,
  groupSpec,
  type Init,
  MIN_DEPOSIT,
  marketEvents,
  orderOf,
  price,
  resourceRow,
  TestMarket,
  walkPages,
} from "../../../test/support/chain/index.ts";
import { type TestKey, testChain } from "../../testing/index.ts";
import { MsgSignProviderAttributesSchema } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { Group_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { MsgPauseGroupSchema, MsgStartGroupSchema } from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { GenesisStateSchema as EscrowGenesisSchema } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import {
  Bid_State,
  GenesisStateSchema,
  Lease_State,
  Order_State,
} from "../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query, type QueryBidsResponse } from "../../wire/gen/svc/market/v1beta1/query_pb.js";
import {
  MsgCloseBidSchema,
  MsgCreateBidResponseSchema,
  MsgCreateBidSchema,
  MsgCreateLeaseSchema,
  MsgWithdrawLeaseResponseSchema,
  MsgWithdrawLeaseSchema,
  MsgWithdrawLeasesResponseSchema,
  MsgWithdrawLeasesSchema,
} from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { MsgDeleteProviderSchema, MsgUpdateProviderSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type OrderKey, toJson } from "../../wire/index.ts";
import { defaultParams as escrowParams } from "../escrow/genesis.ts";
import { defaultParams } from "./params.ts";

interface Options {
  readonly accounts?: readonly string[];
  readonly groups?: GroupInit[];
  readonly maxBids?: number;
  readonly maxOpenBlocks?: bigint;
  /** Maximum number of bids and leases that one block ends. */
  readonly endBlockCap?: number;
}

/** A chain with one deployment of alice's; everybody else is a provider. */
function setUp(options: Options = {}) {
  const { accounts = ["alice", "bob", "carol", "dave"], groups } = options;
  const defaults = defaultParams();
  const { maxBids: orderMaxBids = defaults.orderMaxBids, maxOpenBlocks = defaults.orderMaxOpenBlocks } = options;
  const params = { ...defaults, orderMaxBids, orderMaxOpenBlocks: maxOpenBlocks };
  const escrow = create(EscrowGenesisSchema, {
    params: { ...escrowParams(), maxEndblockRecords: options.endBlockCap ?? 200 },
  });
  const genesis = {
    market: toJson(GenesisStateSchema, create(GenesisStateSchema, { params })),
    escrow: toJson(EscrowGenesisSchema, escrow),
  };
  const chain = testChain({ accounts, genesis });
  const market = new TestMarket(chain);
  const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key(accounts[2] ?? "bob")];
  market.register(...accounts.slice(1).map((name) => chain.key(name)));
  const id = market.deploy(alice, { dseq: 1n, ...(groups === undefined ? {} : { groups }) });
  return { chain, market, alice, bob, carol, id, order: orderOf(id) };
}

type Parts = ReturnType<typeof setUp>;

function setAttributes({ chain }: Parts, from: TestKey, attributes: Readonly<Record<string, string>>): void {
  const list = Object.entries(attributes).map(([key, value]) => ({ key, value }));
  const message = { owner: from.address, hostUri: "https://provider.test:8443", attributes: list };
  chain.mustSend(create(MsgUpdateProviderSchema, message), { from });
}

function sign({ chain }: Parts, auditor: TestKey, owner: string, attributes: Readonly<Record<string, string>>): void {
  const list = Object.entries(attributes).map(([key, value]) => ({ key, value }));
  const message = { owner, auditor: auditor.address, attributes: list };
  chain.mustSend(create(MsgSignProviderAttributesSchema, message), { from: auditor });
}

describe("a bid", () => {
  const send = ({ chain, bob, order }: Parts, change: Init<typeof MsgCreateBidSchema> = {}, from = bob) => {
    const bid = { order, provider: from.address, price: price("0.5"), deposit: coin(MIN_DEPOSIT) };
    return chain.send(create(MsgCreateBidSchema, { ...bid, ...change }), { from });
  };

  it("locks the deposit and emits its event", () => {
    const parts = setUp();
    const { chain, market, alice, bob, order } = parts;
    const before = chain.balance(bob.address);
    const sent = send(parts);
    const id = { ...order, provider: bob.address };
    expect(sent.response(MsgCreateBidResponseSchema).id).toMatchObject(id);
    expect(chain.balance(bob.address)).toBe(before - MIN_DEPOSIT);
    expect(market.bidAccount(id)).toMatchObject({ owner: bob.address, state: 1, balance: coin(MIN_DEPOSIT) });
    const [event] = marketEvents(sent);
    expect(event).toMatchObject({
      module: "market",
      action: "bid-created",
      owner: alice.address,
      dseq: "1",
      gseq: "1",
      oseq: "1",
      provider: bob.address,
      "price-denom": "utoken",
      "price-amount": "0.500000000000000000",
    });
  });

  it.each<[string, string, number, Init<typeof MsgCreateBidSchema>]>([
    ["a price of 0", "market", 19, { price: price("0") }],
    ["no price", "market", 22, { price: { denom: "utoken", amount: "" } }],
    ["a price in another denomination", "market", 22, { price: price("0.5", "stake") }],
    ["a price above the order's", "market", 4, { price: price("1.000000000000000001") }],
    ["a deposit below the minimum", "market", 28, { deposit: coin(MIN_DEPOSIT - 1n) }],
    ["a deposit in another denomination", "market", 28, { deposit: coin(MIN_DEPOSIT, "stake") }],
    ["a deposit it does not have", "sdk", 5, { deposit: coin(10n ** 13n) }],
    ["an order without a number", "sdk", 18, { order: { owner: "alice", dseq: 1n, gseq: 1, oseq: 0 } }],
    ["an unknown order", "market", 15, { order: { owner: "alice", dseq: 1n, gseq: 1, oseq: 2 } }],
  ])("with %s is refused with %s/%d", (_, codespace, code, change) => {
    const parts = setUp();
    const order = change.order === undefined ? {} : { order: { ...change.order, owner: parts.alice.address } };
    const sent = send(parts, { ...change, ...order });
    expect([sent.codespace, sent.code]).toEqual([codespace, code]);
  });

  it("of the tenant, of a stranger, or a second one is refused", () => {
    const parts = setUp({ accounts: ["alice", "bob", "carol"] });
    const { chain, alice, bob } = parts;
    expect(send(parts, {}, alice)).toMatchObject({ codespace: "market", code: 2 });
    chain.mustSend(create(MsgDeleteProviderSchema, { owner: bob.address }), { from: bob });
    expect(send(parts)).toMatchObject({ codespace: "market", code: 30 });
    const { carol } = parts;
    expect(send(parts, {}, carol).code).toBe(0);
    expect(send(parts, {}, carol)).toMatchObject({ codespace: "market", code: 21 });
  });

  it("finds what the group asks for in the group's own record, however often an order opens", () => {
    const resources = Array.from({ length: 20 }, (_, i) => resourceRow({ id: i + 1 }));
    const { chain, market, alice, id } = setUp({ groups: [{ ...groupSpec("long"), resources }] });
    const group = { id: { ...id, gseq: 1 } };
    for (let i = 0; i < 2; i++) {
      chain.mustSend(create(MsgPauseGroupSchema, group), { from: alice });
      chain.mustSend(create(MsgStartGroupSchema, group), { from: alice });
    }
    const stored = [...chain.app.state.store("market").iterate()].filter(([key]) => key[0] === 0x10);
    expect(stored).toHaveLength(3);
    for (const [, order] of stored) expect(order.length).toBeLessThan(100);
    expect(market.order(orderOf(id, 1, 3)).spec?.resources).toHaveLength(20);
  });

  it("on an order that is taken or closed is refused", () => {
    const parts = setUp();
    const { chain, market, alice, bob, carol, order, id } = parts;
    market.leased(alice, order, { provider: bob, price: "1" });
    expect(send(parts, {}, carol)).toMatchObject({ codespace: "market", code: 23 });
    chain.mustSend(create(MsgPauseGroupSchema, { id: { ...id, gseq: 1 } }), { from: alice });
    expect(send(parts, {}, carol)).toMatchObject({ codespace: "market", code: 24 });
  });

  it("counts while it is open, up to the maximum and no further", () => {
    const accounts = ["alice", "bob", "carol", "dave", "erin"];
    const parts = setUp({ accounts, maxBids: 3 });
    const { chain, market, order } = parts;
    const [bob, carol, dave, erin] = accounts.slice(1).map((name) => chain.key(name)) as [
      TestKey,
      TestKey,
      TestKey,
      TestKey,
    ];
    expect([bob, carol, dave].map((from) => send(parts, {}, from).code)).toEqual([0, 0, 0]);
    expect(send(parts, {}, erin)).toMatchObject({ codespace: "market", code: 31 });
    expect(send(parts, {}, erin).log).toContain("order has the maximum number of open bids");
    market.closeBid(bob, order);
    expect(send(parts, {}, erin).code).toBe(0);
  });

  describe("on an order that has as many as it may", () => {
    const accounts = ["alice", "bob", "carol", "dave", "erin"];

    const addresses = (...keys: readonly TestKey[]) => keys.map(({ address }) => address).sort();

    /** Three bids at these prices, in blocks of their own, and the accounts. */
    function full(prices: readonly string[]) {
      const parts = setUp({ accounts, maxBids: 3 });
      const { chain, order } = parts;
      const [bob, carol, dave, erin] = accounts.slice(1).map((name) => chain.key(name)) as [
        TestKey,
        TestKey,
        TestKey,
        TestKey,
      ];
      const bidders = [bob, carol, dave] as const;
      const bid = (amount: string, from?: TestKey) => send(parts, { price: price(amount) }, from);
      for (const [i, amount] of prices.entries()) expect(bid(amount, bidders[i]).code).toBe(0);
      const open = () => chain.query(Query.method.bids, { filters: { ...order, state: "open" } }).bids;
      const bidding = () =>
        open()
          .map(({ bid: each }) => each?.bidId?.provider)
          .sort();
      return { ...parts, parts, bidders, erin, bid, bidding };
    }

    it("takes the place of the dearest, whose deposit goes back, in one block", () => {
      const { chain, bidders, erin, bid, bidding } = full(["0.3", "0.5", "0.4"]);
      const [bob, carol, dave] = bidders;
      const before = chain.balance(carol.address);
      const sent = bid("0.499999999999999999", erin);
      expect(marketEvents(sent).map(({ action, provider, reason }) => [action, provider, reason])).toEqual([
        ["bid-lost", carol.address, "outbid"],
        ["bid-created", erin.address, undefined],
      ]);
      expect(bidding()).toEqual(addresses(bob, dave, erin));
      expect(chain.balance(carol.address) - before).toBe(BigInt(MIN_DEPOSIT));
    });

    it("lets the provider of a displaced bid bid again, in the place of a dearer one or when there is room", () => {
      const { market, order, bidders, erin, bid, bidding } = full(["0.3", "0.5", "0.4"]);
      const [bob, carol, dave] = bidders;
      bid("0.1", erin);
      expect(bid("0.4", carol)).toMatchObject({ codespace: "market", code: 31 });
      expect(bid("0.2", carol).code).toBe(0);
      expect(bidding()).toEqual(addresses(bob, carol, erin));
      market.closeBid(erin, order);
      expect(bid("0.5", dave).code).toBe(0);
      expect(bidding()).toEqual(addresses(bob, carol, dave));
      expect(bid("0.1", erin).code).toBe(0);
      expect(bidding()).toEqual(addresses(bob, carol, erin));
    });

    it.each([
      ["the newest of equal ones", ["0.5", "0.5", "0.4"], 1],
      ["the newest of all equal", ["0.5", "0.5", "0.5"], 2],
    ])("ends %s", (_, prices, ended) => {
      const { bidders, erin, bid, bidding } = full(prices);
      expect(bid("0.2", erin).code).toBe(0);
      expect(bidding()).toEqual(addresses(...bidders.toSpliced(ended, 1), erin));
    });

    it("is refused at the price of the dearest, and ends no bid where it is refused for another reason", () => {
      const { parts, bidders, erin, bid, bidding } = full(["0.3", "0.5", "0.4"]);
      const equal = bid("0.5", erin);
      expect(equal).toMatchObject({ codespace: "market", code: 31 });
      expect(equal.log).toContain("3 open bids, the most expensive at 0.5");
      expect(send(parts, { price: price("0.1"), deposit: coin(1n) }, erin).code).not.toBe(0);
      expect(bidding()).toEqual(addresses(...bidders));
    });
  });

  it("is withdrawn with its deposit, once, for a reason of providers", () => {
    const parts = setUp();
    const { chain, market, bob, order } = parts;
    const before = chain.balance(bob.address);
    send(parts);
    const id = { ...order, provider: bob.address };
    for (const reason of [Closed_Reason.owner, Closed_Reason.insufficient_funds, Closed_Reason.order_expired])
      expect(market.closeBid(bob, order, reason)).toMatchObject({ codespace: "market", code: 33 });
    const sent = market.closeBid(bob, order, Closed_Reason.decommission);
    expect(marketEvents(sent)).toMatchObject([{ action: "bid-closed", reason: "decommission" }]);
    expect(() => market.bidOf(id)).toThrow("bid not found");
    expect(chain.balance(bob.address)).toBe(before);
    expect(market.closeBid(bob, order)).toMatchObject({ codespace: "market", code: 6 });
    expect(market.closeBid(parts.carol, order)).toMatchObject({ codespace: "market", code: 6 });
  });
});

describe("matching", () => {
  const eu: GroupInit = { ...groupSpec("web"), requirements: { attributes: [{ key: "region", value: "eu" }] } };

  it("asks for the attributes of the group", () => {
    const parts = setUp({ groups: [eu] });
    const { market, bob, order } = parts;
    expect(market.bid(bob, order, "1")).toMatchObject({ codespace: "market", code: 5 });
    setAttributes(parts, bob, { region: "us" });
    expect(market.bid(bob, order, "1").code).toBe(5);
    setAttributes(parts, bob, { region: "eu", tier: "home" });
    expect(market.bid(bob, order, "1").code).toBe(0);
  });

  it("takes a pattern at the end of a key", () => {
    const requirements = { attributes: [{ key: "feature/*", value: "true" }] };
    const parts = setUp({ groups: [{ ...groupSpec("web"), requirements }] });
    const { market, bob, order } = parts;
    setAttributes(parts, bob, { features: "true" });
    expect(market.bid(bob, order, "1").code).toBe(5);
    setAttributes(parts, bob, { "feature/ipv6": "true" });
    expect(market.bid(bob, order, "1").code).toBe(0);
  });

  it("asks for signatures over attributes that are still the provider's own", () => {
    const accounts = ["alice", "bob", "carol", "dave", "erin"];
    const [all, any1, any2] = ["carol", "dave", "erin"];
    const plain = testChain({ accounts });
    const address = (name: string | undefined) => plain.key(name ?? "").address;
    const signedBy = { allOf: [address(all)], anyOf: [address(any1), address(any2)] };
    const requirements = { signedBy, attributes: [{ key: "region", value: "eu" }] };
    const parts = setUp({ accounts, groups: [{ ...groupSpec("web"), requirements }] });
    const { chain, market, bob, order } = parts;
    const code = () => market.bid(bob, order, "1").code;
    setAttributes(parts, bob, { region: "eu" });
    expect(code()).toBe(5);
    sign(parts, chain.key("carol"), bob.address, { region: "eu" });
    expect(code()).toBe(5);
    sign(parts, chain.key("erin"), bob.address, { region: "us" });
    expect(code()).toBe(5);
    sign(parts, chain.key("erin"), bob.address, { region: "eu" });
    setAttributes(parts, bob, { region: "us" });
    expect(code()).toBe(5);
    setAttributes(parts, bob, { region: "eu" });
    expect(code()).toBe(0);
    // The requirements must hold again when the bid is accepted.
    setAttributes(parts, bob, { region: "us" });
    expect(market.lease(parts.alice, order, bob)).toMatchObject({ codespace: "market", code: 5 });
    setAttributes(parts, bob, { region: "eu" });
    expect(market.lease(parts.alice, order, bob).code).toBe(0);
  });

  it("asks for capabilities of persistent volumes and graphics processors", () => {
    const base = groupSpec("web");
    const [row] = base.resources ?? [];
    const withUnits = (change: object): GroupInit => ({
      ...base,
      resources: [{ ...row, resources: { ...row?.resources, ...change } }] as never,
    });
    const volume = { name: "data", quantity: row?.resources?.memory?.quantity };
    const persistent = [
      { key: "class", value: "beta2" },
      { key: "persistent", value: "true" },
    ];
    const storage = setUp({ groups: [withUnits({ storage: [{ ...volume, attributes: persistent }] })] });
    expect(storage.market.bid(storage.bob, storage.order, "1")).toMatchObject({ codespace: "market", code: 32 });
    setAttributes(storage, storage.bob, {
      "capabilities/storage/1/class": "beta2",
      "capabilities/storage/2/persistent": "true",
    });
    expect(storage.market.bid(storage.bob, storage.order, "1").code).toBe(32);
    setAttributes(storage, storage.bob, {
      "capabilities/storage/1/class": "beta2",
      "capabilities/storage/1/persistent": "true",
    });
    expect(storage.market.bid(storage.bob, storage.order, "1").code).toBe(0);

    const ram = [
      { key: "class", value: "ram" },
      { key: "persistent", value: "false" },
    ];
    const memory = setUp({ groups: [withUnits({ storage: [{ ...volume, attributes: ram }] })] });
    expect(memory.market.bid(memory.bob, memory.order, "1").code).toBe(0);

    const units = row?.resources?.gpu?.units;
    const models = ["vendor/nvidia/model/a100", "vendor/amd/model/*"].map((key) => ({ key, value: "true" }));
    const gpu = setUp({
      groups: [withUnits({ gpu: { units: { val: Uint8Array.from([0x31]) }, attributes: models } })],
    });
    expect(units).toBeDefined();
    setAttributes(gpu, gpu.bob, { "capabilities/gpu/vendor/nvidia/model/t4": "true" });
    expect(gpu.market.bid(gpu.bob, gpu.order, "1").code).toBe(32);
    setAttributes(gpu, gpu.bob, { "capabilities/gpu/vendor/amd/model/mi300": "true" });
    expect(gpu.market.bid(gpu.bob, gpu.order, "1").code).toBe(0);
  });
});

describe("a lease", () => {
  it("takes any open bid and returns the deposits of winner and losers in its block", () => {
    const { chain, market, alice, order } = setUp();
    const providers = ["bob", "carol", "dave"].map((name) => chain.key(name));
    const before = providers.map(({ address }) => chain.balance(address));
    for (const [i, from] of providers.entries()) market.bid(from, order, `0.${9 - i}`);
    const [, winner] = providers as [TestKey, TestKey];
    const sent = market.lease(alice, order, winner);
    expect(actionsOf(sent)).toEqual(["lease-created", "order-matched"]);
    const lost = marketEvents({ events: chain.blockEvents });
    expect(lost.map(({ action, reason }) => [action, reason])).toEqual(Array(2).fill(["bid-lost", "lease_lost"]));
    expect(providers.map(({ address }) => chain.balance(address))).toEqual(before);
    const states = providers.map(({ address }) => market.bidOf({ ...order, provider: address }).state);
    expect(states).toEqual([Bid_State.lost, Bid_State.active, Bid_State.lost]);
    expect(market.order(order).state).toBe(Order_State.active);
    const id = { ...order, provider: winner.address };
    expect(market.payment(id)).toMatchObject({ rate: price("0.8"), startedAt: sent.height, state: 1 });
    expect(market.bidAccount(id)).toMatchObject({ state: 2, balance: coin(0n) });
  });

  it("is refused for unknown, lost and withdrawn bids, a second time, and to strangers", () => {
    const { chain, market, alice, bob, carol, order } = setUp();
    expect(market.lease(alice, order, bob)).toMatchObject({ codespace: "market", code: 18 });
    market.bid(bob, order, "1");
    market.bid(carol, order, "1");
    const stolen = create(MsgCreateLeaseSchema, { bidId: { ...order, provider: bob.address } });
    expect(chain.send(stolen, { from: carol }).code).not.toBe(0);
    expect(market.lease(alice, order, bob).code).toBe(0);
    expect(market.lease(alice, order, carol)).toMatchObject({ codespace: "market", code: 12 });
    expect(market.lease(alice, order, bob)).toMatchObject({ codespace: "market", code: 12 });
  });

  it("comes once for an order, also from two messages in a block", () => {
    const { chain, market, alice, bob, carol, order } = setUp();
    market.bid(bob, order, "1");
    market.bid(carol, order, "1");
    const take = (provider: TestKey) =>
      create(MsgCreateLeaseSchema, { bidId: { ...order, provider: provider.address } });
    expect(chain.send([take(bob), take(carol)], { from: alice })).toMatchObject({ codespace: "market", code: 13 });
    expect(market.order(order).state).toBe(Order_State.open);
  });

  it("needs money for its first blocks", () => {
    const { chain, market, alice, bob, order, id } = setUp({ groups: [groupSpec("web", { price: "60000" })] });
    market.bid(bob, order, "50000.01");
    expect(market.lease(alice, order, bob)).toMatchObject({ codespace: "escrow", code: 4 });
    expect(chain.balance(bob.address)).toBe(10n ** 12n - MIN_DEPOSIT);
    market.deposit(alice, id, 1n);
    expect(market.lease(alice, order, bob).code).toBe(0);
  });

  it("ended by the owner pauses the group, or with reopen brings a new order", () => {
    const { market, alice, bob, carol, order, id } = setUp();
    const lease = market.leased(alice, order, { provider: bob, price: "1" });
    const ended = market.closeLease(alice, order, { provider: bob });
    expect(actionsOf(ended)).toEqual(["lease-closed", "bid-closed", "order-closed", "group-paused"]);
    expect(marketEvents(ended)[0]).toMatchObject({ reason: "owner", "price-amount": "1.000000000000000000" });
    expect(market.leaseOf(lease)).toMatchObject({ state: Lease_State.closed, closedOn: ended.height, closeReason: 1 });
    expect(market.deployment(id).groups[0]?.state).toBe(Group_State.paused);
    expect(market.closeLease(alice, order, { provider: bob })).toMatchObject({ codespace: "market", code: 24 });
    expect(market.closeLease(alice, order, { provider: carol })).toMatchObject({ codespace: "market", code: 20 });
    const other = setUp();
    other.market.leased(other.alice, other.order, { provider: other.bob, price: "1" });
    const reopened = other.market.closeLease(other.alice, other.order, { provider: other.bob, reopen: true });
    expect(actionsOf(reopened)).toEqual(["lease-closed", "bid-closed", "order-closed", "order-created"]);
    expect(other.market.order(orderOf(other.id, 1, 2)).state).toBe(Order_State.open);
    expect(other.market.deployment(other.id).groups[0]?.state).toBe(Group_State.open);
    const open = orderOf(other.id, 1, 2);
    expect(other.market.closeLease(other.alice, open, { provider: other.bob })).toMatchObject({ code: 14 });
  });

  it("ended by the provider is paid to the block and pauses the group", () => {
    const { chain, market, alice, bob, order, id } = setUp();
    const before = chain.balance(bob.address);
    const lease = market.leased(alice, order, { provider: bob, price: "0.3" });
    chain.nextBlock(8);
    const ended = market.closeBid(bob, order, Closed_Reason.unstable);
    expect(actionsOf(ended)).toEqual(["lease-closed", "bid-closed", "order-closed", "group-paused"]);
    expect(market.leaseOf(lease)).toMatchObject({ closeReason: Closed_Reason.unstable });
    expect(market.deployment(id).groups[0]).toMatchObject({ state: 2, closeReason: Closed_Reason.unstable });
    // Nine blocks at 0.3 are 2.7.
    expect(chain.balance(bob.address)).toBe(before + 2n);
    expect(market.closeBid(bob, order)).toMatchObject({ codespace: "market", code: 12 });
  });

  it("is not ended by a provider that withdraws its bid as an open one", () => {
    const { chain, market, alice, bob, order } = setUp();
    const withdrawal = create(MsgCloseBidSchema, { bidId: { ...order, provider: bob.address }, openOnly: true });
    const lease = market.leased(alice, order, { provider: bob, price: "0.3" });
    expect(chain.send(withdrawal, { from: bob })).toMatchObject({ codespace: "market", code: 12 });
    expect(market.leaseOf(lease).state).toBe(Lease_State.active);
    const other = setUp();
    other.market.bid(other.bob, other.order, "0.3");
    const bidId = { ...other.order, provider: other.bob.address };
    const sent = other.chain.mustSend(create(MsgCloseBidSchema, { bidId, openOnly: true }), { from: other.bob });
    expect(actionsOf(sent)).toEqual(["bid-closed"]);
    expect(() => other.market.bidOf(bidId)).toThrow("bid not found");
  });
});

describe("collecting", () => {
  it("pays what was earned, also twice in a block and when there is nothing", () => {
    const { chain, market, alice, bob, carol, order } = setUp();
    const lease = market.leased(alice, order, { provider: bob, price: "0.4" });
    const start = chain.height;
    chain.nextBlock(9);
    const bidId = lease;
    const message = create(MsgWithdrawLeaseSchema, { bidId });
    const sent = chain.mustSend([message, message], { from: bob });
    expect(sent.response(MsgWithdrawLeaseResponseSchema).amount).toMatchObject(coin(4n));
    expect(sent.response(MsgWithdrawLeaseResponseSchema, 1).amount).toMatchObject(coin(0n));
    expect(marketEvents(sent).map(({ action, amount }) => [action, amount])).toEqual([
      ["lease-withdrawn", "4utoken"],
      ["lease-withdrawn", "0utoken"],
    ]);
    for (let i = 0; i < 10; i++) market.withdraw(bob, order);
    expect(market.payment(lease).withdrawn).toMatchObject(coin(((chain.height - start) * 4n) / 10n));
    expect(market.withdraw(carol, order)).toMatchObject({ codespace: "market", code: 7 });
    market.closeLease(alice, order, { provider: bob });
    expect(market.withdraw(bob, order)).toMatchObject({ codespace: "market", code: 10 });
  });

  it("takes all leases of a provider in one message, or the named ones", () => {
    const groups = ["a", "b", "c"].map((name) => groupSpec(name, { price: "5" }));
    const { chain, market, alice, bob, carol, id } = setUp({ groups });
    const leases = [1, 2, 3].map((gseq) => {
      return market.leased(alice, orderOf(id, gseq), { provider: bob, price: `${gseq}` });
    });
    chain.nextBlock(5);
    const all = chain.mustSend(create(MsgWithdrawLeasesSchema, { provider: bob.address }), { from: bob });
    const blocks = leases.map((lease) => all.height - market.leaseOf(lease).createdAt);
    const due = blocks.reduce((sum, each, i) => sum + each * BigInt(i + 1), 0n);
    expect(all.response(MsgWithdrawLeasesResponseSchema).amount).toMatchObject([coin(due)]);
    const ids = leases.slice(2);
    const some = chain.mustSend(create(MsgWithdrawLeasesSchema, { provider: bob.address, ids }), { from: bob });
    expect(some.response(MsgWithdrawLeasesResponseSchema).amount).toMatchObject([coin(3n)]);
    const foreign = create(MsgWithdrawLeasesSchema, { provider: carol.address, ids });
    expect(chain.send(foreign, { from: carol })).toMatchObject({ codespace: "sdk", code: 4 });
    const nothing = chain.mustSend(create(MsgWithdrawLeasesSchema, { provider: carol.address }), { from: carol });
    expect(nothing.response(MsgWithdrawLeasesResponseSchema).amount).toEqual([]);
  });
});

describe("an order", () => {
  it("that nobody takes expires, returns the deposits and pauses the group", () => {
    const { chain, market, bob, order, id } = setUp({ maxOpenBlocks: 5n });
    const before = chain.balance(bob.address);
    market.bid(bob, order, "1");
    const { expiresAt } = market.order(order);
    while (chain.height < expiresAt - 1n) chain.nextBlock();
    expect(market.order(order).state).toBe(Order_State.open);
    chain.nextBlock();
    const events = marketEvents({ events: chain.blockEvents });
    expect(events.map(({ action }) => action)).toEqual(["order-closed", "group-paused", "bid-closed"]);
    expect(events.map(({ reason }) => reason)).toEqual(["order_expired", "order_expired", "order_expired"]);
    expect(market.order(order)).toMatchObject({ closedOn: expiresAt, closeReason: Closed_Reason.order_expired });
    expect(market.deployment(id)).toMatchObject({ isActive: true, groups: [{ state: Group_State.paused }] });
    expect(chain.balance(bob.address)).toBe(before);
  });

  it("that is taken does not expire", () => {
    const { chain, market, alice, bob, order } = setUp({ maxOpenBlocks: 5n });
    market.leased(alice, order, { provider: bob, price: "1" });
    chain.nextBlock(10);
    expect(market.order(order).state).toBe(Order_State.active);
  });
});

describe("bids of an order that has ended", () => {
  const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank"];

  /** Five bids, two of which end per block. */
  function waiting() {
    const parts = setUp({ accounts: NAMES, endBlockCap: 2 });
    const { chain, market, order } = parts;
    const providers = NAMES.slice(1).map((name) => chain.key(name));
    for (const from of providers) market.bid(from, order, "1");
    const states = () => providers.map(({ address }) => market.bidOf({ ...order, provider: address }).state);
    const open = () => states().filter((state) => state === Bid_State.open).length;
    return { ...parts, providers, states, open };
  }

  it("end with the next blocks, some in each, and get their deposits back", () => {
    const { chain, market, alice, id, providers, states, open } = waiting();
    const before = providers.map(({ address }) => chain.balance(address));
    expect(actionsOf(market.closeDeployment(alice, id))).toEqual(["order-closed", "group-closed", "deployment-closed"]);
    const left = [open()];
    for (let i = 0; i < 2; i++) {
      chain.nextBlock();
      left.push(open());
    }
    expect(left).toEqual([3, 1, 0]);
    expect(states()).toEqual(Array(5).fill(Bid_State.closed));
    const after = providers.map(({ address }) => chain.balance(address));
    expect(after.map((each, i) => each - (before[i] ?? 0n))).toEqual(Array(5).fill(MIN_DEPOSIT));
  });

  it("wait in an exported state too, are lost to the lease that won, and can be taken back meanwhile", () => {
    const { chain, market, alice, bob, order, providers, states, open } = waiting();
    market.lease(alice, order, bob);
    expect(open()).toBe(2);
    const [first, again] = chain.exportTwice();
    expect(again).not.toEqual(first);
    market.closeLease(alice, order, { provider: bob });
    expect(states()).toEqual([Bid_State.closed, ...Array(4).fill(Bid_State.lost)]);
    expect(providers.map(({ address }) => market.bidOf({ ...order, provider: address }).closeReason)).toEqual([
      Closed_Reason.owner,
      ...Array(4).fill(Closed_Reason.lease_lost),
    ]);
  });

  it("leave nothing behind when their providers take them back first", () => {
    const { chain, market, alice, id, order, providers } = waiting();
    market.closeDeployment(alice, id);
    const [, , , ...late] = providers;
    const txs = late.map((from) =>
      chain.sign(create(MsgCloseBidSchema, { bidId: { ...order, provider: from.address } }), { from }),
    );
    chain.block(txs);
    chain.nextBlock();
    const queued = [...chain.app.state.store("market").iterate()].filter(([key]) => key[0] === 0x42);
    expect(queued).toEqual([]);
  });

  it("cost whoever ends the order nothing, however many they are", () => {
    const gasWith = (count: number) => {
      const { chain, market, alice, order, id } = setUp({ accounts: NAMES });
      for (const name of NAMES.slice(1, 1 + count)) market.bid(chain.key(name), order, "1");
      return chain.mustSend(create(MsgPauseGroupSchema, { id: { ...id, gseq: 1 } }), { from: alice }).gasUsed;
    };
    expect(gasWith(5)).toBe(gasWith(1));
  });
});

describe("a provider that leaves", () => {
  it("gets its deposits back, but cannot leave a lease behind", () => {
    const { chain, market, alice, bob, carol, order } = setUp();
    const before = chain.balance(carol.address);
    market.bid(bob, order, "1");
    market.bid(carol, order, "1");
    const leave = (from: TestKey) => chain.send(create(MsgDeleteProviderSchema, { owner: from.address }), { from });
    expect(actionsOf(leave(carol))).toEqual(["bid-closed", "provider-deleted"]);
    expect(chain.balance(carol.address)).toBe(before);
    expect(() => market.bidOf({ ...order, provider: carol.address })).toThrow("bid not found");
    market.lease(alice, order, bob);
    expect(leave(bob).code).not.toBe(0);
  });
});

describe("queries", () => {
  it("find orders, bids and leases by each filter", () => {
    const groups = [groupSpec("a"), groupSpec("b")];
    const { chain, market, alice, bob, carol, id } = setUp({ groups });
    const second = market.deploy(carol, { dseq: 7n });
    for (const from of [bob, carol]) market.bid(from, orderOf(id, 1), "1");
    market.bid(bob, orderOf(id, 2), "1");
    market.bid(bob, orderOf(second), "1");
    market.lease(alice, orderOf(id, 1), bob);
    market.closeLease(alice, orderOf(id, 1), { provider: bob, reopen: true });
    market.lease(carol, orderOf(second), bob);
    const names = new Map([
      [alice.address, "alice"],
      [bob.address, "bob"],
      [carol.address, "carol"],
    ]);
    const short = (key: OrderKey & { provider?: string } = { owner: "", dseq: 0n, gseq: 0, oseq: 0 }) =>
      [
        names.get(key.owner),
        key.dseq,
        key.gseq,
        key.oseq,
        ...(key.provider === undefined ? [] : [names.get(key.provider)]),
      ].join("/");
    const orders = (filters: object) =>
      chain.query(Query.method.orders, { filters }).orders.map((each) => short(each.orderId));
    const bids = (filters: object) =>
      chain.query(Query.method.bids, { filters }).bids.map(({ bid }) => short(bid?.bidId));
    const leases = (filters: object) =>
      chain.query(Query.method.leases, { filters }).leases.map(({ lease }) => short(lease?.leaseId));
    const owner = alice.address;
    expect(orders({}).sort()).toEqual(["alice/1/1/1", "alice/1/1/2", "alice/1/2/1", "carol/7/1/1"]);
    expect(orders({ state: "open" }).sort()).toEqual(["alice/1/1/2", "alice/1/2/1"]);
    expect(orders({ state: "active" })).toEqual(["carol/7/1/1"]);
    expect(orders({ owner, state: "open" })).toEqual(["alice/1/1/2", "alice/1/2/1"]);
    expect(orders({ owner, dseq: 1n, gseq: 1, state: "open" })).toEqual(["alice/1/1/2"]);
    expect(orders({ owner, dseq: 1n, gseq: 1 })).toEqual(["alice/1/1/1", "alice/1/1/2"]);
    expect(orders({ owner, oseq: 2 })).toEqual(["alice/1/1/2"]);
    expect(orders({ dseq: 7n })).toEqual(["carol/7/1/1"]);
    expect(orders({ gseq: 2 })).toEqual(["alice/1/2/1"]);
    expect(bids({ provider: bob.address }).sort()).toEqual(["alice/1/1/1/bob", "alice/1/2/1/bob", "carol/7/1/1/bob"]);
    expect(bids({ provider: bob.address, state: "open" })).toEqual(["alice/1/2/1/bob"]);
    expect(bids({ provider: bob.address, dseq: 7n })).toEqual(["carol/7/1/1/bob"]);
    expect(bids({ owner, provider: bob.address, state: "closed" })).toEqual(["alice/1/1/1/bob"]);
    expect(bids({ owner, dseq: 1n, gseq: 1, oseq: 1, state: "lost" })).toEqual(["alice/1/1/1/carol"]);
    expect(bids({ state: "active" })).toEqual(["carol/7/1/1/bob"]);
    expect(bids({ dseq: 7n, state: "open" })).toEqual([]);
    expect(leases({ provider: bob.address, state: "active" })).toEqual(["carol/7/1/1/bob"]);
    expect(leases({ owner })).toEqual(["alice/1/1/1/bob"]);
    expect(leases({ owner, state: "insufficient_funds" })).toEqual([]);
    expect(() => leases({ state: "matched" })).toThrow(/write active, insufficient_funds or closed/);
    expect(() => orders({ state: "invalid" })).toThrow(/write open, active or closed/);
    expect(() => orders({ owner: "alice" })).toThrow(/invalid/);
    expect(() => chain.query(Query.method.order, { id: orderOf(id, 9) })).toThrow(/order not found/);
    const {
      bids: [withDeposit],
    } = chain.query(Query.method.bids, { filters: { provider: bob.address, state: "open" } });
    expect(withDeposit?.escrowAccount).toMatchObject({ balance: coin(MIN_DEPOSIT), id: { scope: "bid" } });
  });

  it("walk pages by key and by offset alike", () => {
    const accounts = ["alice", ...Array.from({ length: 12 }, (_, i) => `p${i}`)];
    const { chain, market, order } = setUp({ accounts: ["alice", "bob", ...accounts.slice(1)] });
    for (const name of accounts.slice(1)) market.bid(chain.key(name), order, "1");
    const ask = (pagination: object) => chain.query(Query.method.bids, { filters: { state: "open" }, pagination });
    const idsOf = ({ bids }: QueryBidsResponse) => bids.map(({ bid }) => bid?.bidId?.provider);
    const whole = ask({ countTotal: true });
    expect(whole.pagination?.total).toBe(12n);
    const byKey = walkPages(ask, idsOf, { limit: 5n });
    const byOffset = [0n, 5n, 10n].flatMap((offset) => idsOf(ask({ offset, limit: 5n })));
    expect([byKey, byOffset]).toEqual([idsOf(whole), idsOf(whole)]);
  });
});
