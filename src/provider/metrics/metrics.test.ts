import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../util/index.ts";
import { ORDER_PHASES } from "../orders/index.ts";
import { NO_METER, timed } from "./meter.ts";
import { type ProviderState, readings } from "./readings.ts";
import { MetricRegistry } from "./registry.ts";
import { METRICS_LIMITS, MetricsServer, type MetricsServerOptions, openMetrics } from "./server.ts";
import { COUNTERS, GAUGES } from "./table.ts";

const nothing = { cpu: 0n, memory: 0n, storage: 0n, gpu: 0n };
const STATE: ProviderState = {
  orders: { open: 2 },
  refusals: { money: 1 },
  leases: { running: 3 },
  allocatable: { ...nothing, cpu: 8000n },
  available: { ...nothing, cpu: 500n },
  reservations: { pending: { ...nothing, count: 1 }, active: { ...nothing, memory: 1n << 40n, count: 4 } },
  isBidding: true,
  isDraining: false,
  probe: { passed: 1 },
  outbox: 7,
  balance: 12_000_000n,
  bidCost: 5_001_000n,
  leasedIps: { offered: 16, left: 3 },
  freeDisk: 1n << 33n,
  isNewerPublished: true,
  leastDisk: 1n << 29n,
  height: 77n,
  hostCertificates: { ok: 3, failing: 1 },
  certificateEnd: 1_800_000_000,
};

/** Lines of the text without comments. */
function series(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("provider_"));
}

describe("the metrics of a provider", () => {
  it("show its state, with a zero for every label that has nothing", async () => {
    const lines = series(await new MetricRegistry().text(readings(STATE)));
    expect(lines).toContain('provider_order_manager{phase="open"} 2');
    expect(lines).toContain('provider_order_manager{phase="lost"} 0');
    expect(lines).toContain('provider_order_refused{obstacle="money"} 1');
    expect(lines).toContain('provider_manifest_manager{phase="running"} 3');
    expect(lines).toContain('provider_inventory_allocatable{quantity="cpu"} 8000');
    expect(lines).toContain('provider_inventory_reservations{classification="active",quantity="none"} 4');
    expect(lines).toContain(`provider_inventory_reservations{classification="active",quantity="memory"} ${2 ** 40}`);
    expect(lines).toContain('provider_leased_ips{state="left"} 3');
    expect(lines).toContain("provider_bidding 1");
    expect(lines).toContain("provider_block_height 77");
    expect(lines).toContain("provider_balance 12000000");
  });

  it("end in _total if they only grow, and only then", async () => {
    const text = await new MetricRegistry().text(readings(STATE));
    const rows = [...text.matchAll(/^# TYPE (\S+) (counter|gauge)$/gm)];
    expect(rows.length).toBeGreaterThan(30);
    const wrong = rows.filter(([, name = "", type]) => name.endsWith("_total") !== (type === "counter"));
    expect(wrong.map(([line]) => line)).toEqual([]);
  });

  it("leave out what is not known", async () => {
    const unknown = {
      ...STATE,
      balance: undefined,
      freeDisk: undefined,
      height: undefined,
      isNewerPublished: undefined,
    };
    const registry = new MetricRegistry();
    await registry.text(readings(STATE));
    const text = await registry.text(readings(unknown));
    expect(text).not.toMatch(/^provider_(balance|disk_free_bytes|block_height|last_\w+) /m);
    expect(text).toContain("provider_disk_least_bytes");
  });

  it("count, measure and mark", async () => {
    const registry = new MetricRegistry(() => 5_000);
    registry.count("bid", { action: "create", result: "fail" });
    registry.mark("lastOrder");
    await expect(timed(registry, "pricing", () => Promise.reject(new Error("no price")))).rejects.toThrow("no price");
    const lines = series(await registry.text([]));
    expect(lines).toContain('provider_bid_total{action="create",result="fail"} 1');
    expect(lines).toContain('provider_bid_total{action="close",result="success"} 0');
    expect(lines).toContain("provider_last_order_timestamp_seconds 5");
    expect(lines).toContain("provider_bid_pricing_duration_count 1");
  });

  it("have no series but those of the table, whatever is handed to them", async () => {
    const registry = new MetricRegistry();
    const hostile = "svc1evil\n# HELP x" as "create";
    expect(() => registry.count("bid", { action: hostile, result: "fail" })).toThrow("labels");
    expect(() => registry.count("bid", { action: "create", result: "fail", owner: "svc1x" })).toThrow("labels");
    await expect(registry.text([{ gauge: "orders", value: 1, labels: { phase: hostile } }])).rejects.toThrow("labels");
    const before = series(await registry.text(readings(STATE))).length;
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`reason ${i}`, 1]));
    expect(series(await registry.text(readings({ ...STATE, refusals: many })))).toHaveLength(before);
    expect(before).toBeLessThan(150);
  });

  it("have each name once, with a prefix of their own", () => {
    const names = [...Object.values(COUNTERS), ...Object.values(GAUGES)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^provider_[a-z_]+$/.test(name))).toEqual([]);
  });

  it("know every phase of an order", () => {
    expect(GAUGES.orders.labels.phase).toEqual(ORDER_PHASES);
  });

  it("are not kept where nobody reads them", async () => {
    expect(await openMetrics(undefined)).toEqual({ meter: NO_METER, serve: undefined });
  });
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

