import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createPlainServer, type Server } from "node:http";
import { createServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ran, runCli } from "../../../../test/cli/run.ts";
import { NodeDouble } from "../../../../test/support/node-double.ts";
import { freePorts } from "../../../../test/support/ports.ts";
import { type TestCertificate, testCertificate } from "../../../../test/support/provider/identities.ts";
import { PROVIDER, STRANGER } from "../../../../test/support/provider/leases.ts";
import { certificatePath, makeCertificate, writeCertificateFile } from "../../../certs/index.ts";
import { WEB_GATEWAY } from "../../../client/index.ts";
import { openAuthority } from "../../../provider/certificates/index.ts";
import { gpuCheck } from "../../../provider/cluster/shared/checks.ts";
import { ControlServer } from "../../../provider/control/index.ts";
import type { ControlView } from "../../../provider/control/server.ts";
import { silentLogger } from "../../../util/index.ts";
import { Query as BankQuery } from "../../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Certificate_State, Query as CertQuery } from "../../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { Lease_State } from "../../../wire/gen/svc/market/v1beta1/market_pb.js";
import { Query as MarketQuery } from "../../../wire/gen/svc/market/v1beta1/query_pb.js";
import { Query as ProviderQuery } from "../../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { providerErrors } from "../../../wire/index.ts";
import { PROVIDER_RUN } from "../run/spec.ts";
import { CLOCK_AHEAD_S } from "./chain.ts";
import { examine, Fault, type Finding, MAX_DETAIL, Unknown } from "./finding.ts";
import { LEASES_APART, resolveName } from "./gateway.ts";
import { PROVIDER_EXAMINE_COMMANDS } from "./specs.ts";

const ALL = [...PROVIDER_EXAMINE_COMMANDS, PROVIDER_RUN];

describe("an examination", () => {
  const check = (look: () => Promise<string>) => ({ name: "it", fix: "the usual remedy", look });

  it("reports what is well, what is not and what it cannot find out", async () => {
    const findings = await examine([
      check(async () => "fine"),
      check(async () => Promise.reject(new Error("broken"))),
      check(async () => Promise.reject(new Fault("broken", "this remedy"))),
      check(async () => Promise.reject(new Unknown("nobody knows"))),
    ]);
    expect(findings).toEqual([
      { check: "it", state: "ok", detail: "fine" },
      { check: "it", state: "failed", detail: "broken", fix: "the usual remedy" },
      { check: "it", state: "failed", detail: "broken", fix: "this remedy" },
      { check: "it", state: "unknown", detail: "nobody knows" },
    ]);
  });

  it("ends even if a check does not", async () => {
    const [finding] = await examine([check(() => new Promise(() => {}))], 20);
    expect(finding).toMatchObject({ state: "failed", detail: "no answer within 0.02 s" });
  });

  it("shows no commands for the terminal, and no more than a few lines", async () => {
    const [finding] = await examine([check(async () => Promise.reject(new Error(`\u001b[2J\n${"x".repeat(10_000)}`)))]);
    expect(finding?.detail).toMatch(/^\\u001b\[2J x+\.\.\.$/);
    expect(finding?.detail).toHaveLength(MAX_DETAIL + 3);
  });
});

describe("a name", () => {
  const never = () => Promise.reject(new Error("asked"));

  it("is shown with a few of its addresses", async () => {
    const addresses = Array.from({ length: 6 }, (_, i) => ({ address: `192.0.2.${i}` }));
    expect(await resolveName("p.example", async () => addresses.slice(0, 4))).toBe(
      "p.example resolves to 192.0.2.0, 192.0.2.1, 192.0.2.2, 192.0.2.3",
    );
    expect(await resolveName("p.example", async () => addresses)).toMatch(/192\.0\.2\.3, \.\.\.$/);
  });

  it("of this machine is not asked for, nor is an address", async () => {
    expect(await resolveName("svc-check.localhost", never)).toBe("svc-check.localhost is this machine");
    expect(await resolveName("2001:db8::1", never)).toBe("2001:db8::1 is an address");
    await expect(resolveName("notlocalhost", never)).rejects.toThrow("asked");
  });
});

describe("graphics processors", () => {
  const gpu = { vendor: "nvidia", model: "t4", count: 2n };
  const look = (gpus: () => Promise<readonly (typeof gpu)[]>, ...offered: string[]) => {
    const attributes = offered.map((key) => ({ key: `capabilities/gpu/${key}`, value: "true" }));
    const facts = { record: async () => ({ attributes }) };
    return examine([gpuCheck(facts, { gpus, fix: "nvidia-ctk" })]);
  };

  it("are compared with what the provider offers", async () => {
    const t4 = "vendor/nvidia/model/t4";
    expect(await look(async () => [])).toMatchObject([{ state: "ok", detail: "none, and none offered" }]);
    expect(await look(async () => [gpu])).toMatchObject([{ state: "ok", detail: "2 nvidia/t4; none offered" }]);
    expect(await look(async () => [gpu], t4)).toMatchObject([{ state: "ok", detail: `2 nvidia/t4; offered: ${t4}` }]);
    expect(await look(async () => [], t4)).toMatchObject([
      { state: "failed", detail: `none, but offered: ${t4}`, fix: expect.stringContaining("nvidia-ctk") },
    ]);
    expect(await look(() => Promise.reject(new Error("away")), t4)).toMatchObject([{ state: "unknown" }]);
  });
});

/** Answers of the chain and the gateway. */
interface Said {
  chainId: string;
  height: string;
  /** Milliseconds since 1970. */
  time: number;
  catchingUp: boolean;
  hostUri: string;
  isRegistered: boolean;
  published: TestCertificate | undefined;
  state: Certificate_State;
  leases: number;
  balance: string;
  /** The address for pages in browsers. */
  webGateway: string | undefined;
}

let node: NodeDouble;
let home: string;
let said: Said;
let shown: TestCertificate;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  node = new NodeDouble();
  await node.start();
  home = mkdtempSync(join(tmpdir(), "svc-examine-"));
  shown = await testCertificate({ address: PROVIDER, hosts: ["localhost", "127.0.0.1"] });
  said = {
    chainId: "check-1",
    height: "7",
    time: Date.now(),
    catchingUp: false,
    hostUri: "https://127.0.0.1:1",
    isRegistered: true,
    published: shown,
    state: Certificate_State.valid,
    leases: 0,
    balance: "6000000",
    webGateway: undefined,
  };
  serveChain();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await node.stop();
  rmSync(home, { recursive: true, force: true });
});

