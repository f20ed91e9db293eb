import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { GatewayHarness } from "../../../../test/support/provider/gateway.ts";
import { publish, type TestCertificate, testCertificate } from "../../../../test/support/provider/identities.ts";
import { PROVIDER } from "../../../../test/support/provider/leases.ts";
import { Health } from "../../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ProviderRPC, type Status } from "../../../wire/gen/svc/provider/v1/status_pb.js";
import type { GatewayLimits } from "../index.ts";

let harness: GatewayHarness | undefined;

async function open(limits: Partial<GatewayLimits> = {}): Promise<GatewayHarness> {
  harness = await GatewayHarness.open({ statusEvery: 10, recheck: 20, ...limits }, { grpc: true });
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

type Shown = Partial<Pick<TestCertificate, "certificate" | "privateKey">>;

function transport({ gateway }: GatewayHarness, { certificate, privateKey }: Shown = {}) {
  const own = certificate === undefined ? {} : { cert: certificate, key: privateKey ?? "" };
  return createGrpcTransport({
    baseUrl: `https://127.0.0.1:${gateway.grpcPort}`,
    nodeOptions: { rejectUnauthorized: false, ...own },
  });
}

const clientOf = (gateway: GatewayHarness, shown?: Shown) => createClient(ProviderRPC, transport(gateway, shown));

/** Calls both, as the two must never be judged differently. */
async function refusals(gateway: GatewayHarness, shown: Shown, headers: Record<string, string> = {}): Promise<Code[]> {
  const client = clientOf(gateway, shown);
  const single = client.getStatus({}, { headers }).then(
    () => undefined,
    (error) => ConnectError.from(error).code,
  );
  const streamed = firstOf(client.streamStatus({}, { headers })).then(
    () => undefined,
    (error) => ConnectError.from(error).code,
  );
  return (await Promise.all([single, streamed])).map((code) => code ?? Code.Unknown);
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T> {
  for await (const item of items) return item;
  throw new Error("the stream ended without an item");
}

/** An open stream, with its messages so far and its end. */
function follow(gateway: GatewayHarness, shown?: Shown) {
  const seen: Status[] = [];
  const abort = new AbortController();
  const ended = (async () => {
    for await (const status of clientOf(gateway, shown).streamStatus({}, { signal: abort.signal })) seen.push(status);
  })().catch((error) => ConnectError.from(error));
  return { seen, ended, stop: () => abort.abort() };
}

describe("the status over gRPC", () => {
  it("says what /status says, which names the port, and nothing of tenants", async () => {
    const gateway = await open();
    const id = await gateway.run(1n);
    const status = await clientOf(gateway).getStatus({});
    expect(status).toMatchObject({
      address: PROVIDER,
      errors: [],
      cluster: {
        leases: { active: 1 },
        inventory: {
          cluster: {
            nodes: [{ name: "node", available: { cpu: 900n, memory: 1n << 60n, storage: 1n << 40n, gpu: 0n } }],
          },
          reservations: { pending: { count: 0 }, active: { count: 1, resources: { cpu: 100n, memory: 1n << 25n } } },
        },
      },
      bidEngine: { orders: 2, refusals: { "the price is too high": 3 } },
      manifest: { deployments: 1 },
      broadcaster: { pending: 1 },
      publicHostnames: ["cluster.example.com"],
    });
    const { text } = await gateway.request("/status");
    expect(JSON.parse(text)).toMatchObject({ grpc_port: gateway.gateway.grpcPort });
    expect(JSON.stringify(status, (_, value) => (typeof value === "bigint" ? `${value}` : value))).not.toContain(
      id.owner,
    );
  });

  it("is sent at once and after each change, and not without one", async () => {
    const gateway = await open();
    const { seen, ended, stop } = follow(gateway);
    await vi.waitFor(() => expect(seen).toHaveLength(1), 30_000);
    gateway.sources.orderCount = () => 7;
    await vi.waitFor(() => expect(seen).toHaveLength(2), 30_000);
    const looks = vi.spyOn(gateway.sources, "outboxDepth");
    await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(3), 30_000);
    gateway.sources.orderCount = () => 8;
    await vi.waitFor(() => expect(seen).toHaveLength(3), 30_000);
    expect(seen.map(({ bidEngine }) => bidEngine?.orders)).toEqual([2, 7, 8]);
    stop();
    expect(await ended).toMatchObject({ code: Code.Canceled });
  });

  it("reports an inventory that cannot be read, and goes on", async () => {
    const gateway = await open();
    const inventory = await gateway.sources.inventory();
    gateway.sources.inventory = () => ({ ...inventory, error: "the cluster does not answer" });
    expect((await clientOf(gateway).getStatus({})).errors).toEqual(["the cluster does not answer"]);
    gateway.sources.inventory = () => Promise.reject(new Error("http://10.0.0.5: refused"));
    await vi.waitFor(
      () => expect(clientOf(gateway).getStatus({})).rejects.toMatchObject({ code: Code.Internal }),
      30_000,
    );
    gateway.sources.inventory = () => inventory;
    await vi.waitFor(async () => expect((await clientOf(gateway).getStatus({})).errors).toEqual([]), 30_000);
  });

  it("is found by reflection, and the server by its health", async () => {
    const gateway = await open();
    const reflection = createClient(ServerReflection, transport(gateway));
    async function* ask() {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
      yield { messageRequest: { case: "fileContainingSymbol" as const, value: "svc.provider.v1.Status" } };
      yield { messageRequest: { case: "fileContainingSymbol" as const, value: "svc.market.v1beta1.Query" } };
    }
    const answers: unknown[] = [];
    for await (const { messageResponse } of reflection.serverReflectionInfo(ask())) answers.push(messageResponse);
    expect(answers).toMatchObject([
      {
        value: { service: expect.arrayContaining([expect.objectContaining({ name: "svc.provider.v1.ProviderRPC" })]) },
      },
      { case: "fileDescriptorResponse" },
      { case: "errorResponse" },
    ]);
    const health = createClient(Health, transport(gateway));
    expect(await health.check({ service: "svc.provider.v1.ProviderRPC" })).toMatchObject({ status: 1 });
    await expect(health.check({ service: "svc.market.v1beta1.Query" })).rejects.toMatchObject({ code: Code.NotFound });
    expect(await firstOf(health.watch({ service: "" }))).toMatchObject({ status: 1 });
  });
});

describe("credentials that are shown", () => {
  it("are taken when they are good, and refused in both kinds of calls when they are not", async () => {
    const gateway = await open();
    const { tenant, world, certificate } = gateway;
    expect(await clientOf(gateway, certificate).getStatus({})).toMatchObject({ address: PROVIDER });
    const [unknown, revoked, expired] = await Promise.all([
      testCertificate({ address: tenant.address }),
      testCertificate({ address: tenant.address }),
      testCertificate({ address: tenant.address, notBefore: Date.now() - 9_000, notAfter: Date.now() - 1_000 }),
    ]);
    publish(world.chain, tenant.address, revoked, "revoked");
    publish(world.chain, tenant.address, expired);
    for (const shown of [unknown, revoked, expired])
      expect(await refusals(gateway, shown)).toEqual([Code.Unauthenticated, Code.Unauthenticated]);
    const token = { authorization: "Bearer abc.def.ghi" };
    expect(await refusals(gateway, {}, token)).toEqual([Code.Unauthenticated, Code.Unauthenticated]);
    expect(await refusals(gateway, certificate, token)).toEqual([Code.InvalidArgument, Code.InvalidArgument]);
    const twisted = { authorization: "Basic abc" };
    expect(await refusals(gateway, {}, twisted)).toEqual([Code.InvalidArgument, Code.InvalidArgument]);
  });

  it("end an open stream when they are revoked, but not while the chain is away", async () => {
    const gateway = await open();
    const { world, tenant, certificate } = gateway;
    const { seen, ended } = follow(gateway, certificate);
    const anybody = follow(gateway);
    await vi.waitFor(() => expect([seen.length, anybody.seen.length]).toEqual([1, 1]), 30_000);
    world.chain.down = true;
    const asked = vi.spyOn(world.chain, "certificate");
    await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(2), 30_000);
    world.chain.down = false;
    gateway.sources.orderCount = () => 9;
    await vi.waitFor(() => expect(seen.at(-1)?.bidEngine?.orders).toBe(9), 30_000);
    publish(world.chain, tenant.address, certificate, "revoked");
    expect(await ended).toMatchObject({ code: Code.Unauthenticated, rawMessage: expect.stringContaining("revoked") });
    gateway.sources.orderCount = () => 10;
    await vi.waitFor(() => expect(anybody.seen.at(-1)?.bidEngine?.orders).toBe(10), 30_000);
  });
});

