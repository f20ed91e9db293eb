import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { OrderRecord } from "../../client/index.ts";
import { DEC_ONE, type IntCoin, type Logger, parseDec, silentLogger, toUtf8 } from "../../util/index.ts";
import { type Attribute, AttributeSchema, Endpoint_Kind } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import type { OrderKey } from "../../wire/index.ts";
import { groupNeeds } from "../inventory/index.ts";
import { Inventory } from "../inventory/inventory.ts";
import { type Meter, NO_METER } from "../metrics/index.ts";
import { Rejected } from "../outbox/outbox.ts";
import { parseScales, scalePricing } from "../pricing/index.ts";
import { HOST_REASONS, ORDER_REASONS } from "../reasons.ts";
import { MAX_BIDS } from "./limits.ts";
import type { OrderChain } from "./options.ts";
import { OrderService } from "./service.ts";
import { marketEvents } from "./stages/watch.ts";

const US = "svc1provider";
const tier = create(AttributeSchema, { key: "tier", value: "gold" });
const id: OrderKey = { owner: "svc1tenant", dseq: 5n, gseq: 1, oseq: 1 };
const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });

function spec(change: { cpu?: bigint; memory?: bigint; price?: string; required?: string } = {}): GroupSpec {
  return create(GroupSpecSchema, {
    name: "g",
    requirements: { attributes: change.required === undefined ? [] : [{ key: change.required, value: "x" }] },
    resources: [
      {
        resources: {
          id: 1,
          cpu: { units: val(change.cpu ?? 100n) },
          memory: { quantity: val(change.memory ?? 1n << 26n) },
          storage: [{ name: "default", quantity: val(1n << 26n) }],
          gpu: { units: val(0n) },
          endpoints: [{ kind: Endpoint_Kind.SHARED_HTTP }],
        },
        count: 1,
        price: { denom: "utoken", amount: parseDec(change.price ?? "10").toString() },
      },
    ],
  });
}

interface ChainAnswers {
  state: OrderRecord["state"];
  group: GroupSpec;
  bid: { state: "open" | "active" | "lost" | "closed" } | undefined;
  /** Prices of other providers' open bids. */
  bids: readonly string[];
  balance: bigint;
  fee: IntCoin;
  fail: Error | undefined;
  refuse: Rejected | undefined;
  tenantAttributes: readonly Attribute[];
  /** Questions about bids that fail from now on, and the most questions about orders at once. */
  bidFails?: number;
  atOnce?: number;
  /** The chain's reaction to a withdrawal of the bid. */
  withdrawal?: () => Promise<void>;
  /** Balance that each bid uses. */
  spends?: bigint;
  keep?: bigint;
  retryMs?: number;
  meter?: Meter;
  /** The disk's reaction to writing reservations. */
  disk?: () => void;
}

let current: OrderService | undefined;

