import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  actionsOf,
  amount,
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
import { DEFAULT_LIMITS, SIZE_LIMITS } from "../../sdl/index.ts";
import { type TestKey, testChain, testKey } from "../../testing/index.ts";
import { toHex } from "../../util/index.ts";
import { Closed_Reason } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { GenesisStateSchema, Group_State, LimitsSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query, type QueryDeploymentsResponse } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import {
  MsgCloseDeploymentSchema,
  MsgCloseGroupSchema,
  MsgCreateDeploymentResponseSchema,
  MsgCreateDeploymentSchema,
  MsgDepositDeploymentSchema,
  MsgPauseGroupSchema,
  MsgStartGroupResponseSchema,
  MsgStartGroupSchema,
  MsgUpdateDeploymentSchema,
} from "../../wire/gen/svc/deployment/v1beta1/tx_pb.js";
import { toJson } from "../../wire/index.ts";
import { defaultParams } from "./params.ts";

/** Minimum deposit of accounts other than the owner. */
const SPONSOR_MIN = 1_000_000n;
const VERSION = new Uint8Array(32).fill(7);

function setUp() {
  const chain = testChain();
  const [alice, bob, carol] = [chain.key("alice"), chain.key("bob"), chain.key("carol")];
  return { chain, market: new TestMarket(chain), alice, bob, carol };
}

type CreateInit = Init<typeof MsgCreateDeploymentSchema>;

function createMessage(owner: string, change: CreateInit = {}) {
  return create(MsgCreateDeploymentSchema, {
    id: { owner, dseq: 5n },
    groups: [groupSpec("web")],
    version: VERSION,
    deposit: coin(MIN_DEPOSIT),
    ...change,
  });
}

describe("creating a deployment", () => {
  it("stores it active, opens an order for each group and takes the deposit", () => {
    const { chain, market, alice } = setUp();
    const before = chain.balance(alice.address);
    const message = createMessage(alice.address, { groups: [groupSpec("web"), groupSpec("db")] });
    const sent = chain.mustSend(message, { from: alice });
    const id = { owner: alice.address, dseq: 5n };
    expect(sent.response(MsgCreateDeploymentResponseSchema).id).toMatchObject(id);
    expect(chain.balance(alice.address)).toBe(before - MIN_DEPOSIT);
    expect(market.deployment(id).isActive).toBe(true);
    expect(market.deployment(id).groups.map(({ state }) => state)).toEqual([Group_State.open, Group_State.open]);
    expect(market.order(orderOf(id, 2)).spec?.name).toBe("db");
    expect(market.order(orderOf(id)).expiresAt).toBe(sent.height + 14_400n);
    expect(market.account(id)).toMatchObject({ balance: coin(MIN_DEPOSIT), settledAt: sent.height, exhaustsAt: 0n });
  });

  it("emits its events in the order of the specification", () => {
    const { chain, alice } = setUp();
    const sent = chain.mustSend(createMessage(alice.address), { from: alice });
    const shared = { owner: alice.address, dseq: "5" };
    expect(marketEvents(sent).map(({ msg_index, ...event }) => event)).toEqual([
      { module: "deployment", action: "deployment-created", version: toHex(VERSION), ...shared },
      { module: "market", action: "order-created", ...shared, gseq: "1", oseq: "1" },
    ]);
    const logged = sent.logs[0]?.events.find(({ type }) => type === "svc.v1");
    expect(logged?.attributes.slice(0, 3).map(({ key }) => key)).toEqual(["module", "action", "version"]);
  });

  it.each<[string, number, CreateInit]>([
    ["a version that is missing", 9, { version: new Uint8Array(0) }],
    ["31 bytes of version", 10, { version: new Uint8Array(31) }],
    ["no groups", 7, { groups: [] }],
    ["21 groups", 7, { groups: Array.from({ length: 21 }, (_, i) => groupSpec(`g${i}`)) }],
    ["two groups of one name", 25, { groups: [groupSpec("web"), groupSpec("web")] }],
    ["a deposit below the minimum", 20, { deposit: coin(MIN_DEPOSIT - 1n) }],
    ["a deposit in another denomination", 20, { deposit: coin(MIN_DEPOSIT, "stake") }],
    ["a depositor that is no address", 23, { depositor: "svc1qqqsyqcyq5rqwzqfpg9scrgwpugpzysn7hzdtm" }],
    ["dseq 0", 8, { id: { owner: "", dseq: 0n } }],
  ])("refuses %s with code %d", (_, code, change) => {
    const { chain, alice } = setUp();
    const id = change.id === undefined ? {} : { id: { owner: alice.address, dseq: 0n } };
    const sent = chain.send(createMessage(alice.address, { ...change, ...id }), { from: alice });
    expect([sent.codespace, sent.code]).toEqual(["deployment", code]);
  });

  it("refuses a number that was used before, also by a closed deployment", () => {
    const { chain, market, alice, bob } = setUp();
    const id = market.deploy(alice, { dseq: 5n });
    expect(chain.send(createMessage(alice.address), { from: alice })).toMatchObject({
      codespace: "deployment",
      code: 3,
    });
    market.closeDeployment(alice, id);
    expect(chain.send(createMessage(alice.address), { from: alice }).code).toBe(3);
    expect(chain.send(createMessage(bob.address), { from: bob }).code).toBe(0);
    expect(
      chain.send(createMessage(alice.address, { id: { owner: alice.address, dseq: 2n ** 64n - 1n } }), { from: alice })
        .code,
    ).toBe(0);
  });

  it("refuses a deposit larger than the balance and stores nothing", () => {
    const { chain, alice } = setUp();
    const sent = chain.send(createMessage(alice.address, { deposit: coin(10n ** 13n) }), { from: alice });
    expect([sent.codespace, sent.code]).toEqual(["sdk", 5]);
    expect(chain.query(Query.method.deployments, {}).deployments).toEqual([]);
  });
});

