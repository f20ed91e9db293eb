import { connect } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sendDespiteAnswer } from "../../../test/support/late-body.ts";
import { onChain, sampleDeployment } from "../../../test/support/provider/deployment.ts";
import { GatewayHarness } from "../../../test/support/provider/gateway.ts";
import { PROVIDER } from "../../../test/support/provider/leases.ts";
import { manifestJson } from "../../sdl/index.ts";

let harness: GatewayHarness | undefined;

async function open(...options: Parameters<typeof GatewayHarness.open>): Promise<GatewayHarness> {
  harness = await GatewayHarness.open(...options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

/** The tenant's certificate for a raw request. */
function identified({ certificate }: GatewayHarness) {
  return { cert: certificate.certificate, key: certificate.privateKey };
}

describe("public routes", () => {
  it("show figures and nothing about tenants", async () => {
    const gateway = await open();
    const id = await gateway.run(1n);
    const { status, text } = await gateway.request("/status");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      address: PROVIDER,
      cluster: {
        leases: 1,
        inventory: {
          active: [{ cpu: 100, memory: 33_554_432, storage: 67_108_864, gpu: 0 }],
          pending: [],
          available: {
            nodes: [{ name: "node", cpu: 900, memory: "1152921504606846976", storage: 1_099_511_627_776, gpu: 0 }],
            leased_ips: { total: 4, left: 3 },
          },
        },
      },
      bidengine: { orders: 2, refusals: { "the price is too high": 3 } },
      manifest: { deployments: 1 },
      broadcaster: { pending: 1 },
      cluster_public_hostname: "cluster.example.com",
    });
    expect(text).not.toContain(id.owner);
  });

  it("show version and address", async () => {
    const gateway = await open();
    expect(JSON.parse((await gateway.request("/address")).text)).toEqual({ address: PROVIDER });
    const version = JSON.parse((await gateway.request("/version")).text);
    expect(version).toMatchObject({ svc: { version: "v0.0.0" }, cluster: { driver: "memory", engine: "memory" } });
    gateway.world.cluster.reachable = false;
    const away = JSON.parse((await gateway.request("/version")).text);
    expect(away).toMatchObject({
      svc: { version: "v0.0.0" },
      cluster: { error: expect.stringContaining("does not answer") },
    });
  });

  it("ask the cluster for its version once, however many ask for it", async () => {
    const gateway = await open({ clusterAge: 60_000 });
    const asked = vi.spyOn(gateway.world.driver, "version");
    const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.request("/version")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(asked).toHaveBeenCalledTimes(1);
    gateway.skew.ms = 60_000;
    await gateway.request("/version");
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("look at leases, orders and reservations once, however many ask for the status", async () => {
    const gateway = await open({ clusterAge: 60_000 });
    const looked = vi.spyOn(gateway.sources, "inventory");
    const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.request("/status")));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(looked).toHaveBeenCalledTimes(1);
    gateway.skew.ms = 60_000;
    await gateway.request("/status");
    expect(looked).toHaveBeenCalledTimes(2);
  });

  it("validate a group by its price, in the body of a GET as of a POST", async () => {
    const gateway = await open();
    const body = JSON.stringify({ name: "here", requirements: {}, resources: [] });
    for (const method of ["GET", "POST"]) {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const { status, text } = await gateway.request("/validate", { method, body, headers });
      expect({ status, answer: JSON.parse(text) }).toEqual({
        status: 200,
        answer: { min_bid_price: { denom: "utoken", amount: "12.5" } },
      });
    }
    const { status, text } = await gateway.request("/validate", { method: "POST", body: '{"nam":1}' });
    expect([status, JSON.parse(text).code]).toEqual([422, "invalid_body"]);
  });
});

