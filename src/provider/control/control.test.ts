import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Logger, parseDec, silentLogger } from "../../util/index.ts";
import { newRecord } from "../leases/record/record.ts";
import type { OrderEntry } from "../orders/index.ts";
import {
  askProvider,
  bidsUnder,
  CONTROL_LIMITS,
  ControlServer,
  changePrices,
  Examination,
  factsOf,
  readOperatorFacts,
  tryPrices,
} from "./index.ts";
import { CONTROL_SOCKET } from "./protocol.ts";
import type { ControlView } from "./server.ts";

let folder: string;
const closing: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-control-"));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (dseq: bigint, change: Partial<OrderEntry> = {}): OrderEntry => ({
  id: { owner: "svc1tenant", dseq, gseq: 1, oseq: 1 },
  phase: "open",
  detectedAt: 0,
  ...change,
});

async function serve(change: Partial<ControlView> = {}, where = folder, log: Logger = silentLogger): Promise<void> {
  const view = {
    provider: "svc1p",
    started_at: "now",
    draining: false,
    leases: 2,
    obstacles: [],
    orders: [],
    ...change,
  };
  const server = new ControlServer({ folder: where, log, view: () => view });
  closing.push(() => server.close());
  await server.listen();
}

describe("the operator's socket", () => {
  it("lists orders with price, reason and obstacle", async () => {
    const refused = entry(2n, { phase: "refused", reason: "too dear", obstacle: "final" });
    await serve({ orders: [entry(1n, { price: parseDec("1.5") }), refused], draining: true });
    expect(await askProvider(folder)).toEqual({
      provider: "svc1p",
      started_at: "now",
      draining: true,
      obstacles: [],
      leases: 2,
      omitted: 0,
      orders: [
        { order: "svc1tenant/1/1/1", phase: "open", price: "1.5", detected_at: "1970-01-01T00:00:00.000Z" },
        {
          order: "svc1tenant/2/1/1",
          phase: "refused",
          reason: "too dear",
          obstacle: "final",
          detected_at: "1970-01-01T00:00:00.000Z",
        },
      ],
    });
  });

  it("is its owner's alone, and leaves nothing behind", async () => {
    await serve();
    expect(statSync(join(folder, CONTROL_SOCKET)).mode & 0o777).toBe(0o600);
    await closing.pop()?.();
    expect(await askProvider(folder)).toBeUndefined();
  });

  it("lists the latest of many orders, and shortens long reasons", async () => {
    const reason = "x".repeat(CONTROL_LIMITS.reason + 1);
    const orders = Array.from({ length: CONTROL_LIMITS.orders + 1 }, (_, i) => entry(BigInt(i + 1), { reason }));
    await serve({ orders });
    const state = await askProvider(folder);
    expect(state?.omitted).toBe(1);
    expect(state?.orders).toHaveLength(CONTROL_LIMITS.orders);
    expect(state?.orders[0]).toMatchObject({
      order: "svc1tenant/2/1/1",
      reason: `${"x".repeat(CONTROL_LIMITS.reason)}...`,
    });
  });

  it("is reached below a long path, and takes the place of what a crash left", async () => {
    const deep = join(folder, "d".repeat(90), "e".repeat(90));
    mkdirSync(join(deep, CONTROL_SOCKET), { recursive: true });
    await serve({}, deep);
    expect(await askProvider(deep)).toMatchObject({ leases: 2 });
  });

  it("may be missing without harm", async () => {
    const said: string[] = [];
    const file = join(folder, "file");
    writeFileSync(file, "");
    await serve({}, file, { ...silentLogger, warn: (text) => void said.push(text) });
    expect(said).toEqual(["svc provider orders and why cannot ask this provider"]);
    expect(await askProvider(file)).toBeUndefined();
    expect(await askProvider(join(folder, "none"))).toBeUndefined();
  });
});