describe("the limits of groups", () => {
  const row = resourceRow();
  const units = row.resources ?? {};
  const withUnits = (change: object): GroupInit => ({
    ...groupSpec("g"),
    resources: [{ ...row, resources: { ...units, ...change } }],
  });
  const withRow = (change: object): GroupInit => ({ ...groupSpec("g"), resources: [{ ...row, ...change }] });
  const MIB = 1n << 20n;
  const TIB = 1n << 40n;
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ key: `key${i}`, value: "" }));

  const refused: [string, number, GroupInit][] = [
    ["a name of 65 characters", 19, { ...groupSpec("x".repeat(65)) }],
    ["no name", 19, groupSpec("")],
    ["no rows", 19, { ...groupSpec("g"), resources: [] }],
    ["21 rows", 19, { ...groupSpec("g"), resources: Array.from({ length: 21 }, (_, i) => resourceRow({ id: i + 1 })) }],
    ["two rows of one id", 19, { ...groupSpec("g"), resources: [row, row] }],
    ["a row without an id", 19, withUnits({ id: 0 })],
    ["9 thousandths of a core", 19, withUnits({ cpu: { units: amount(9) } })],
    ["384001 thousandths", 19, withUnits({ cpu: { units: amount(384_001) } })],
    ["no processor", 19, withUnits({ cpu: {} })],
    ["less than 1 MiB of memory", 19, withUnits({ memory: { quantity: amount(MIB - 1n) } })],
    ["more than 2 TiB of memory", 19, withUnits({ memory: { quantity: amount(2n * TIB + 1n) } })],
    ["less than 5 MiB of storage", 19, withUnits({ storage: [{ quantity: amount(5n * MIB - 1n) }] })],
    ["more than 32 TiB of storage", 19, withUnits({ storage: [{ quantity: amount(32n * TIB + 1n) }] })],
    ["no storage", 19, withUnits({ storage: [] })],
    [
      "two volumes of one name",
      19,
      withUnits({ storage: [{ quantity: amount(5n * MIB) }, { quantity: amount(5n * MIB) }] }),
    ],
    ["25 graphics processors", 19, withUnits({ gpu: { units: amount(25) } })],
    [
      "attributes of no graphics processor",
      19,
      withUnits({ gpu: { attributes: [{ key: "vendor/nvidia", value: "true" }] } }),
    ],
    ["letters as an amount", 19, withUnits({ cpu: { units: { val: Uint8Array.from([0x31, 0x65]) } } })],
    ["an amount of 1000 digits", 19, withUnits({ cpu: { units: amount(10n ** 1000n) } })],
    ["no replicas", 19, withRow({ count: 0 })],
    ["51 replicas", 19, withRow({ count: 51 })],
    ["a price of 0", 24, withRow({ price: price("0") })],
    ["a price above 10000000", 24, withRow({ price: price("10000000.000000000000000001") })],
    ["no price", 24, withRow({ price: { denom: "utoken", amount: "" } })],
    ["a negative price", 24, withRow({ price: { denom: "utoken", amount: "-1" } })],
    ["a price in another denomination", 24, withRow({ price: price("1", "stake") })],
    [
      "the total of 50 replicas",
      19,
      withRow({
        count: 50,
        resources: { ...units, storage: [1, 2].map((i) => ({ name: `v${i}`, quantity: amount(32n * TIB) })) },
      }),
    ],
    ["a broken attribute key", 19, { ...groupSpec("g"), requirements: { attributes: [{ key: "1x", value: "" }] } }],
    [
      "an attribute twice",
      19,
      { ...groupSpec("g"), requirements: { attributes: [1, 2].map(() => ({ key: "region", value: "eu" })) } },
    ],
    [
      "a value of 257 bytes",
      19,
      { ...groupSpec("g"), requirements: { attributes: [{ key: "region", value: "x".repeat(257) }] } },
    ],
    [
      "17 volumes",
      19,
      withUnits({ storage: Array.from({ length: 17 }, (_, i) => ({ name: `v${i}`, quantity: amount(512 << 20) })) }),
    ],
    ["a volume of 65 characters", 19, withUnits({ storage: [{ name: "v".repeat(65), quantity: amount(512 << 20) }] })],
    ["65 endpoints", 19, withUnits({ endpoints: Array.from({ length: 65 }, () => ({ kind: 1 })) })],
    ["65 attributes of the memory", 19, withUnits({ memory: { quantity: amount(MIB), attributes: numbered(65) } })],
    ["65 attributes", 19, { ...groupSpec("g"), requirements: { attributes: numbered(65) } }],
    [
      "17 auditors",
      19,
      { ...groupSpec("g"), requirements: { signedBy: { anyOf: Array(17).fill(testKey("auditor").address) } } },
    ],
    [
      "more than 16 KiB",
      19,
      {
        ...groupSpec("g"),
        requirements: { attributes: numbered(64).map((each) => ({ ...each, value: "x".repeat(256) })) },
      },
    ],
    ["an auditor that is not an address", 19, { ...groupSpec("g"), requirements: { signedBy: { anyOf: ["bob"] } } }],
  ];

  it.each(refused)("refuse %s with code %d", (_, code, group) => {
    const { chain, alice } = setUp();
    const sent = chain.send(createMessage(alice.address, { groups: [group] }), { from: alice });
    expect([sent.codespace, sent.code, sent.log.includes("groups[0]")]).toEqual(["deployment", code, true]);
  });

  it("accept every bound itself", () => {
    const { chain, alice } = setUp();
    const most = withRow({
      count: 50,
      price: price("10000000"),
      resources: {
        ...units,
        cpu: { units: amount(384_000) },
        memory: { quantity: amount(2n * TIB) },
        storage: [{ quantity: amount(32n * TIB) }],
        gpu: { units: amount(24), attributes: [{ key: "vendor/nvidia/model/*", value: "true" }] },
      },
    });
    const least = withRow({
      price: price("0.000000000000000001"),
      resources: {
        ...units,
        cpu: { units: amount(10) },
        memory: { quantity: amount(MIB) },
        storage: [{ quantity: amount(5n * MIB) }],
        gpu: undefined,
      },
    });
    const rows = Array.from({ length: 20 }, (_, i) => resourceRow({ id: i + 1 }));
    const groups = [
      { ...most, name: "x".repeat(64) },
      { ...least, name: "b" },
      { ...groupSpec("c"), resources: rows },
    ];
    expect(chain.mustSend(createMessage(alice.address, { groups }), { from: alice }).code).toBe(0);
  });
});