describe("the server of metrics", () => {
  const open: MetricsServer[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of open.splice(0)) await server.close();
  });

  async function serve(change: Partial<MetricsServerOptions> = {}): Promise<number> {
    const text = async () => "provider_up 1\n";
    const log = silentLogger;
    const server = new MetricsServer({
      host: "127.0.0.1",
      port: 0,
      text,
      contentType: "text/plain",
      obstacles: () => [],
      log,
      ...change,
    });
    open.push(server);
    return server.listen();
  }

  function ask(port: number, path: string, method = "GET"): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({ host: "127.0.0.1", port, path, method, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      request.on("error", reject).end();
    });
  }

  it("answers /metrics and /healthz, and nothing else", async () => {
    const port = await serve();
    expect(await ask(port, "/metrics")).toEqual({ status: 200, text: "provider_up 1\n" });
    expect(await ask(port, "/healthz")).toEqual({ status: 200, text: "ok\n" });
    expect((await ask(port, "/")).status).toBe(404);
    expect((await ask(port, "/metrics/../etc")).status).toBe(404);
    expect((await ask(port, "/metrics", "POST")).status).toBe(405);
  });

  it("is ready when nothing is in the way, and says what is", async () => {
    const obstacles: string[] = ["the disk is full: make room"];
    const port = await serve({ obstacles: () => obstacles });
    expect(await ask(port, "/readyz")).toEqual({ status: 503, text: "the disk is full: make room\n" });
    obstacles.pop();
    expect(await ask(port, "/readyz")).toEqual({ status: 200, text: "ready\n" });
  });

  it("collects once for a flood, and again when the text is old", async () => {
    let collected = 0;
    let now = 1_000_000;
    const port = await serve({ now: () => now, text: async () => `n ${++collected}\n` });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port, "/metrics")));
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(["n 1\n"]));
    now += METRICS_LIMITS.age - 1;
    expect((await ask(port, "/metrics")).text).toBe("n 1\n");
    now += 1;
    expect((await ask(port, "/metrics")).text).toBe("n 2\n");
  });

  it("goes on after a failure", async () => {
    let now = 0;
    let fails = true;
    const text = async () => {
      if (fails) throw new Error("secret of the chain");
      return "fine\n";
    };
    const port = await serve({ now: () => now, text });
    const { status, text: said } = await ask(port, "/metrics");
    expect({ status, leaks: said.includes("secret") }).toEqual({ status: 500, leaks: false });
    fails = false;
    now = METRICS_LIMITS.age;
    expect((await ask(port, "/metrics")).text).toBe("fine\n");
  });

  it("holds a bounded number of connections, and answers others once they are gone", async () => {
    const port = await serve();
    const held = Array.from({ length: METRICS_LIMITS.connections }, () => connect(port, "127.0.0.1"));
    sockets.push(...held);
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    const extra = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(extra);
    await new Promise((resolve) => extra.once("close", resolve));
    for (const socket of held) socket.destroy();
    await expect
      .poll(
        () =>
          ask(port, "/healthz").then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 30_000 },
      )
      .toBe(200);
  });

  it("refuses headers without end", async () => {
    const port = await serve();
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    let said = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
    socket.write(`GET /metrics HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(METRICS_LIMITS.headerBytes)}\r\n\r\n`);
    await new Promise((resolve) => socket.once("close", resolve));
    expect(said).not.toContain("provider_up");
  });

  it("names the flag when its port is taken", async () => {
    const port = await serve();
    await expect(serve({ port })).rejects.toThrow(/another program uses the port/);
  });
});
