import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PLAIN_OFFER } from "../../../test/support/provider/deployment.ts";
import { DEC_ONE, silentLogger, toUtf8 } from "../../util/index.ts";
import { type GroupSpec, GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { MsgCloseBidSchema } from "../../wire/gen/svc/market/v1beta1/tx_pb.js";
import { decodeMessage, encodeAddress, formatOrderId, type LeaseKey, type OrderKey } from "../../wire/index.ts";
import { Inventory, reconcileReservations } from "../inventory/index.ts";
import { type OutMessage, Rejected, type SendOptions, Withdrawn } from "../outbox/index.ts";
import { OrderService } from "./service.ts";

const US = encodeAddress(new Uint8Array(20).fill(1));
const TENANT = encodeAddress(new Uint8Array(20).fill(2));
const ORDERS = 3;
const val = (amount: bigint) => ({ val: toUtf8(amount.toString()) });
const group: GroupSpec = create(GroupSpecSchema, {
  name: "g",
  resources: [
    {
      resources: {
        id: 1,
        cpu: { units: val(100n) },
        memory: { quantity: val(1n << 26n) },
        storage: [{ name: "default", quantity: val(1n << 20n) }],
        gpu: { units: val(0n) },
      },
      count: 1,
      price: { denom: "utoken", amount: (10n * DEC_ONE).toString() },
    },
  ],
});

type BidState = "open" | "active" | "lost" | "closed";

interface Waiting {
  readonly message: OutMessage;
  readonly label: string;
  readonly isWanted: () => boolean;
  readonly resolve: (height: bigint) => void;
  readonly reject: (error: Error) => void;
}

/** The market of one provider's orders: messages wait until a block takes them, and events follow the block. */
class Market {
  readonly bids = new Map<bigint, BidState>();
  readonly closedOrders = new Set<bigint>();
  readonly waiting: Waiting[] = [];
  /** Events of blocks that the provider has not seen yet. */
  readonly events: (() => void)[] = [];
  service: OrderService | undefined;
  /** Leases that ended because the provider withdrew a bid that had won. */
  killed = 0;

  send = (message: OutMessage, label: string, { isWanted = () => true }: SendOptions = {}): Promise<bigint> =>
    new Promise((resolve, reject) => this.waiting.push({ message, label, isWanted, resolve, reject }));

  /** The tenant acts: takes the bid if it is open, or gives the order up. */
  tenant(dseq: bigint, act: "take" | "cancel"): void {
    if (act === "take" && this.bids.get(dseq) === "open") {
      this.bids.set(dseq, "active");
      this.#tell("lease-created", dseq);
    } else if (act === "cancel" && this.bids.get(dseq) !== "active" && !this.closedOrders.has(dseq)) {
      this.closedOrders.add(dseq);
      if (this.bids.get(dseq) === "open") {
        this.bids.set(dseq, "closed");
        this.#tell("bid-closed", dseq);
      }
      this.#tell("order-closed", dseq);
    }
  }

  /** A block takes the first message that waits. */
  block(): void {
    const next = this.waiting.shift();
    if (next === undefined) return;
    if (!next.isWanted()) {
      next.reject(new Withdrawn(next.label));
      return;
    }
    const dseq = BigInt(next.label.split("/")[1] ?? "0");
    const refusal = next.label.startsWith("bid") ? this.#bid(dseq) : this.#close(next.message, dseq);
    if (refusal === undefined) this.events.push(() => next.resolve(1n));
    else this.events.push(() => next.reject(refusal));
  }

  /** The chain that the ledger is compared with; answers come a moment after the question. */
  reader(): Parameters<typeof reconcileReservations>[0]["chain"] {
    const later = <T>(answer: () => T) => new Promise<T>((resolve) => setImmediate(() => resolve(answer())));
    const price = { denom: "utoken", amount: DEC_ONE };
    const lease = (dseq: bigint) => ({ id: bidId(dseq), state: "active" as const, price, ...TIMES });
    return {
      activeLeases: () => later(() => [...this.bids].flatMap(([dseq, is]) => (is === "active" ? [lease(dseq)] : []))),
      bid: (id) =>
        later(() => {
          const state = this.bids.get(id.dseq);
          return state && { id, state, price, createdAt: 1n };
        }),
      group: async ({ gseq }) => ({ gseq, state: "open", spec: group, createdAt: 1n, closeReason: "" }),
    };
  }

  /** The provider sees the next thing that blocks hold, in order. */
  see(): void {
    this.events.shift()?.();
  }

  #bid(dseq: bigint): Rejected | undefined {
    if (this.closedOrders.has(dseq)) return new Rejected({ code: 13, codespace: "market", log: "order closed" });
    const state = this.bids.get(dseq);
    if (state !== undefined) return new Rejected({ code: 21, codespace: "market", log: `bid is ${state}` });
    this.bids.set(dseq, "open");
    return undefined;
  }

  #close({ value }: OutMessage, dseq: bigint): Rejected | undefined {
    const { openOnly } = decodeMessage(MsgCloseBidSchema, value);
    const state = this.bids.get(dseq);
    if (state === "active" && !openOnly) this.killed += 1;
    if (state !== "open") return new Rejected({ code: 12, codespace: "market", log: "bid not open" });
    this.bids.delete(dseq);
    this.#tell("bid-closed", dseq);
    return undefined;
  }

  #tell(action: string, dseq: bigint): void {
    this.events.push(() => this.service?.onEvent({ action, id: bidId(dseq), attributes: new Map() }));
  }
}