function serveChain(): void {
  node.methods.status = () => ({
    node_info: { network: said.chainId, version: "0.38.0", moniker: "m" },
    sync_info: {
      latest_block_height: said.height,
      latest_block_time: new Date(said.time).toISOString(),
      earliest_block_height: "1",
      catching_up: said.catchingUp,
    },
  });
  node.answerQuery(ProviderQuery.method.provider, () => {
    if (!said.isRegistered) throw providerErrors.notFound();
    const { hostUri, webGateway: value } = said;
    return {
      provider: { owner: PROVIDER, hostUri, attributes: value === undefined ? [] : [{ key: WEB_GATEWAY, value }] },
    };
  });
  node.answerQuery(CertQuery.method.certificates, () => {
    if (said.published === undefined) return { certificates: [] };
    const { serial, certificate } = said.published;
    return {
      certificates: [{ serial, certificate: { state: said.state, cert: new TextEncoder().encode(certificate) } }],
    };
  });
  node.answerQuery(MarketQuery.method.leases, () => ({
    leases: Array.from({ length: said.leases }, (_, i) => ({
      lease: {
        leaseId: { owner: STRANGER, dseq: BigInt(i + 1), gseq: 1, oseq: 1, provider: PROVIDER },
        state: Lease_State.active,
      },
    })),
  }));
  node.answerQuery(MarketQuery.method.params, () => ({
    params: { bidMinDeposits: [{ denom: "utoken", amount: "5000000" }], orderMaxBids: 20 },
  }));
  node.answerQuery(BankQuery.method.balance, () => ({ balance: { denom: "utoken", amount: said.balance } }));
}

type Handler = (respond: import("node:http").ServerResponse) => void;