describe("adding money", () => {
  it("takes it from the owner or from anybody who signs, and refunds each", () => {
    const { chain, market, alice, carol } = setUp();
    const before = [chain.balance(alice.address), chain.balance(carol.address)];
    const id = market.deploy(alice, { dseq: 5n });
    expect(actionsOf(market.deposit(alice, id, 10n))).toEqual(["deployment-deposited"]);
    const [event] = marketEvents(market.deposit(carol, id, SPONSOR_MIN));
    expect(event).toMatchObject({
      depositor: carol.address,
      amount: `${SPONSOR_MIN}utoken`,
      balance: `${MIN_DEPOSIT + 10n + SPONSOR_MIN}utoken`,
    });
    expect(market.account(id).deposits.map(({ depositor, remaining }) => [depositor, remaining?.amount])).toEqual([
      [alice.address, `${MIN_DEPOSIT + 10n}`],
      [carol.address, `${SPONSOR_MIN}`],
    ]);
    market.closeDeployment(alice, id);
    expect([chain.balance(alice.address), chain.balance(carol.address)]).toEqual(before);
  });

  it("is refused for nothing, another denomination, a closed or an unknown deployment", () => {
    const { chain, market, alice } = setUp();
    const id = market.deploy(alice, { dseq: 5n });
    const send = (change: Init<typeof MsgDepositDeploymentSchema>) =>
      chain.send(create(MsgDepositDeploymentSchema, { id, amount: coin(1n), ...change }), { from: alice });
    expect(send({ amount: coin(0n) })).toMatchObject({ codespace: "sdk", code: 10 });
    expect(send({ amount: coin(1n, "stake") })).toMatchObject({ codespace: "deployment", code: 20 });
    expect(send({ id: { ...id, dseq: 6n } })).toMatchObject({ codespace: "deployment", code: 4 });
    market.closeDeployment(alice, id);
    expect(send({})).toMatchObject({ codespace: "deployment", code: 5 });
  });

  it("takes the money of 100 strangers at a time and always the owner's and that of those who are there", () => {
    const accounts = ["alice", ...Array.from({ length: 101 }, (_, i) => `s${i}`)];
    const chain = testChain({ accounts });
    const market = new TestMarket(chain);
    const id = market.deploy(chain.key("alice"), { dseq: 5n });
    const strangers = accounts.slice(1).map((name) => chain.key(name));
    const deposit = (from: TestKey) =>
      chain.sign(create(MsgDepositDeploymentSchema, { id, amount: coin(SPONSOR_MIN), depositor: from.address }), {
        from,
      });
    const results = chain.block(strangers.map(deposit));
    expect(results.filter(({ code }) => code === 0)).toHaveLength(100);
    expect(results.at(-1)).toMatchObject({ codespace: "escrow", code: 16 });
    expect(market.deposit(chain.key("alice"), id, 1n).code).toBe(0);
    const [first, second] = strangers;
    if (first === undefined || second === undefined) throw new Error("there are a hundred and one");
    expect(chain.block([deposit(first), deposit(second)]).map(({ code }) => code)).toEqual([0, 0]);
  });

  it("is one entry a depositor however often two take turns, so that they lock nobody out", () => {
    const chain = testChain({ accounts: ["alice", "bob", "carol", "dave"] });
    const market = new TestMarket(chain);
    const id = market.deploy(chain.key("alice"), { dseq: 5n });
    const [bob, carol, dave] = [chain.key("bob"), chain.key("carol"), chain.key("dave")];
    for (let turn = 0; turn < 60; turn++) {
      for (const from of [bob, carol]) market.deposit(from, id, SPONSOR_MIN);
    }
    expect(market.deposit(dave, id, SPONSOR_MIN).code).toBe(0);
    expect(market.account(id).deposits.map(({ depositor }) => depositor)).toEqual(
      [chain.key("alice"), bob, carol, dave].map(({ address }) => address),
    );
  });

  it("is refused for dust of others than the owner, who may add any amount", () => {
    const { chain, market, alice, carol } = setUp();
    const id = market.deploy(alice, { dseq: 5n });
    const send = (from: TestKey, amount: bigint) =>
      chain.send(create(MsgDepositDeploymentSchema, { id, amount: coin(amount), depositor: from.address }), { from });
    const dust = send(carol, SPONSOR_MIN - 1n);
    expect(dust).toMatchObject({ codespace: "deployment", code: 20 });
    expect(dust.log).toContain("999999utoken: the minimum for accounts other than the owner is 1000000utoken");
    expect(send(carol, SPONSOR_MIN).code).toBe(0);
    expect(send(alice, 1n).code).toBe(0);
  });
});