describe("the facts for an operator's page", () => {
  const left = (cpu: bigint) => ({ cpu, memory: 1n << 30n, storage: 1n << 40n, gpu: 1n });
  const rows = [{ ...left(100n), id: 1, count: 2n, gpuKinds: [], volumes: [], endpoints: 1, ports: 0, leasedIps: [] }];
  const lease = { owner: "svc1tenant", dseq: 9n, gseq: 1, oseq: 1, provider: "svc1p" };

  const changes: object[] = [];

  /** A provider with one node that has shrunk, one lease, an order that it declined, and one that another got. */
  async function serveFacts(): Promise<void> {
    const flags = { cpu: "1", memory: "0", storage: "0", endpoint: "0", ip: "0" };
    const sources = {
      inventory: {
        all: () => [{ order: "svc1tenant/9/1/1", state: "active" as const, rows, placement: [] }],
        offered: () => [{ name: "node", ...left(1_000n) }],
        available: () => [{ name: "node", ...left(-200n) }],
        portsLeft: () => 7,
      },
      leases: { records: () => [{ ...newRecord(lease, 0), phase: "running" as const }] },
      pricing: { description: "scale: cpu 1/mcpu", flags },
    };
    const winner = { provider: "svc1other", price: parseDec("0.5") };
    const orders = [
      entry(1n, { phase: "lost", reason: "lease lost", declined: "too dear", winner }),
      entry(2n, { phase: "lost", reason: "lease lost", price: parseDec("0.75"), winner }),
      entry(3n, { phase: "refused", reason: "too small", obstacle: "size" }),
    ];
    const view = { provider: "svc1p", started_at: "now", draining: false, leases: 1, obstacles: [], orders };
    const server = new ControlServer({
      folder: join(folder, "provider"),
      log: silentLogger,
      view: () => view,
      facts: (state) => factsOf(state, sources),
      changePrices: (change) => {
        if (change.cpu === "-1") throw new Error("a price is not negative");
        changes.push(change);
      },
    });
    mkdirSync(join(folder, "provider"));
    closing.push(() => server.close());
    await server.listen();
  }

  it("say why an order was declined or lost, our price and the winner's, and what still fits", async () => {
    await serveFacts();
    const facts = await readOperatorFacts(folder);
    expect(facts?.orders).toMatchObject([
      {
        order: "svc1tenant/1/1/1",
        phase: "lost",
        declined: "too dear",
        winner: { provider: "svc1other", price: "0.5" },
      },
      { order: "svc1tenant/2/1/1", price: "0.75", winner: { price: "0.5" } },
      { phase: "refused", reason: "too small", remedy: expect.stringContaining("--overcommit") },
    ]);
    expect(facts).toMatchObject({
      prices: "scale: cpu 1/mcpu",
      price_flags: { cpu: "1" },
      ports_left: 7,
      reservations: [{ order: "svc1tenant/9/1/1", state: "active", cpu: "200", gpu: "2" }],
      nodes: [{ name: "node", offered: { cpu: "1000" }, left: { cpu: "-200" }, largest: { cpu: "0", gpu: "1" } }],
      lease_phases: [{ lease: "svc1tenant/9/1/1/svc1p", phase: "running" }],
    });
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts);
  });

  it("have the earnings of active leases where the chain is asked", async () => {
    await serveFacts();
    const asked: unknown[] = [];
    const price = { denom: "utoken", amount: parseDec("1.25") };
    const payment = { rate: price, withdrawn: 70n, accrued: 30n, settled: 0n };
    const active = {
      id: lease,
      state: "active",
      price,
      createdAt: 1n,
      closedOn: 0n,
      closeReason: "",
      payment,
    } as const;
    const leases = async (filter: unknown) => {
      asked.push(filter);
      return [active];
    };
    expect((await readOperatorFacts(folder, { leases }))?.earnings).toEqual([
      { lease: "svc1tenant/9/1/1/svc1p", denom: "utoken", price: "1.25", withdrawn: "70", accrued: "30" },
    ]);
    expect(asked).toEqual([{ provider: "svc1p", state: "active" }]);
  });

  it("change prices and nothing else, and say why not", async () => {
    await serveFacts();
    expect(await changePrices(folder, { cpu: "2", storage: "1,beta2=3" })).toBe(true);
    expect(changes).toEqual([{ cpu: "2", storage: "1,beta2=3" }]);
    await expect(changePrices(folder, { cpu: "-1" })).rejects.toThrow("not negative");
    for (const change of [{ cpu: 2 }, { strategy: "shellScript" }, { cpu: "1".repeat(501) }, null]) {
      await expect(changePrices(folder, change as object)).rejects.toThrow();
    }
    await expect(changePrices(folder, { cpu: "1".repeat(20_000) })).rejects.toThrow();
    expect(changes).toHaveLength(1);
    expect(await changePrices(join(folder, "none"), {})).toBe(false);
  });

  it("are missing where no provider runs, and say so of an earlier version", async () => {
    expect(await readOperatorFacts(folder)).toBeUndefined();
    mkdirSync(join(folder, "provider"));
    await serve({}, join(folder, "provider"));
    await expect(readOperatorFacts(folder)).rejects.toThrow("earlier version");
  });
});