describe("screening", () => {
  const body = JSON.stringify({ name: "here", requirements: {}, resources: [] });
  const screen = async (gateway: Awaited<ReturnType<typeof open>>, text = body) => {
    const { status, text: said } = await gateway.request("/screen", { method: "POST", body: text });
    return { status, answer: JSON.parse(said) };
  };

  it("gives the price of a bid, or why there would be none", async () => {
    const gateway = await open();
    const price = { denom: "utoken", amount: "12.5" };
    expect(await screen(gateway)).toEqual({ status: 200, answer: { bid: true, price } });
    gateway.sources.screen = async () => ({ bid: false, reason: "insufficient capacity" });
    expect(await screen(gateway)).toEqual({ status: 200, answer: { bid: false, reason: "insufficient capacity" } });
    expect((await screen(gateway, '{"nam":1}')).status).toBe(422);
  });

  it("reads no more of strangers than a group has", async () => {
    const gateway = await open();
    expect((await screen(gateway, " ".repeat(64 << 10))).status).toBe(422);
    expect((await screen(gateway, " ".repeat((64 << 10) + 1))).status).toBe(413);
    const { status, answer } = await screen(gateway, `{"name":${"[".repeat(200)}`);
    expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining("values in one another")]);
  });

  it("keeps from strangers which node did not answer", async () => {
    const gateway = await open();
    gateway.sources.screen = () => Promise.reject(new Error("http://10.0.0.5:26657: connection refused"));
    const { status, answer } = await screen(gateway);
    expect(status).toBe(503);
    expect(JSON.stringify(answer)).not.toContain("10.0.0.5");
  });
});