describe("updating", () => {
  it("replaces the version, refuses the same one and a closed deployment", () => {
    const { chain, market, alice } = setUp();
    const id = market.deploy(alice, { dseq: 5n });
    const send = (version: Uint8Array<ArrayBuffer>) =>
      chain.send(create(MsgUpdateDeploymentSchema, { id, version }), { from: alice });
    const [event] = marketEvents(send(VERSION));
    expect(event).toMatchObject({ action: "deployment-updated", version: toHex(VERSION) });
    expect(send(VERSION)).toMatchObject({ codespace: "deployment", code: 10 });
    expect(send(new Uint8Array(33))).toMatchObject({ codespace: "deployment", code: 10 });
    market.closeDeployment(alice, id);
    expect(send(new Uint8Array(32))).toMatchObject({ codespace: "deployment", code: 5 });
  });
});

describe("closing", () => {
  it("ends groups, orders, bids and leases, pays, and returns every deposit", () => {
    const { chain, market, alice, bob, carol } = setUp();
    market.register(bob, carol);
    const before = [alice, bob, carol].map(({ address }) => chain.balance(address));
    const id = market.deploy(alice, { dseq: 5n, groups: [groupSpec("web"), groupSpec("db")] });
    const lease = market.leased(alice, orderOf(id), { provider: bob, price: "0.7" });
    market.bid(carol, orderOf(id, 2), "1");
    chain.nextBlock(8);
    const sent = market.closeDeployment(alice, id);
    expect(actionsOf(sent)).toEqual([
      "lease-closed",
      "bid-closed",
      "order-closed",
      "group-closed",
      "order-closed",
      "group-closed",
      "deployment-closed",
    ]);
    expect(marketEvents({ events: chain.blockEvents })).toMatchObject([{ action: "bid-closed", reason: "owner" }]);
    // Ten blocks at 0.7.
    const after = [alice, bob, carol].map(({ address }) => chain.balance(address));
    expect(after.map((each, i) => each - (before[i] ?? 0n))).toEqual([-7n, 7n, 0n]);
    expect(market.leaseOf(lease)).toMatchObject({ closedOn: sent.height, closeReason: Closed_Reason.owner });
    expect(market.account(id)).toMatchObject({ state: 2, balance: coin(0n), transferred: coin(7n), deposits: [] });
    expect(market.closeDeployment(alice, id)).toMatchObject({ codespace: "deployment", code: 5 });
  });

  it("refuses a deployment that is unknown or another's", () => {
    const { chain, market, alice, bob } = setUp();
    const id = market.deploy(alice, { dseq: 5n });
    expect(market.closeDeployment(alice, { ...id, dseq: 6n })).toMatchObject({ codespace: "deployment", code: 4 });
    const stolen = chain.send(create(MsgCloseDeploymentSchema, { id }), { from: bob });
    expect(stolen.code).not.toBe(0);
    expect(market.deployment(id).isActive).toBe(true);
  });
});