/** A gateway that shows the certificate and answers in its own way. */
async function gateway(handler: Handler): Promise<TlsServer> {
  const server = createServer(
    { cert: shown.certificate, key: shown.privateKey, minVersion: "TLSv1.3" },
    (_, response) => {
      response.on("error", () => {});
      handler(response);
    },
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  said.hostUri = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return server;
}

const honest =
  (leases = 0, address = PROVIDER): Handler =>
  (response) =>
    response.end(JSON.stringify({ address, cluster: { leases } }));

async function findings(ran: Promise<Ran>): Promise<{ code: number; found: Record<string, Finding> }> {
  const { code, out } = await ran;
  const { checks } = JSON.parse(out) as { checks: Finding[] };
  return { code, found: Object.fromEntries(checks.map((each) => [each.check, each])) };
}

const verify = () =>
  findings(runCli(["provider", "verify", PROVIDER, "--node", node.address, "-o", "json", "--home", home]));

describe("svc provider verify", () => {
  it("is content with a provider that keeps its word", async () => {
    said.leases = 3;
    await gateway(honest(3));
    const { code, found } = await verify();
    expect(code).toBe(0);
    expect(found).toMatchObject({
      node: { state: "ok", detail: "check-1 at height 7" },
      registration: { state: "ok" },
      dns: { state: "ok" },
      gateway: { state: "ok" },
      "shown certificate": { state: "ok" },
      answers: { state: "ok", detail: "3 leases, 3 on the chain" },
    });
    const { out } = await runCli(["provider", "verify", PROVIDER, "--node", node.address, "--home", home]);
    expect(out).toMatch(/^ok {7}node {15}check-1 at height 7\n/);
  });

  it("names a certificate that is not the chain's", async () => {
    await gateway(honest());
    said.published = await testCertificate({ address: PROVIDER, serial: BigInt(shown.serial) });
    const { code, found } = await verify();
    expect(code).toBe(1);
    expect(found["shown certificate"]).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("not the one"),
    });
    expect(found.gateway?.state).toBe("ok");
    expect(found.answers?.state).toBe("unknown");
  });

  it("names a revoked certificate", async () => {
    await gateway(honest());
    said.state = Certificate_State.revoked;
    expect((await verify()).found["shown certificate"]?.detail).toContain("revoked");
  });

  it("distinguishes a gateway that is away from one that lies", async () => {
    const { code, found } = await verify();
    expect(code).toBe(1);
    expect(found.gateway).toMatchObject({ state: "failed", fix: expect.any(String) });
    expect(found["shown certificate"]?.state).toBe("unknown");
  });

  it("compares leases, with room for those that change meanwhile", async () => {
    said.leases = 5;
    const server = await gateway(honest(5 - LEASES_APART));
    expect((await verify()).code).toBe(0);
    server.removeAllListeners("request").on("request", (_, response) => honest(4 - LEASES_APART)(response));
    expect((await verify()).found.answers).toMatchObject({ state: "failed", detail: "it has 2 leases, the chain 5" });
  });

  it("does not take another provider's word", async () => {
    await gateway(honest(0, STRANGER));
    expect((await verify()).found.answers).toMatchObject({ state: "failed", detail: `it says that it is ${STRANGER}` });
  });

  it.each<[string, Handler]>([
    ["redirects", (response) => response.writeHead(302, { location: "http://169.254.169.254/" }).end()],
    ["talks nonsense", (response) => response.end("<html>")],
    ["sends another shape", (response) => response.end('{"address":7,"cluster":null}')],
    ["nests without end", (response) => response.end("[".repeat(100_000))],
    [
      "sends a compressed bomb",
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(64 << 20))),
    ],
    ["speaks another protocol", (response) => response.writeHead(101, { connection: "upgrade", upgrade: "x" }).end()],
    ["announces more than it sends", (response) => response.writeHead(200, { "content-length": 1e12 }).end("{")],
    ["sends endless headers", (response) => response.writeHead(200, { x: "a".repeat(1 << 20) }).end("{}")],
    ["has more leases than numbers", (response) => response.end('{"address":"","cluster":{"leases":1e999}}')],
    ["has a lease less than none", (response) => response.end('{"address":"","cluster":{"leases":-1}}')],
    [
      "answers without end",
      (response) => {
        const more = (): void => {
          while (!response.destroyed && response.write("a".repeat(1 << 16)));
          if (!response.destroyed) response.once("drain", more);
        };
        more();
      },
    ],
  ])("fails, and no more, at a gateway that %s", async (_, handler) => {
    await gateway(handler);
    const { code, found } = await verify();
    expect(code).toBe(1);
    expect(found.gateway).toMatchObject({ state: "failed" });
    expect(found.answers?.state).toBe("unknown");
  });

  it("says that an account is not a provider", async () => {
    said.isRegistered = false;
    const { code, found } = await verify();
    expect(code).toBe(1);
    expect(found.registration).toMatchObject({
      state: "failed",
      fix: expect.stringContaining("svc tx provider create"),
    });
    expect(found.gateway?.state).not.toBe("ok");
  });

  it("takes an address and nothing else", async () => {
    expect((await runCli(["provider", "verify", "nobody", "--node", node.address])).code).toBe(2);
  });
});