const TIMES = { createdAt: 1n, closedOn: 0n, closeReason: "" };

function bidId(dseq: bigint): LeaseKey {
  return { ...orderId(dseq), provider: US };
}

function orderId(dseq: bigint): OrderKey {
  return { owner: TENANT, dseq, gseq: 1, oseq: 1 };
}

function setUp() {
  const market = new Market();
  const inventory = new Inventory({
    overcommit: { cpu: 0, memory: 0, storage: 0 },
    portQuantity: 10,
    ledger: { record: () => {}, durable: () => Promise.resolve() },
  });
  const storage = [{ classes: "all" as const, bytes: 1n << 40n }];
  inventory.observe({ nodes: [{ name: "host", cpu: 10_000n, memory: 1n << 40n, storage, gpus: [] }], storage: [] });
  const won = new Set<bigint>();
  const service = new OrderService({
    provider: US,
    chain: {
      openOrders: async () => ({ ids: [], isWhole: true }),
      order: async (id) => ({
        id,
        spec: group,
        createdAt: 1n,
        expiresAt: 1_000n,
        state: market.closedOrders.has(id.dseq) ? "closed" : "open",
      }),
      bid: async (id) => {
        const state = market.bids.get(id.dseq);
        return state && { id, state, price: { denom: "utoken", amount: DEC_ONE }, createdAt: 1n };
      },
      openBidPrices: async () => [],
      marketParams: async () => ({ orderMaxBids: 20, bidMinDeposits: [] }),
      offer: async () => PLAIN_OFFER,
      balance: async () => 1_000_000_000n,
    },
    inventory,
    pricing: { description: "one", price: async () => DEC_ONE },
    send: market.send,
    log: silentLogger,
    deposit: { denom: "utoken", amount: 1n },
    fee: { denom: "utoken", amount: 1n },
    bidTimeoutMs: 1,
    retryMs: 1,
    onWon: ({ dseq }) => void won.add(dseq),
  });
  market.service = service;
  const compare = () =>
    reconcileReservations({
      inventory,
      provider: US,
      log: silentLogger,
      // Leases have a record as soon as they are won, as in the daemon.
      keep: () => new Set([...[...won].map((dseq) => formatOrderId(orderId(dseq))), ...service.unsettled()]),
      chain: market.reader(),
    });
  return { market, inventory, won, service, compare };
}

async function turn(service: OrderService): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, 1));
  service.pass();
}

/**
 * Steps in any order: a new order, the tenant's decision, a block, its delivery to the provider, and a comparison of
 * the ledger with the chain.
 */
const step = fc.oneof(
  fc.record({ do: fc.constantFrom("order" as const, "take" as const, "cancel" as const), dseq: fc.nat(ORDERS - 1) }),
  fc.record({
    do: fc.constantFrom("block" as const, "block" as const, "see" as const, "time" as const, "compare" as const),
    dseq: fc.constant(0),
  }),
);

test("whenever a bid runs out and whenever it is taken: no lease is ended, and exactly the leases hold capacity", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const { market, inventory, won, service, compare } = setUp();
      const compared: Promise<void>[] = [];
      for (const { do: what, dseq } of steps) {
        const id = BigInt(dseq + 1);
        if (what === "order") service.onEvent({ action: "order-created", id: orderId(id), attributes: new Map() });
        else if (what === "block") market.block();
        else if (what === "see") market.see();
        else if (what === "time") await turn(service);
        else if (what === "compare") compared.push(compare());
        else market.tenant(id, what);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(compared);
      // Then the network becomes quiet, and every unaccepted bid runs out.
      for (let i = 0; i < 400; i++) {
        market.block();
        market.see();
        await turn(service);
        const isQuiet = market.waiting.length === 0 && market.events.length === 0;
        if (isQuiet && service.status().every(({ phase }) => ["won", "lost", "closed", "refused"].includes(phase)))
          break;
      }
      const active = [...market.bids].filter(([, state]) => state === "active").map(([dseq]) => dseq);
      const held = inventory.all().map(({ order }) => order);
      expect(market.killed).toBe(0);
      expect(held.toSorted()).toEqual(active.map((dseq) => formatOrderId(orderId(dseq))).toSorted());
      expect([...won].toSorted()).toEqual(active.toSorted());
      expect([...market.bids.values()]).not.toContain("open");
      service.stop();
    }),
    { numRuns: 200 },
  );
});