describe("a group", () => {
  const setUpGroup = (options: { groups?: GroupInit[] } = {}) => {
    const parts = setUp();
    const id = parts.market.deploy(parts.alice, { dseq: 5n, ...options });
    const group = { ...id, gseq: 1 };
    const { chain, alice: from } = parts;
    return {
      ...parts,
      id,
      pause: () => chain.send(create(MsgPauseGroupSchema, { id: group }), { from }),
      start: () => chain.send(create(MsgStartGroupSchema, { id: group }), { from }),
      close: (gseq = 1) => chain.send(create(MsgCloseGroupSchema, { id: { ...id, gseq } }), { from }),
      state: () => parts.market.deployment(id).groups[0]?.state,
    };
  };

  it("is paused and started again with the next order", () => {
    const { market, id, pause, start, state } = setUpGroup();
    expect(actionsOf(pause())).toEqual(["order-closed", "group-paused"]);
    expect(state()).toBe(Group_State.paused);
    expect(market.deployment(id).groups[0]).toMatchObject({ closeReason: Closed_Reason.owner });
    expect(pause()).toMatchObject({ codespace: "deployment", code: 17 });
    const started = start();
    expect(actionsOf(started)).toEqual(["group-started", "order-created"]);
    expect(started.response(MsgStartGroupResponseSchema).oseq).toBe(2);
    expect(market.deployment(id).groups[0]).toMatchObject({ state: Group_State.open, closedOn: 0n, closeReason: 0 });
    expect(start()).toMatchObject({ codespace: "deployment", code: 16 });
  });

  it("is closed for good, and the last one closes the deployment", () => {
    const { chain, market, alice, id, close, start, pause } = setUpGroup({ groups: [groupSpec("a"), groupSpec("b")] });
    const before = chain.balance(alice.address);
    expect(actionsOf(close())).toEqual(["order-closed", "group-closed"]);
    expect([close().code, start().code, pause().code]).toEqual([15, 15, 15]);
    expect(market.deployment(id).isActive).toBe(true);
    expect(actionsOf(close(2))).toEqual(["order-closed", "group-closed", "deployment-closed"]);
    expect(market.deployment(id).isActive).toBe(false);
    expect(chain.balance(alice.address)).toBe(before + MIN_DEPOSIT);
  });

  it("does nothing once the deployment is closed, and must exist", () => {
    const { market, alice, id, close, start, pause } = setUpGroup();
    expect(close(2)).toMatchObject({ codespace: "deployment", code: 14 });
    expect(close(0)).toMatchObject({ codespace: "deployment", code: 13 });
    market.closeDeployment(alice, id);
    expect([close().code, start().code, pause().code]).toEqual([5, 5, 5]);
  });

  it("starts only with money for its first blocks", () => {
    const { market, alice, id, pause, start } = setUpGroup({ groups: [groupSpec("dear", { price: "50001" })] });
    pause();
    expect(start()).toMatchObject({ codespace: "escrow", code: 4 });
    expect(start().log).toContain("needs 5000100utoken for 100 blocks at 50001utoken a block and holds 5000000utoken");
    market.deposit(alice, id, 100n);
    expect(start().code).toBe(0);
  });
});