function setUp(
  change: Partial<ChainAnswers> = {},
  bidTimeoutMs = 60_000,
  obstacle: () => string | undefined = () => undefined,
) {
  const answers: ChainAnswers = {
    state: "open",
    group: spec(),
    bid: undefined,
    bids: [],
    balance: 6_000_000n,
    fee: { denom: "utoken", amount: 1000n },
    fail: undefined,
    refuse: undefined,
    tenantAttributes: [],
    ...change,
  };
  const said: string[] = [];
  const note = (message: string) => void said.push(message);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => log };
  const questions: string[] = [];
  const sent: string[] = [];
  const won: OrderKey[] = [];
  const price = { denom: "utoken", amount: DEC_ONE };
  let asking = 0;
  const order = () => ({ id, spec: answers.group, createdAt: 1n, expiresAt: 100n, state: answers.state });
  const chain: OrderChain = {
    openOrders: async () => ({ ids: answers.state === "open" ? [order().id] : [], isWhole: true }),
    order: async () => {
      if (answers.fail !== undefined) throw answers.fail;
      asking += 1;
      answers.atOnce = Math.max(answers.atOnce ?? 0, asking);
      await new Promise((resolve) => setImmediate(resolve));
      asking -= 1;
      return order();
    },
    bid: async () => {
      if (answers.bidFails !== undefined && answers.bidFails > 0) {
        answers.bidFails -= 1;
        throw new Error("connection refused");
      }
      return answers.bid === undefined
        ? undefined
        : { id: { ...id, provider: "svc1provider" }, state: answers.bid.state, price, createdAt: 1n };
    },
    openBidPrices: async () => answers.bids.map(parseDec),
    marketParams: async () => ({ orderMaxBids: 20, bidMinDeposits: [] }),
    offer: async () => ({
      attributes: [],
      signedBy: () => [],
      tenantAttributes: answers.tenantAttributes,
      gpus: false,
      leasedIps: false,
      leastMemory: 6n << 20n,
    }),
    balance: async (denom) => {
      questions.push(denom);
      return answers.balance;
    },
  };
  const ledger = { record: () => {}, durable: async () => answers.disk?.() };
  const inventory = new Inventory({ overcommit: { cpu: 0, memory: 0, storage: 0 }, portQuantity: 10, ledger });
  const storage = [{ classes: "all" as const, bytes: 1n << 30n }];
  inventory.observe({ nodes: [{ name: "host", cpu: 1000n, memory: 1n << 30n, storage, gpus: [] }], storage: [] });
  const service = new OrderService({
    provider: US,
    chain,
    inventory,
    pricing: scalePricing(parseScales({ cpu: "0.01", memory: "0", storage: "0", endpoint: "0", ip: "0" })),
    send: async (_, label) => {
      sent.push(label);
      if (answers.refuse !== undefined) throw answers.refuse;
      if (label.startsWith("close")) await answers.withdrawal?.();
      else {
        await new Promise((resolve) => setImmediate(resolve));
        answers.balance -= answers.spends ?? 0n;
      }
      return 2n;
    },
    log,
    obstacle: async () => {
      const text = obstacle();
      return text === undefined ? undefined : { reason: "firewall", text };
    },
    deposit: { denom: "utoken", amount: 5_000_000n },
    fee: answers.fee,
    ...(answers.keep === undefined ? {} : { keep: { denom: "utoken", amount: answers.keep } }),
    ...(answers.meter === undefined ? {} : { meter: answers.meter }),
    bidTimeoutMs,
    retryMs: answers.retryMs ?? 5,
    onWon: (each) => won.push(each),
  });
  current = service;
  const passes = setInterval(() => service.pass(), 1);
  onTestFinished(() => clearInterval(passes));
  return { answers, service, inventory, sent, won, said, questions };
}

/** Turns of the event loop in which all that waits goes on, beside the time: a busy machine may have used that up asleep. */
const TURNS = 50;

async function settled(ms = 20): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const created = { action: "order-created", id, attributes: new Map() };
const text = "svc1tenant/5/1/1";