describe("the address for browsers", () => {
  const VERSION = '{"svc":{"version":"v9"}}';
  const finding = async () => (await verify()).found["web gateway"];

  /** A gateway with a certificate of an authority that only this test knows. */
  async function serve(name: string, handler: Handler): Promise<void> {
    const { chain, key } = await (await openAuthority(join(home, "authority"))).issue(
      name,
      AbortSignal.timeout(60_000),
    );
    shown = { ...shown, certificate: chain, privateKey: key };
    await gateway(handler);
    said.webGateway = said.hostUri.replace("127.0.0.1", "localhost");
  }

  it("may be missing", async () => {
    expect(await finding()).toMatchObject({ state: "ok", detail: expect.stringMatching(/^not published; .*https:/) });
    const tls = ["--ingress-tls-listen-address", "127.0.0.1:9444", "--ingress-tls-authority", join(home, "authority")];
    const { found } = await check(...tls, "--deployment-ingress-domain", "apps.example.com");
    expect(found["web gateway"]?.detail).toContain("web-gateway: https://gateway.apps.example.com:9444");
  });

  it("is asked as a page asks it, and its authority is named", async () => {
    await serve("localhost", (response) => response.end(VERSION));
    expect(await finding()).toMatchObject({
      state: "ok",
      detail: expect.stringMatching(/v9 answers, with a certificate of svc local authority, which browsers must/),
    });
  });

  it("is refused with a certificate for another name", async () => {
    await serve("other.example.com", (response) => response.end(VERSION));
    expect(await finding()).toMatchObject({ state: "failed", detail: expect.stringContaining("other.example.com") });
  });

  it.each<[string, Handler]>([
    ["is no gateway", (response) => response.end("<html>")],
    ["answers with more than a version", (response) => response.end(" ".repeat(1 << 20))],
    ["speaks another protocol", (response) => response.writeHead(101, { connection: "upgrade", upgrade: "x" }).end()],
    ["breaks off", (response) => response.writeHead(200, { "content-length": 9 }).write("{", () => response.destroy())],
  ])("fails at a server that %s", async (_, handler) => {
    await serve("localhost", handler);
    expect(await finding()).toMatchObject({ state: "failed" });
  });

  it.each([
    "http://gateway.example.com",
    "https://gateway.example.com/path",
    "gateway.example.com",
    "https://a@b.example",
  ])("is not %s", async (text) => {
    said.webGateway = text;
    expect(await finding()).toMatchObject({ state: "failed", detail: expect.stringContaining(text) });
  });
});

const check = (...words: string[]) =>
  findings(
    runCli([
      ...["provider", "check", "--from", PROVIDER, "--node", node.address, "-o", "json", "--home", home],
      ...["--cluster-engine", join(home, "none.sock"), "--provider-least-free-disk", "1Mi"],
      ...["--gateway-listen-address", "127.0.0.1:0", "--ingress-listen-address", "127.0.0.1:0", ...words],
    ]),
  );

async function ownCertificate(hosts: readonly string[], days = 100): Promise<void> {
  const now = Math.floor(Date.now() / 1000) * 1000;
  const validity = { notBefore: now - 1000, notAfter: now + days * 86_400_000 + 3_600_000 };
  const made = await makeCertificate({ address: PROVIDER, hosts, validity }, "passphrase");
  await writeCertificateFile(certificatePath(home, PROVIDER, "server"), made);
  const serial = (await import("../../../crypto/index.ts")).parseCertificatePem(made.certificate).serial;
  said.published = { ...shown, certificate: made.certificate, serial };
}