describe("queries", () => {
  it("find deployments by owner, number and state, page by page", () => {
    const { chain, market, alice, bob } = setUp();
    for (const dseq of [3n, 1n, 2n]) market.deploy(alice, { dseq });
    market.deploy(bob, { dseq: 2n });
    market.closeDeployment(alice, { owner: alice.address, dseq: 1n });
    const ask = (filters: object, pagination: object = {}) =>
      chain.query(Query.method.deployments, { filters, pagination });
    const namesOf = ({ deployments }: QueryDeploymentsResponse) =>
      deployments.map(({ deployment }) => {
        const { owner, dseq } = deployment?.deploymentId ?? {};
        return `${owner === alice.address ? "alice" : "bob"}/${dseq}`;
      });
    const list = (filters: object) => namesOf(ask(filters));
    expect(list({ owner: alice.address })).toEqual(["alice/1", "alice/2", "alice/3"]);
    expect(list({ owner: alice.address, state: "active" })).toEqual(["alice/2", "alice/3"]);
    expect(list({ owner: alice.address, dseq: 1n, state: "active" })).toEqual([]);
    expect(list({ state: "closed" })).toEqual(["alice/1"]);
    expect(list({ dseq: 2n }).sort()).toEqual(["alice/2", "bob/2"]);
    expect(list({ dseq: 1n, state: "closed" })).toEqual(["alice/1"]);
    const seen = walkPages((pagination) => ask({}, pagination), namesOf);
    expect(seen).toEqual(list({}));
    expect(seen).toHaveLength(4);
    expect(() => list({ state: "paused" })).toThrow(/write active or closed/);
    expect(() => chain.query(Query.method.deployment, { id: { owner: alice.address, dseq: 9n } })).toThrow(/not found/);
    expect(chain.query(Query.method.params, {}).params?.minDeposits).toMatchObject([coin(MIN_DEPOSIT)]);
  });
});

describe("the limits of a genesis", () => {
  const begin = (change: object) => {
    const params = defaultParams();
    const limits = create(LimitsSchema, { ...DEFAULT_LIMITS, ...change });
    const state = create(GenesisStateSchema, { params: { ...params, limits } });
    return () => testChain({ genesis: { deployment: toJson(GenesisStateSchema, state) } });
  };

  it("may be others, and hold from the start", () => {
    const chain = begin({ unitVolumesMax: 1, groupBytesMax: 100 })();
    const sent = chain.send(createMessage(chain.key("alice").address), { from: chain.key("alice") });
    expect(sent).toMatchObject({ codespace: "deployment", code: 19, log: expect.stringContaining("at most 100 are") });
  });

  it.each(Object.entries(SIZE_LIMITS))("bound %s", (name, { most }) => {
    for (const value of [0, most + 1])
      expect(begin({ [name]: value })).toThrow(/limits\.\w+ is \d+, allowed are [12] to/);
    expect(begin({ [name]: most })).not.toThrow();
  });
});

describe("the gas of a message", () => {
  it("leaves room for two groups with twenty rows below the default of a transaction", () => {
    const { chain, alice } = setUp();
    const groups = Array.from({ length: 2 }, (_, g) => ({
      ...groupSpec(`group-${g}`),
      resources: Array.from({ length: 10 }, (_, i) => resourceRow({ id: i + 1, price: "1234.5678" })),
    }));
    const fee = [{ denom: "utoken", amount: 5000n }];
    const sent = chain.send(createMessage(alice.address, { groups }), { from: alice, gas: 200_000n, fee });
    expect([sent.code, sent.log.slice(0, 200)]).toEqual([0, sent.log.slice(0, 200)]);
    expect(sent.gasUsed).toBeLessThan(200_000n);
  });
});