describe("a socket of something else", () => {
  function pretend(answer: string): Promise<void> {
    const server: Server = createServer((socket) => {
      socket.on("error", () => {});
      const flood = (): void => {
        while (socket.writable && socket.write(answer));
        if (socket.writable) socket.once("drain", flood);
      };
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      flood();
    });
    closing.push(() => new Promise((resolve) => server.close(() => resolve())));
    return new Promise((resolve) => server.listen(join(folder, CONTROL_SOCKET), resolve));
  }

  it("cannot fill the memory of the command", async () => {
    await pretend("a".repeat(1 << 20));
    await expect(askProvider(folder)).rejects.toThrow("has no end");
  });
});

describe("checks for an operator's page", () => {
  it("are made while somebody asks, one examination at a time, and again after a minute", async () => {
    let [now, made] = [1_000_000, 0];
    const examination = new Examination(
      async () => {
        made += 1;
        return [{ check: "node", state: "ok", detail: `${made}` }];
      },
      () => now,
    );
    expect([examination.latest(), made]).toEqual([{}, 1]);
    await expect.poll(() => examination.latest().checks).toEqual([{ check: "node", state: "ok", detail: "1" }]);
    expect([examination.latest().checked_at, made]).toEqual(["1970-01-01T00:16:40.000Z", 1]);
    now += 60_000;
    expect(examination.latest().checks).toMatchObject([{ detail: "1" }]);
    await expect.poll(() => examination.latest().checks).toMatchObject([{ detail: "2" }]);
  });

  it("that fail as a whole leave no finding", async () => {
    let now = 0;
    const outcomes = [Promise.resolve([]), Promise.reject(new Error("no engine"))];
    const examination = new Examination(
      () => outcomes.shift() ?? new Promise(() => {}),
      () => now,
    );
    examination.latest();
    await expect.poll(() => examination.latest().checks).toEqual([]);
    now += 60_000;
    examination.latest();
    await expect.poll(() => examination.latest().checks).toBeUndefined();
  });
});

it("bids at other prices are computed for the latest orders that were checked, and nothing changes", async () => {
  const row = { id: 1, count: 2n, cpu: 100n, memory: 0n, gpu: 0n, storage: 0n, gpuKinds: [], volumes: [] };
  const rows = [{ ...row, endpoints: 0, ports: 0, leasedIps: [] }];
  const winner = { provider: "svc1other", price: parseDec("0.1") };
  const orders = [entry(1n), entry(2n, { rows, price: parseDec("1"), winner }), entry(3n, { rows })];
  const strategy = { price: async ({ owner }: { owner: string }) => parseDec(owner === "svc1tenant" ? "2.5" : "9") };
  expect(await bidsUnder(strategy, orders)).toEqual({
    bids: [
      { order: "svc1tenant/3/1/1", after: "2.5" },
      { order: "svc1tenant/2/1/1", before: "1", after: "2.5", winner: "0.1" },
    ],
  });
  const none = { price: () => Promise.reject(new Error("no pricing configured for GPUs")) };
  expect(await bidsUnder(none, orders)).toEqual({ bids: [] });
  expect(await tryPrices(folder, {})).toBeUndefined();
});