describe("svc provider check", () => {
  it("looks at everything, and needs no passphrase for an address", async () => {
    await ownCertificate(["127.0.0.1"]);
    const { code, found } = await check();
    expect(code).toBe(1);
    expect(Object.keys(found)).toEqual([
      ...[
        "node",
        "clock",
        "registration",
        "balance",
        "certificate",
        "settings",
        "cluster",
        "gpus",
        "container",
        "disk",
        "gateway port",
      ],
      ...["ingress port", "node ports"],
      ...["ingress domain", "provider", "dns", "gateway", "shown certificate", "web gateway"],
    ]);
    const states = Object.entries(found).map(([name, { state }]) => [name, state]);
    expect(Object.fromEntries(states)).toMatchObject({
      ...{
        node: "ok",
        clock: "ok",
        registration: "ok",
        balance: "ok",
        certificate: "ok",
        cluster: "failed",
        disk: "ok",
        settings: "ok",
      },
      ...{ "gateway port": "ok", "ingress port": "ok", provider: "failed", dns: "ok", gateway: "failed" },
    });
    expect(Object.values(found).filter(({ state, fix }) => state === "failed" && fix === undefined)).toEqual([]);
  });

  it.each<[string, string, Partial<Said>, RegExp]>([
    ["a node that catches up", "node", { catchingUp: true }, /catching up/],
    ["a clock that is behind", "clock", { time: Date.now() + 600_000 }, /s behind the last block/],
    ["a chain that stands still", "clock", { time: Date.now() - (CLOCK_AHEAD_S + 60) * 1000 }, /s old by this clock/],
    ["an account without money", "balance", { balance: "5000999" }, /5000999utoken; a bid takes 5001000utoken/],
    ["an account that is not registered", "registration", { isRegistered: false }, /is not a provider/],
    ["an address that is none", "dns", { hostUri: "nowhere" }, /nowhere is not an address/],
  ])("finds %s", async (_, name, change, detail) => {
    Object.assign(said, change);
    const { found } = await check();
    expect(found[name]).toMatchObject({
      state: "failed",
      detail: expect.stringMatching(detail),
      fix: expect.any(String),
    });
  });

  it("finds what is wrong with the certificate", async () => {
    const finding = async () => (await check()).found.certificate;
    expect(await finding()).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("has no certificate of"),
    });
    await ownCertificate(["elsewhere.example"]);
    expect(await finding()).toMatchObject({ detail: "it is not for 127.0.0.1" });
    await ownCertificate(["127.0.0.1"], 13);
    expect(await finding()).toMatchObject({ detail: "it expires in 13 days" });
    await ownCertificate(["127.0.0.1"], 14);
    expect(await finding()).toMatchObject({ state: "ok" });
    said.state = Certificate_State.revoked;
    expect(await finding()).toMatchObject({ detail: "it is revoked on the chain" });
    said.published = undefined;
    expect(await finding()).toMatchObject({ detail: "it is not on the chain" });
  });

  it("finds what is wrong with certificates for host names, where these answer over TLS", async () => {
    const folder = join(home, "certificates");
    mkdirSync(folder);
    const words = ["--ingress-tls-listen-address", "127.0.0.1:0", "--ingress-tls-certificates", folder];
    const finding = async (...more: string[]) => (await check(...words, ...more)).found["host certificates"];
    expect(await finding()).toMatchObject({ state: "failed", detail: `no certificate in ${folder}` });
    const fresh = ["--ingress-tls-authority", join(home, "authority")];
    expect(await finding(...fresh)).toMatchObject({ state: "ok", detail: expect.stringContaining("none yet") });
    const put = async (daysAgo: number) => {
      const authority = await openAuthority(
        join(home, "authority"),
        () => Date.now() + 3_600_000 - daysAgo * 86_400_000,
      );
      const { chain, key } = await authority.issue("shop.example", new AbortController().signal);
      writeFileSync(join(folder, "shop.pem"), chain + key, { mode: 0o600 });
    };
    await put(75);
    expect(await finding()).toMatchObject({
      state: "ok",
      detail: "names: 1; the first certificate expires in 15 days",
    });
    await put(77);
    expect(await finding()).toMatchObject({ state: "failed", detail: expect.stringContaining("expires in 13 days") });
    await put(91);
    expect(await finding()).toMatchObject({ state: "failed", fix: "renew it, or remove it" });
    chmodSync(join(folder, "shop.pem"), 0o644);
    expect(await finding()).toMatchObject({ state: "failed", detail: expect.stringContaining("chmod 600 it") });
    expect(Object.keys((await check()).found)).not.toContain("host certificates");
  });

  it("finds a port that another program has, and a disk without room", async () => {
    const taken = createTcpServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => taken.close(resolve)));
    const { port } = taken.address() as AddressInfo;
    const words = ["--ingress-listen-address", `127.0.0.1:${port}`, "--provider-least-free-disk", "999999999Gi"];
    const { found } = await check(...words);
    expect(found["ingress port"]).toMatchObject({
      state: "failed",
      fix: expect.stringContaining("--ingress-listen-address"),
    });
    expect(found.disk).toMatchObject({ state: "failed", detail: expect.stringMatching(/MiB free at .*, less than/) });
  });

  it("takes every flag of svc provider run, and says what that would not take", async () => {
    const names = (path: string) => ALL.find(({ name }) => name === path)?.flags?.map(({ name }) => name) ?? [];
    expect(names("check")).toEqual(expect.arrayContaining(names("run")));
    expect((await check("--bid-price-strategy", "scale", "--withdrawal-period", "1h")).found.settings).toMatchObject({
      state: "ok",
    });
    expect((await check("--provider-config", join(home, "none.yaml"))).found.settings).toMatchObject({
      state: "failed",
      detail: expect.stringContaining("none.yaml"),
    });
  });

  it("looks at every port that the provider would open", async () => {
    const taken = createTcpServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => taken.close(resolve)));
    const { port } = taken.address() as AddressInfo;
    const at = `127.0.0.1:${port}`;
    const range = ["--cluster-node-port-range", `${port}-${port}`, "--cluster-node-port-quantity", "1"];
    const nodePorts = [...range, "--cluster-node-port-address", "127.0.0.1"];
    const { found } = await check("--metrics-listener", at, "--gateway-grpc-listen-address", at, ...nodePorts);
    for (const [name, option] of [
      ["metrics port", "--metrics-listener"],
      ["gateway gRPC port", "--gateway-grpc-listen-address"],
      ["node ports", "--cluster-node-port-range"],
    ] as const) {
      expect(found[name]).toMatchObject({ state: "failed", fix: expect.stringContaining(option) });
    }
    expect(found["node ports"]?.detail).toContain(`leases may have 1; other programs have ${port}`);
  });

  it("asks the provider that runs", async () => {
    mkdirSync(join(home, "provider"));
    const view: ControlView = {
      ...{ provider: PROVIDER, started_at: "then", draining: true, leases: 2, orders: [] },
      obstacles: ["the operator drains it"],
    };
    const server = new ControlServer({ folder: join(home, "provider"), log: silentLogger, view: () => view });
    await server.listen();
    closing.push(() => server.close());
    const held = createTcpServer();
    await new Promise<void>((resolve) => held.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => held.close(resolve)));
    const { port } = held.address() as AddressInfo;
    const [free = 0] = await freePorts(1);
    const words = ["--gateway-listen-address", `127.0.0.1:${port}`, "--ingress-listen-address", `127.0.0.1:${free}`];
    const { found } = await check(...words);
    expect(found.provider).toMatchObject({
      state: "failed",
      detail: "it does not bid: the operator drains it",
      fix: "svc provider drain --undo",
    });
    expect(found["gateway port"]).toMatchObject({
      state: "ok",
      detail: `127.0.0.1:${port} is in use, as by the running provider`,
    });
    expect(found["ingress port"]).toMatchObject({
      state: "failed",
      detail: `nothing listens on 127.0.0.1:${free}, although the provider runs`,
      fix: expect.stringContaining("--ingress-listen-address"),
    });
  });

  it("says once that the node is away, and nothing untrue about the rest", async () => {
    await node.stop();
    const { code, found } = await check();
    expect(code).toBe(1);
    expect(found.node?.state).toBe("failed");
    for (const name of ["clock", "registration", "balance", "dns"]) expect(found[name]?.state, name).toBe("unknown");
  });

  it.each<[string, Handler]>([
    ["redirects", (response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end()],
    ["talks nonsense", (response) => response.end("<html>")],
    ["has no number in its answers", (response) => response.end('{"jsonrpc":"2.0","id":1,"result":{"sync_info":7}}')],
  ])("fails, and no more, at a node that %s", async (_, handler) => {
    await node.stop();
    const server: Server = createPlainServer((_request, response) => handler(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, found } = await check("--node", address);
    expect(code).toBe(1);
    expect(found.node?.state).toBe("failed");
  });
});