describe("orders", () => {
  it("bids on an order that fits, and keeps the reservation when the lease is won", async () => {
    const { service, sent, won, inventory } = setUp();
    service.onEvent(created);
    await vi.waitFor(() => expect(service.status()).toMatchObject([{ phase: "open", price: DEC_ONE }]), 30_000);
    expect(sent).toEqual([`bid ${text}`]);
    service.onEvent({ action: "lease-created", id: { ...id, provider: US }, attributes: new Map() });
    expect(won).toEqual([{ ...id, provider: US }]);
    expect(inventory.all()).toMatchObject([{ order: text, state: "active" }]);
    service.onEvent({ action: "order-closed", id, attributes: new Map() });
    expect(inventory.has(text)).toBe(true);
    expect(service.find(id)?.reason).toBeUndefined();
    service.onEvent({ action: "lease-closed", id: { ...id, provider: "svc1other" }, attributes: new Map() });
    expect(service.find(id)?.reason).toBeUndefined();
    service.onEvent({ action: "lease-closed", id: { ...id, provider: US }, attributes: new Map() });
    expect(service.find(id)).toMatchObject({ phase: "won", reason: "its lease has ended" });
    service.stop();
  });

  it.each([
    ["bid", {}, { price: DEC_ONE }],
    ["declined", { group: spec({ cpu: 2000n }) }, { declined: expect.stringContaining("insufficient capacity") }],
  ] as const)("tells the operator who got an order on which it has %s, and at which price", async (_, change, ours) => {
    const { service } = setUp(change);
    service.onEvent(created);
    await settled();
    const attributes = new Map([["price-amount", "0.500000000000000000"]]);
    service.onEvent({ action: "lease-created", id: { ...id, provider: "svc1other" }, attributes });
    const winner = { provider: "svc1other", price: DEC_ONE / 2n };
    expect(service.entries()).toMatchObject([{ phase: "lost", reason: "lease lost", winner, ...ours }]);
    expect(service.find(id)).not.toHaveProperty("winner");
    service.stop();
  });

  it.each([
    ["lease-created", { ...id, provider: "svc1other" }, "lost"],
    ["bid-lost", { ...id, provider: US }, "lost"],
    ["order-closed", id, "closed"],
  ] as const)("gives the reservation back on %s", async (action, each, phase) => {
    const { service, inventory } = setUp();
    service.onEvent(created);
    await settled();
    service.onEvent({ action, id: each, attributes: new Map() });
    expect(service.status()[0]?.phase).toBe(phase);
    expect(inventory.has(text)).toBe(false);
  });

  it.each([
    [{ group: spec({ required: "region" }) }, "requires attribute region=x"],
    [{ group: spec({ cpu: 2000n }) }, "insufficient capacity: cpu 2000m"],
    [{ group: spec({ memory: 1n << 20n }) }, "less memory than a container needs: at least 6Mi"],
    [{ group: spec({ price: "0.5" }) }, "our price 1utoken per block is above the order's 0.5utoken"],
    [{ bids: Array(20).fill("1") }, "20 open bids already, none of them dearer than ours"],
    [
      { balance: 5_000_000n },
      "the provider has 5000000utoken, a bid takes a deposit of 5000000utoken and a fee of 1000utoken: fund",
    ],
    [{ tenantAttributes: [tier] }, "this provider serves only orders that ask for tier=gold"],
    [{ state: "active" as const }, "the order is active"],
    [
      { refuse: new Rejected({ code: 5, codespace: "market", log: "attribute mismatch" }) },
      "the chain refused the bid: attribute mismatch",
    ],
  ])("says why it does not bid: %o", async (change, reason) => {
    const { service, inventory } = setUp(change);
    service.onEvent(created);
    await expect.poll(() => service.find(id)?.phase).toBe("refused");
    expect(service.find(id)?.reason).toContain(reason);
    service.stop();
    await expect.poll(() => inventory.has(text)).toBe(false);
  });

  it.each([
    [{ group: spec({ required: "region" }) }, true],
    [{ group: spec({ price: "0.5" }) }, true],
    [{ group: spec({ cpu: 2000n }) }, true],
    [{ group: spec({ memory: 1n << 20n }) }, true],
    [{ refuse: new Rejected({ code: 5, codespace: "market", log: "attribute mismatch" }) }, true],
    [{ refuse: new Rejected({ code: 5, codespace: "sdk", log: "insufficient funds" }) }, undefined],
    [{ refuse: new Rejected({ code: 31, codespace: "market", log: "20 open bids" }) }, undefined],
    [{ bids: Array(20).fill("0.5") }, undefined],
    [{ balance: 0n }, undefined],
  ])("says whether a refusal is final: %o", async (change, final) => {
    const { service } = setUp(change);
    service.onEvent(created);
    const said = () => ({ phase: service.find(id)?.phase, final: service.find(id)?.final });
    await expect.poll(said).toEqual({ phase: "refused", final });
    service.stop();
  });

  it("bids again where a cheaper bid took the place of ours, and holds nothing meanwhile", async () => {
    const { service, inventory } = setUp();
    service.onEvent(created);
    await expect.poll(() => service.find(id)?.phase).toBe("open");
    service.onEvent({ action: "bid-lost", id: { ...id, provider: US }, attributes: new Map([["reason", "outbid"]]) });
    expect(service.find(id)).toMatchObject({ phase: "refused", reason: expect.stringContaining("a cheaper bid") });
    expect(inventory.has(text)).toBe(false);
    await expect.poll(() => service.find(id)?.phase).toBe("open");
    expect(inventory.has(text)).toBe(true);
    service.stop();
  });

  it("bids on a full order where another bid is dearer", async () => {
    const { service } = setUp({ bids: [...Array(19).fill("1"), "1.000000000000000001"] });
    service.onEvent(created);
    await expect.poll(() => service.find(id)?.phase).toBe("open");
    service.stop();
  });

  it("has no final word on an order for which others take the room", async () => {
    const { service, inventory } = setUp({ group: spec({ cpu: 500n, price: "100" }) });
    const row = {
      id: 1,
      count: 1n,
      cpu: 900n,
      memory: 0n,
      gpu: 0n,
      gpuKinds: [],
      volumes: [],
      endpoints: 0,
      ports: 0,
      leasedIps: [],
    };
    inventory.reserve("other", [row]);
    service.onEvent(created);
    await settled();
    expect(service.find(id)).toMatchObject({ phase: "refused", reason: expect.stringContaining("insufficient") });
    expect(service.find(id)?.final).toBeUndefined();
    service.stop();
  });

  it("keeps a fee in another denomination free as well", async () => {
    const { service } = setUp({ fee: { denom: "stake", amount: 7_000_000n } });
    service.onEvent(created);
    await settled();
    expect(service.find(id)?.reason).toContain("a deposit of 5000000utoken and a fee of 7000000stake");
    service.stop();
  });

  describe("whose bids nobody takes", () => {
    const TIMEOUT = 300_000;
    const bids = (sent: readonly string[]) => sent.filter((label) => label === `bid ${text}`).length;
    const later = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      for (let turn = 0; turn < TURNS; turn++) {
        current?.pass();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };

    beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] }));
    afterEach(() => void vi.useRealTimers());

    it("get another bid after pauses that grow, up to a number, and hold nothing meanwhile", async () => {
      const { service, sent, inventory } = setUp({}, TIMEOUT);
      service.onEvent(created);
      await later(0);
      for (let count = 1; count < MAX_BIDS; count++) {
        expect([bids(sent), service.find(id)?.phase, inventory.has(text)]).toEqual([count, "open", true]);
        await later(TIMEOUT);
        const pause = 60_000 * 2 ** (count - 1);
        const reason = "nobody accepted its last bid in time";
        expect(service.find(id)).toMatchObject({ phase: "refused", reason, againAt: Date.now() + pause });
        expect(service.find(id)?.final).toBeUndefined();
        expect(inventory.has(text)).toBe(false);
        await later(pause - 1);
        expect(bids(sent)).toBe(count);
        await later(1);
      }
      await later(TIMEOUT);
      const reason = `it bid ${MAX_BIDS} times on this order, and nobody accepted a bid`;
      expect(service.find(id)).toMatchObject({ phase: "refused", reason, final: true });
      await later(2 ** 31 - 1);
      expect([bids(sent), sent.length]).toEqual([MAX_BIDS, 2 * MAX_BIDS]);
      service.stop();
    });

    it("get none while there is no room, and none after their end", async () => {
      const { service, sent, inventory } = setUp({ group: spec({ cpu: 500n, price: "100" }) }, TIMEOUT);
      service.onEvent(created);
      await later(0);
      await later(TIMEOUT);
      inventory.reserve("other", groupNeeds(spec({ cpu: 900n })));
      await later(60_000);
      expect(service.find(id)).toMatchObject({ phase: "refused", reason: expect.stringContaining("insufficient") });
      inventory.release("other");
      service.roomFound();
      await later(1_000);
      expect([bids(sent), service.find(id)?.phase]).toEqual([2, "open"]);
      await later(TIMEOUT);
      service.onEvent({ action: "order-closed", id, attributes: new Map() });
      await later(10 * TIMEOUT);
      expect([bids(sent), service.find(id)?.phase]).toEqual([2, "closed"]);
      service.stop();
    });

    it("get another one where the chain still has the record of a withdrawn bid", async () => {
      const { service, sent } = setUp({ bid: { state: "closed" } }, TIMEOUT);
      await service.catchUp();
      await later(0);
      expect(bids(sent)).toBe(1);
      service.stop();
    });

    it.each([
      ["active", "won", ["active"]],
      ["closed", "refused", []],
      ["lost", "lost", []],
    ] as const)("are looked up on the chain if they could not be withdrawn: %s", async (state, phase, states) => {
      const { service, answers, sent, inventory } = setUp({}, TIMEOUT);
      answers.withdrawal = () => {
        answers.bid = { state };
        return bidNotOpen();
      };
      service.onEvent(created);
      await later(0);
      await later(TIMEOUT);
      expect(service.status()[0]?.phase).toBe(phase);
      expect(sent).toEqual([`bid ${text}`, `close bid ${text}`]);
      expect(inventory.all().map((each) => each.state)).toEqual(states);
      service.stop();
    });

    it("are withdrawn again if they stayed open, once the chain has answered", async () => {
      const { service, answers, sent, inventory } = setUp({}, TIMEOUT);
      let failures = 0;
      answers.withdrawal = async () => {
        failures += 1;
        if (failures > 3) return;
        answers.bid = { state: "open" };
        answers.bidFails = failures === 2 ? 2 : 0;
        throw new Error("out of money");
      };
      service.onEvent(created);
      await later(0);
      for (let tries = 0; tries < 4; tries++) {
        await later(TIMEOUT);
        await later(5);
        await later(5);
      }
      expect(sent.filter((label) => label.startsWith("close"))).toHaveLength(4);
      expect([service.find(id)?.phase, answers.bidFails, inventory.has(text)]).toEqual(["refused", 0, false]);
      service.stop();
    });

    it("keep their bid when the end of an earlier one is heard of late", async () => {
      const { service, answers, sent, inventory } = setUp({}, TIMEOUT);
      const closed = { action: "bid-closed", id: { ...id, provider: US }, attributes: new Map() };
      service.onEvent(created);
      service.onEvent(closed);
      await later(0);
      answers.bid = { state: "open" };
      service.onEvent(closed);
      await later(0);
      expect([service.find(id)?.phase, inventory.has(text), sent.length]).toEqual(["open", true, 1]);
      answers.bid = undefined;
      service.onEvent(closed);
      await later(0);
      expect(service.find(id)).toMatchObject({ phase: "lost", reason: "bid closed" });
      expect(inventory.has(text)).toBe(false);
      service.stop();
    });
  });

  const bidNotOpen = () => Promise.reject(new Rejected({ code: 12, codespace: "market", log: "bid not open" }));

  it("keeps the reservation of a bid that wins while it is being withdrawn", async () => {
    const { service, sent, won, inventory } = setUp({ withdrawal: () => new Promise(() => {}) }, 1);
    service.onEvent(created);
    await expect.poll(() => sent).toEqual([`bid ${text}`, `close bid ${text}`]);
    expect([service.status()[0]?.phase, inventory.has(text)]).toEqual(["withdrawing", true]);
    service.onEvent({ action: "lease-created", id: { ...id, provider: US }, attributes: new Map() });
    expect([service.status()[0]?.phase, won.length]).toEqual(["won", 1]);
    expect(inventory.all()).toMatchObject([{ order: text, state: "active" }]);
    service.stop();
  });

  it("does not bid where its reservation could not be written", async () => {
    const disk = () => {
      throw new Error("ENOSPC");
    };
    const { service, sent, inventory } = setUp({ disk });
    service.onEvent(created);
    await expect.poll(() => service.entries()[0]?.reason).toContain("ENOSPC");
    service.stop();
    await settled();
    expect([sent, inventory.has(text)]).toEqual([[], false]);
  });

  it("never bids below the balance to be kept, however many orders come at once", async () => {
    const bid = 5_001_000n;
    const keep = 2_000_000n;
    const { service, answers, sent } = setUp({ keep, balance: keep + 3n * bid + bid - 1n, spends: bid });
    for (let dseq = 1n; dseq <= 6n; dseq++) service.onEvent({ ...created, id: { ...id, dseq } });
    await expect.poll(() => service.status().filter(({ phase }) => phase === "refused")).toHaveLength(3);
    await expect.poll(() => service.status().filter(({ phase }) => phase === "open")).toHaveLength(3);
    expect(answers.balance).toBe(keep + bid - 1n);
    expect(sent).toHaveLength(3);
    expect(service.status().find(({ phase }) => phase === "refused")?.reason).toContain(
      "2000000utoken stays in the account",
    );
    answers.balance += 1n;
    await expect.poll(() => sent.length).toBe(4);
    service.stop();
  });

  it("withdraws its open bids when it is told to, and counts that as its own wish", async () => {
    const counted: string[] = [];
    const meter = {
      ...NO_METER,
      count: (name: string, labels: object) => void counted.push(name + JSON.stringify(labels)),
    };
    const { service, sent, inventory } = setUp({ meter });
    service.onEvent(created);
    await settled();
    service.withdrawOpen();
    service.withdrawOpen();
    await expect.poll(() => service.find(id)).toMatchObject({ phase: "refused", reason: "it withdrew its last bid" });
    expect(sent).toEqual([`bid ${text}`, `close bid ${text}`]);
    expect(inventory.has(text)).toBe(false);
    expect(counted).toContain('orderComplete{"result":"bid-withdrawn"}');
    service.stop();
  });

  it("asks the chain about a few orders of a burst at a time", async () => {
    const { service, answers } = setUp();
    for (let dseq = 1n; dseq <= 200n; dseq++) service.onEvent({ ...created, id: { ...id, dseq } });
    await expect
      .poll(() => service.status().every(({ phase }) => phase !== "checking"), { timeout: 30_000 })
      .toBe(true);
    expect(answers.atOnce).toBeLessThanOrEqual(16);
    service.stop();
  });

  it("asks again when the chain did not answer", async () => {
    const { service, answers, sent } = setUp({ fail: new Error("connection refused") });
    service.onEvent(created);
    await settled();
    expect(sent).toEqual([]);
    answers.fail = undefined;
    await settled(40);
    expect(sent).toEqual([`bid ${text}`]);
    service.stop();
  });

  it("says once that it cannot afford an order, and bids when money has come", async () => {
    const { service, answers, said, sent, questions, inventory } = setUp({ balance: 0n });
    service.onEvent(created);
    await expect.poll(() => questions.length).toBeGreaterThan(8);
    expect(said).toEqual(["order detected", "declined to bid"]);
    expect(inventory.has(text)).toBe(false);
    answers.balance = 6_000_000n;
    await expect.poll(() => sent).toEqual([`bid ${text}`]);
    expect(said.slice(2, 4)).toEqual(["requesting reservation", "Reservation fulfilled"]);
    service.stop();
  });

  it("asks for the balance once for all orders that wait for money", async () => {
    const { service, questions } = setUp({ balance: 0n });
    for (let dseq = 1n; dseq <= 20n; dseq++) service.onEvent({ ...created, id: { ...id, dseq } });
    await expect.poll(() => questions.length).toBeGreaterThanOrEqual(20);
    const before = questions.length;
    await settled(26);
    expect(questions.length - before).toBeLessThan(10);
    service.stop();
  });

  it("reports once an order whose bid the chain cannot take now, and checks it less and less often", async () => {
    const { service, said } = setUp({ refuse: new Rejected({ code: 5, codespace: "sdk", log: "insufficient funds" }) });
    service.onEvent(created);
    await expect.poll(() => said.filter((each) => each === "submitting fulfillment").length).toBeGreaterThan(2);
    expect(said.filter((each) => each === "requesting reservation")).toHaveLength(1);
    expect(said.filter((each) => each === "Reservation fulfilled")).toHaveLength(1);
    expect(said.filter((each) => each === "declined to bid")).toHaveLength(1);
    service.stop();
  });

  it("bids on nothing while no container can be run, with the reason", async () => {
    let why: string | undefined = "network rules cannot be set";
    const { service, sent } = setUp({}, 60_000, () => why);
    service.onEvent(created);
    await expect.poll(() => service.find(id)?.phase).toBe("refused");
    // Tenants wait, and read nothing of the host.
    expect(service.find(id)).toEqual({
      id,
      phase: "refused",
      reason: HOST_REASONS.firewall.tenant,
      code: "firewall",
      againAt: expect.any(Number),
    });
    expect(service.entries()).toMatchObject([{ reason: "network rules cannot be set", obstacle: "cluster" }]);
    why = undefined;
    await expect.poll(() => sent).toEqual([`bid ${text}`]);
    service.stop();
  });

  it("forgets refusals of long ago, but no order that it will look at again", async () => {
    const { service, answers } = setUp({ fail: new Error("connection refused"), retryMs: 1_000_000_000 });
    service.onEvent(created);
    await settled();
    answers.fail = undefined;
    answers.state = "closed";
    const refused = (dseq: bigint) =>
      expect.poll(() => service.find({ ...id, dseq }), { timeout: 30_000 }).toMatchObject({ phase: "refused" });
    // The number looked at is limited; only answered orders can be removed.
    for (let dseq = 100n; dseq < 2_000n; dseq++) {
      service.onEvent({ ...created, id: { ...id, dseq } });
      if (dseq % 500n === 0n) await refused(dseq);
    }
    service.onEvent({ ...created, id: { ...id, dseq: 2_000n } });
    expect(service.find(id)).toMatchObject({ phase: "refused", reason: ORDER_REASONS.unjudged.tenant });
    expect(service.find({ ...id, dseq: 100n })).toBeUndefined();
    // Besides these the waiting one, and the ones that came since the count.
    expect(service.status().length).toBeLessThanOrEqual(1_502);
  });

  it("bids once room is free again", async () => {
    const { service, inventory, sent } = setUp({ group: spec({ cpu: 500n, price: "100" }) });
    inventory.reserve("other", [
      {
        id: 1,
        count: 1n,
        cpu: 900n,
        memory: 0n,
        gpu: 0n,
        gpuKinds: [],
        volumes: [],
        endpoints: 0,
        ports: 0,
        leasedIps: [],
      },
    ]);
    service.onEvent(created);
    await settled();
    expect(service.status()[0]?.phase).toBe("refused");
    service.release({ ...id, owner: "nobody" });
    inventory.release("other");
    service.roomFound();
    await expect.poll(() => sent).toEqual([`bid ${text}`]);
    service.stop();
  });

  it("bids once the cluster has more, as after its disk was full", async () => {
    const { service, inventory, sent } = setUp();
    const node = (bytes: bigint) => ({
      nodes: [{ name: "host", cpu: 1000n, memory: 1n << 30n, storage: [{ classes: "all" as const, bytes }], gpus: [] }],
      storage: [],
    });
    inventory.observe(node(0n));
    service.onEvent(created);
    await settled();
    expect(service.status()[0]?.phase).toBe("refused");
    inventory.observe(node(1n << 40n));
    service.roomFound();
    await expect.poll(() => sent).toEqual([`bid ${text}`]);
    service.stop();
  });

  it("takes up its bids after a restart instead of bidding twice", async () => {
    const { service, sent, inventory } = setUp({ bid: { state: "open" } });
    await service.catchUp();
    await settled();
    expect(service.status()[0]?.phase).toBe("open");
    expect([sent, inventory.has(text)]).toEqual([[], true]);
    service.stop();
  });

  it("withdraws a bid whose order ended while the bid was on its way", async () => {
    const { service, sent } = setUp();
    service.onEvent(created);
    service.onEvent({ action: "order-closed", id, attributes: new Map() });
    await settled();
    expect(sent.filter((label) => label.startsWith("bid"))).toEqual([]);
  });
});

describe("market events", () => {
  it("reads ids and leaves other events alone", () => {
    const attributes = Object.entries({
      module: "market",
      action: "bid-created",
      owner: "o",
      dseq: "7",
      gseq: "1",
      oseq: "2",
      provider: "p",
    });
    const event = { type: "svc.v1", attributes: attributes.map(([key, value]) => ({ key, value })) };
    const found = marketEvents([
      event,
      { type: "transfer", attributes: [] },
      { type: "svc.v1", attributes: [{ key: "module", value: "cert" }] },
    ]);
    expect(found).toMatchObject([
      { action: "bid-created", id: { owner: "o", dseq: 7n, gseq: 1, oseq: 2, provider: "p" } },
    ]);
  });
});