describe("limits", () => {
  it("hold for the streams of one caller, and of all", async () => {
    const gateway = await open({ statusStreamsPerCaller: 2, statusStreams: 3 });
    const streams = [follow(gateway), follow(gateway)];
    await vi.waitFor(() => expect(streams.every(({ seen }) => seen.length === 1)).toBe(true), 30_000);
    await expect(firstOf(clientOf(gateway).streamStatus({}))).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const tenants = follow(gateway, gateway.certificate);
    await vi.waitFor(() => expect(tenants.seen).toHaveLength(1), 30_000);
    const again = firstOf(clientOf(gateway, gateway.certificate).streamStatus({}));
    await expect(again).rejects.toMatchObject({ code: Code.ResourceExhausted });
    streams[0]?.stop();
    await vi.waitFor(
      () => expect(firstOf(clientOf(gateway).streamStatus({}))).resolves.toMatchObject({ errors: [] }),
      30_000,
    );
  });

  it("hold for calls of one address within a second", async () => {
    const gateway = await open({ burst: 5, perSecond: 0.001 });
    const client = clientOf(gateway);
    for (let i = 0; i < 5; i++) await client.getStatus({});
    await expect(client.getStatus({})).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(await clientOf(gateway, gateway.certificate).getStatus({})).toMatchObject({ errors: [] });
  });

  it("cut off a reader that takes nothing, whose place is free then", async () => {
    const gateway = await open({ statusStreamsPerCaller: 1, callTimeout: 500 });
    const inventory = await gateway.sources.inventory();
    const [node] = inventory.available;
    if (node === undefined) throw new Error("the inventory has a node");
    // More than the reader's window and the buffers of both sides hold.
    gateway.sources.inventory = () => ({
      ...inventory,
      available: Array.from({ length: 20_000 }, (_, i) => ({ ...node, name: `node ${i}` })),
    });
    const session = connectHttp2(`https://127.0.0.1:${gateway.gateway.grpcPort}`, { rejectUnauthorized: false });
    session.on("error", () => {});
    const call = session.request({
      ...{ ":method": "POST", ":path": "/svc.provider.v1.ProviderRPC/StreamStatus" },
      ...{ "content-type": "application/grpc", te: "trailers" },
    });
    call.on("error", () => {});
    call.end(Buffer.alloc(5));
    await new Promise((resolve) => call.once("response", resolve));
    const client = clientOf(gateway);
    const next = () => firstOf(client.streamStatus({}));
    gateway.sources.inventory = () => inventory;
    // It has the only place: while it is open, every other call is refused.
    await vi.waitFor(() => expect(next()).resolves.toMatchObject({ errors: [] }), { timeout: 30_000, interval: 200 });
    session.destroy();
  });

  it("hold for messages, versions of TLS and protocols", async () => {
    const gateway = await open();
    const port = gateway.gateway.grpcPort ?? 0;
    const old = new Promise((resolve, reject) => {
      const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false, maxVersion: "TLSv1.2" });
      socket.once("secureConnect", () => resolve("open")).once("error", reject);
    });
    await expect(old).rejects.toThrow();
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on("error", () => {});
    const status = (path: string, body: Buffer) =>
      new Promise<string>((resolve) => {
        const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
        const call = session.request(headers);
        let said = "";
        const hear = (each: Record<string, unknown>) => (said = String(each["grpc-status"] ?? each[":status"] ?? said));
        call
          .on("response", hear)
          .on("trailers", hear)
          .on("error", () => {});
        call.on("close", () => resolve(said)).resume();
        call.end(body);
      });
    const get = "/svc.provider.v1.ProviderRPC/GetStatus";
    const large = Buffer.concat([Buffer.from([0, 0, 1, 0, 0]), Buffer.alloc(1 << 16)]);
    expect(await status(get, large)).toBe(`${Code.ResourceExhausted}`);
    expect(await status(get, Buffer.from([1, 0, 0, 0, 1, 7]))).toBe(`${Code.Internal}`);
    expect(await status("/svc.provider.v1.ProviderRPC/Other", Buffer.alloc(5))).toBe("404");
    expect(await status(get, Buffer.alloc(5))).toBe("0");
    session.destroy();
  });

  it("end all streams with the gateway", async () => {
    const gateway = await open();
    const { seen, ended } = follow(gateway);
    await vi.waitFor(() => expect(seen).toHaveLength(1), 30_000);
    gateway.dropStreams();
    expect(await ended).toMatchObject({ code: Code.Unavailable });
    const last = follow(gateway);
    await vi.waitFor(() => expect(last.seen).toHaveLength(1), 30_000);
    await gateway.gateway.close();
    expect(await last.ended).toBeInstanceOf(ConnectError);
  });
});