it("strangers who ask for prices keep neither the provider from bidding nor each other from asking", async () => {
  const gateway = await open();
  const waiting: (() => void)[] = [];
  gateway.sources.price = () => new Promise((resolve) => waiting.push(() => resolve({ denom: "utoken", amount: "1" })));
  const answered: number[] = [];
  const ask = async (localAddress = "127.0.0.1") => {
    answered.push((await gateway.request("/validate", { method: "POST", body: "{}", localAddress })).status);
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  const asked = Array.from({ length: 12 }, () => ask());
  await until(() => answered.length === 10 && waiting.length === 2);
  const others = ["127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3"].map(ask);
  await until(() => answered.length === 12 && waiting.length === 4);
  expect(answered).toEqual(Array(12).fill(429));
  for (const answer of waiting.splice(0)) answer();
  await Promise.all([...asked, ...others]);
  expect(answered.slice(12)).toEqual(Array(4).fill(200));
  const last = ask();
  await until(() => waiting.length === 1);
  for (const answer of waiting.splice(0)) answer();
  await last;
  expect(answered.at(-1)).toBe(200);
});

describe.each(["certificate", "token"] as const)("a tenant with a %s", (kind) => {
  it("sends a manifest, reads it back and sees the lease", async () => {
    const gateway = await open();
    const loaded = sampleDeployment({ nodePorts: [9000] });
    const lease = gateway.lease(1n);
    gateway.world.chain.win(lease, onChain(loaded));
    const client = gateway.client(gateway.credential(kind));
    await client.sendManifest(1n, loaded.manifest);
    await client.sendManifest(1n, loaded.manifest);
    expect(await client.getManifest(lease)).toEqual(JSON.parse(manifestJson(loaded.manifest)));
    const status = await client.leaseStatus(lease);
    expect(status.services.web?.uris[0]).toMatch(/\.apps\.example\.com$/);
    expect(status.forwarded_ports.web?.[0]).toMatchObject({ externalPort: 30_000, proto: "TCP" });
    expect(await client.serviceStatus(lease, "web")).toMatchObject({ name: "web", total: 1 });
    await expect(client.serviceStatus(lease, "nope")).rejects.toMatchObject({
      status: 404,
      reason: "service_not_found",
    });
  });

  it("is told why a manifest is refused", async () => {
    const gateway = await open();
    const lease = gateway.lease(1n);
    gateway.world.chain.win(lease, onChain(sampleDeployment()));
    const client = gateway.client(gateway.credential(kind));
    const other = sampleDeployment({ env: ["A=b"] }).manifest;
    await expect(client.sendManifest(1n, other)).rejects.toMatchObject({
      status: 422,
      reason: "version_mismatch",
      hint: expect.stringContaining("svc tx deployment update"),
    });
    await expect(client.sendManifest(2n, other)).rejects.toMatchObject({ status: 404, reason: "lease_not_found" });
    await expect(client.leaseStatus(lease)).rejects.toMatchObject({ status: 404, reason: "no_manifest" });
  });

  it("is told what became of an order", async () => {
    const gateway = await open();
    const client = gateway.client(gateway.credential(kind));
    expect(await client.orderStatus({ ...gateway.lease(77n) })).toEqual({
      phase: "refused",
      reason: "the price is too high",
      final: true,
    });
    await expect(client.orderStatus(gateway.lease(78n))).rejects.toMatchObject({ status: 404 });
  });

  it("is told before there is a lease whether its order could have host names", async () => {
    const gateway = await open();
    const other = { ...gateway.lease(1n), owner: "svc1other" };
    gateway.world.registry.claim(other, ["taken.example.org"]);
    const client = gateway.client(gateway.credential(kind));
    const order = gateway.lease(77n);
    await client.checkHosts(order, ["free.example.org"]);
    await expect(client.checkHosts(order, ["free.example.org", "taken.example.org"])).rejects.toMatchObject({
      status: 422,
      reason: "hostname_unavailable",
      message: expect.stringContaining('"taken.example.org"'),
      hint: expect.stringContaining("another host name"),
    });
    await expect(client.checkHosts(order, [])).rejects.toMatchObject({ status: 422, reason: "invalid_body" });
    await expect(client.checkHosts(gateway.lease(78n), ["free.example.org"])).rejects.toMatchObject({ status: 404 });
  });
});

describe("bad requests", () => {
  const put = (body: string | Buffer, headers: Record<string, string> = {}) => ({
    method: "PUT",
    body,
    headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers },
  });

  it("with other bodies than a manifest are refused and change nothing", async () => {
    const gateway = await open();
    const id = await gateway.run(1n);
    const before = gateway.world.service.find(id);
    const send = async (body: string | Buffer, headers?: Record<string, string>) => {
      const answer = await gateway.request("/deployment/1/manifest", { ...put(body, headers), ...identified(gateway) });
      return [answer.status, JSON.parse(answer.text).code];
    };
    expect(await send("")).toEqual([422, "invalid_body"]);
    expect(await send("{")).toEqual([422, "invalid_body"]);
    expect(await send("[".repeat(500_000))).toEqual([422, "invalid_body"]);
    expect(await send('[{"name":"a","name":"b"}]')).toEqual([422, "invalid_body"]);
    expect(await send('[{"__proto__":{}}]')).toEqual([422, "invalid_body"]);
    expect(await send(Buffer.from([0xff, 0xfe]))).toEqual([422, "invalid_body"]);
    expect(await send('[{"name":"a","services":[],"more":1}]')).toEqual([422, "invalid_manifest"]);
    expect(await send("[]")).toEqual([422, "invalid_manifest"]);
    expect(await send(" ".repeat((1 << 20) + 1))).toEqual([413, "too_large"]);
    expect(await send("[]", { "content-encoding": "gzip" })).toEqual([400, "bad_request"]);
    expect(gateway.world.service.find(id)).toEqual(before);
  });

  it("are refused with a whole answer while their body is still being sent", async () => {
    const gateway = await open();
    const socket = connect({ port: gateway.port, host: "127.0.0.1", rejectUnauthorized: false });
    const head = "PUT /deployment/1/manifest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
    const answer = await sendDespiteAnswer(socket, head, " ".repeat(2 << 20));
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*\r\n\r\n\{.*"unauthorized".*\}$/s);
  });

  it("with other paths than ours find nothing", async () => {
    const gateway = await open();
    await gateway.run(1n);
    const paths = [
      "/lease/0/1/1/status",
      "/lease/-1/1/1/status",
      "/lease/01/1/1/status",
      "/lease/18446744073709551616/1/1/status",
      "/lease/1/4294967296/1/status",
      "/lease/1%2f2/1/1/status",
      "/lease/1/1/1/..%2fstatus",
      "/lease/1/1/1/%2e%2e/status",
      "/lease/1/1/1/service/..%2f..%2fetc/status",
      "/lease/1/1/1/status%00",
      "//status",
      "/Status",
      "/status/",
      "/lease/1/1/1/status;a=b",
      "/lease/1/1/1/unknown",
      "/",
    ];
    for (const path of paths) {
      const answer = await gateway.request(path, identified(gateway));
      expect([path, answer.status, JSON.parse(answer.text).code]).toEqual([
        path,
        404,
        expect.stringMatching(/not_found/),
      ]);
    }
  });

  it("with unknown parameters are refused by name", async () => {
    const gateway = await open();
    await gateway.run(1n);
    const { status, text } = await gateway.request("/lease/1/1/1/status?servces=web", identified(gateway));
    expect([status, JSON.parse(text).message]).toEqual([400, expect.stringContaining('"servces"')]);
  });

  it("that are not HTTP get a 400 and a closed connection", async () => {
    const gateway = await open();
    const send = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ port: gateway.port, host: "127.0.0.1", rejectUnauthorized: false }, () =>
          socket.write(text),
        );
        let answer = "";
        socket.on("data", (chunk) => {
          answer += String(chunk);
        });
        socket.on("close", () => resolve(answer));
        socket.on("error", reject);
      });
    const close = "Connection: close\r\n";
    expect(await send("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*bad_request/s);
    expect(await send(`GET http://other/status HTTP/1.1\r\nHost: other\r\n${close}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await send(`GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await send(`GET /status HTTP/1.1\r\n${close}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    const both = "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n";
    expect(await send(`PUT /deployment/1/manifest HTTP/1.1\r\nHost: a\r\n${both}\r\n0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(await send("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n")).not.toMatch(/ 200 /);
  });

  it("in floods are slowed down", async () => {
    const gateway = await open({ burst: 3, perSecond: 0.001 });
    const client = gateway.client(gateway.credential("certificate"));
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.leaseStatus(gateway.lease(1n))));
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.reason] : []));
    expect(refused.sort()).toEqual([...Array(3).fill("lease_not_found"), ...Array(2).fill("too_many_requests")]);
  });

  it("for shells and restarts are fewer: each is work that no lease pays for", async () => {
    const gateway = await open({ startsBurst: 2, startsPerSecond: 0.001 });
    const lease = await gateway.run(1n);
    const client = gateway.client(gateway.credential("certificate"));
    const ends: string[] = [];
    for (let count = 0; count < 4; count++) {
      const end = client.restart(lease, "web").then(
        () => "restarted",
        ({ reason }) => reason,
      );
      ends.push(await end);
    }
    expect(ends).toEqual(["restarted", "restarted", "too_many_requests", "too_many_requests"]);
    expect(await client.leaseStatus(lease)).toHaveProperty("services.web");
  });

  it("that come too slowly are ended", async () => {
    const gateway = await open({ headersTimeout: 100, requestTimeout: 300 });
    const { certificate, privateKey } = gateway.certificate;
    const send = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const options = { port: gateway.port, host: "127.0.0.1", rejectUnauthorized: false };
        const socket = connect({ ...options, cert: certificate, key: privateKey }, () => socket.write(text));
        let answer = "";
        socket.on("data", (chunk) => {
          answer += String(chunk);
        });
        socket.on("close", () => resolve(answer));
        socket.on("error", reject);
      });
    expect(await send("GET /status HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1\.1 408 .*timeout/s);
    const put =
      "PUT /deployment/1/manifest HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n";
    expect(await send(`${put}\r\n[`)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("over too many connections of one address are not answered", async () => {
    const gateway = await open({ connectionsPerAddress: 1 });
    const first = connect({ port: gateway.port, host: "127.0.0.1", rejectUnauthorized: false });
    await new Promise((resolve) => first.once("secureConnect", resolve));
    await expect(gateway.request("/status")).rejects.toThrow();
    first.destroy();
  });

  it("over too many new connections of one network are not answered, whoever closes them", async () => {
    const gateway = await open({ connectionsBurst: 2, connectionsPerSecond: 0.001 });
    const ask = () => gateway.request("/status").then(({ status }) => status);
    expect([await ask(), await ask()]).toEqual([200, 200]);
    await expect(ask()).rejects.toThrow();
  });

  it("over older TLS are refused", async () => {
    const gateway = await open();
    await expect(gateway.request("/status", { maxVersion: "TLSv1.2" })).rejects.toThrow();
  });
});
