import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { waitFor } from "../../../test/support/wait.ts";
import { silentLogger } from "../../util/index.ts";
import { Health } from "../../wire/gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../wire/gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../wire/gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Query as Auth } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { Service as Tendermint } from "../../wire/gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { BroadcastMode, Service as Tx } from "../../wire/gen/sdk/tx/v1beta1/service_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { nodeConfig } from "../config.ts";
import { addGenesisAccounts } from "../home/genesis.ts";
import { initHome } from "../home/init.ts";
import { type Node, startNode } from "../node.ts";
import { descriptorFiles } from "./descriptor-bytes.ts";
import { MAX_HEADER_BYTES } from "./limits.ts";

const ALICE = encodeAddress(new Uint8Array(20).fill(1));
const NOBODY = encodeAddress(new Uint8Array(20).fill(9));

let root = "";
let node: Node;
let url = "";
let bank: Client<typeof Bank>;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-grpc-"));
  const home = join(root, "home");
  initHome({ home, moniker: "tester", chainId: "svc-grpc-1" });
  addGenesisAccounts(home, [{ address: ALICE, coins: [{ denom: "utoken", amount: 7n }] }]);
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.address": "tcp://127.0.0.1:0",
    "grpc.max-recv-msg-size": "2000",
    "api.cors-allowed-origins": "https://wallet.example",
    "block-interval": "100ms",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v9.9.9" });
  url = `http://${node.grpcAddress}`;
  bank = createClient(Bank, grpc());
  await waitFor(() => node.engine.blocks.height > 1n, "two blocks");
});

afterAll(async () => {
  await node.stop();
  rmSync(root, { recursive: true });
});

const grpc = (): Transport => createGrpcTransport({ baseUrl: url });

/** A service under the name that it has in the ecosystem. */
function alias<S extends typeof Bank | typeof Auth>(service: S): S {
  const parent = { ...service, typeName: service.typeName.replace("sdk.", "cosmos.") };
  const methods = service.methods.map((method) => ({ ...method, parent }));
  return Object.assign(parent, { methods, method: Object.fromEntries(methods.map((each) => [each.localName, each])) });
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => (error instanceof ConnectError ? [Code[error.code], error.rawMessage] : error),
  );

describe("calls", () => {
  it.each([
    ["gRPC", () => grpc()],
    ["gRPC-web over HTTP/1", () => createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })],
    ["gRPC-web over HTTP/2", () => createGrpcWebTransport({ baseUrl: url, httpVersion: "2" })],
    ["Connect with JSON", () => createConnectTransport({ baseUrl: url, httpVersion: "1.1" })],
    ["Connect with protobuf", () => createConnectTransport({ baseUrl: url, httpVersion: "2", useBinaryFormat: true })],
  ])("are answered over %s, in both spellings, with the height", async (_, transport) => {
    for (const service of [Bank, alias(Bank)]) {
      const heights: (string | null)[] = [];
      const client = createClient(service, transport());
      const onHeader = (headers: Headers) => void heights.push(headers.get("x-cosmos-block-height"));
      const { balance } = await client.balance({ address: ALICE, denom: "utoken" }, { onHeader });
      expect(balance).toMatchObject({ denom: "utoken", amount: "7" });
      expect(Number(heights[0])).toBeGreaterThan(1);
      expect(await codeOf(client.balance({ address: "bad", denom: "utoken" }))).toEqual([
        "InvalidArgument",
        expect.stringContaining("bad"),
      ]);
    }
  });

  it("name types in the spelling that was asked", async () => {
    const ours = await createClient(Auth, grpc()).account({ address: ALICE });
    const theirs = await createClient(alias(Auth), grpc()).account({ address: ALICE });
    expect([ours.account?.typeUrl, theirs.account?.typeUrl]).toEqual([
      "/sdk.auth.v1beta1.BaseAccount",
      "/cosmos.auth.v1beta1.BaseAccount",
    ]);
    const json = await fetch(`${url}/cosmos.auth.v1beta1.Query/Account`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ address: ALICE }),
    });
    expect(await json.json()).toMatchObject({
      account: { "@type": "/cosmos.auth.v1beta1.BaseAccount", address: ALICE },
    });
  });

  it("are refused with the codes of the reference, without its wrapping", async () => {
    const tx = createClient(Tx, grpc());
    const { account } = createClient(Auth, grpc());
    expect(await codeOf(account({ address: NOBODY }))).toEqual(["NotFound", `account ${NOBODY} not found`]);
    expect(await codeOf(tx.getTx({ hash: "A".repeat(64) }))).toEqual([
      "NotFound",
      expect.stringContaining("tx not found"),
    ]);
    expect(await codeOf(tx.simulate({}))).toEqual(["InvalidArgument", expect.stringContaining("empty txBytes")]);
    expect(await codeOf(bank.allBalances({ address: ALICE, pagination: { limit: 1001n } }))).toEqual([
      "InvalidArgument",
      expect.stringContaining("at most 1000 rows"),
    ]);
  });

  it("submit transactions and read the node's own services", async () => {
    const tx = createClient(Tx, grpc());
    const { txResponse } = await tx.broadcastTx({ txBytes: new Uint8Array(3), mode: BroadcastMode.SYNC });
    expect(txResponse).toMatchObject({ code: 2, codespace: "sdk" });
    const { defaultNodeInfo } = await createClient(Tendermint, grpc()).getNodeInfo({});
    expect(defaultNodeInfo).toMatchObject({ network: "svc-grpc-1", moniker: "tester" });
  });

  it("ask for the state of a height", async () => {
    const at = (height: string) => codeOf(bank.params({}, { headers: { "x-cosmos-block-height": height } }));
    expect(await at("0")).toBe("answered");
    expect(await at("999999")).toEqual(["InvalidArgument", expect.stringContaining("height in the future")]);
    expect(await at("-1")).toEqual(["InvalidArgument", expect.stringContaining("is not a height")]);
  });

  it("of unknown rpcs and services are unimplemented", async () => {
    const parent = { ...Bank, typeName: "cosmos.nosuch.v1.Query" };
    const method = { ...Bank.method.params, parent };
    const nosuch = createClient({ ...parent, methods: [method], method: { params: method } }, grpc());
    expect(await codeOf(nosuch.params({}))).toEqual([
      "Unimplemented",
      expect.stringContaining("cosmos.nosuch.v1.Query"),
    ]);
  });
});

describe("plain calls over HTTP/2", () => {
  const PARAMS = "/cosmos.bank.v1beta1.Query/Params";
  const LIMIT = 2000;

  /** The headers, the body and the trailers of the answer to a body. */
  const call = (body: Uint8Array, headers: Record<string, string> = {}, path = PARAMS) =>
    new Promise<{ status: unknown; message: string; type: unknown; body: Buffer }>((resolve, reject) => {
      const session = connectHttp2(url);
      const sent = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request({ ...sent, ...headers });
      const told: Record<string, unknown> = {};
      const parts: Buffer[] = [];
      stream.on("response", (each) => Object.assign(told, each));
      stream.on("trailers", (each) => Object.assign(told, each));
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("error", reject);
      stream.on("close", () => {
        session.destroy();
        const message = decodeURIComponent(String(told["grpc-message"] ?? ""));
        resolve({ status: told["grpc-status"], message, type: told["content-type"], body: Buffer.concat(parts) });
      });
      stream.end(body);
    });
  const frame = (message: Uint8Array, packed = 0, length = message.length) => {
    const header = Buffer.alloc(5);
    header[0] = packed;
    header.writeUInt32BE(length, 1);
    return Buffer.concat([header, message]);
  };
  /** Field 15, which no request has, so that it is ignored. */
  const filled = (bytes: number) => {
    const content = bytes - 3;
    return Buffer.concat([Buffer.from([0x7a, 0x80 | (content & 0x7f), content >>> 7]), Buffer.alloc(content)]);
  };
  const nothing = new Uint8Array(0);

  it("have the answer that the library gives to the same call with a deadline", async () => {
    const [quick, slow] = [await call(frame(nothing)), await call(frame(nothing), { "grpc-timeout": "10S" })];
    expect(quick.status).toBe("0");
    expect(quick.body.length).toBeGreaterThan(5);
    expect(quick).toEqual(slow);
    const path = "/sdk.bank.v1beta1.Query/Balance";
    const bad = frame(Buffer.from([10, 1, 120]));
    const refused = await call(bad, {}, path);
    expect(refused).toMatchObject({ status: "3", message: expect.stringContaining("invalid") });
    expect(refused).toEqual(await call(bad, { "grpc-timeout": "10S" }, path));
  });

  it.each([
    ["no frame", nothing, "3"],
    ["half a header", Buffer.alloc(4), "3"],
    ["a message shorter than its length", frame(nothing, 0, 1), "3"],
    ["a length of four gigabytes", frame(nothing, 0, 0xffffffff), "3"],
    ["a packed message", frame(nothing, 1), "13"],
    ["two messages", Buffer.concat([frame(nothing), frame(nothing)]), "12"],
    ["bytes that are no message", frame(Buffer.from([0x0a, 0x7f])), "3"],
  ])("with %s are refused", async (_, body, status) => {
    expect((await call(body)).status).toBe(status);
  });

  it("may be as long as the limit, and not a byte longer", async () => {
    expect((await call(frame(filled(LIMIT)))).status).toBe("0");
    const beyond = await call(frame(filled(LIMIT + 1)));
    expect([beyond.status, beyond.message]).toEqual(["8", `the message is larger than ${LIMIT} bytes`]);
  });

  describe("may have headers as long as the limit, and not a byte longer,", () => {
    /** A header that fills a call's headers to this size, as HTTP/2 counts: 32 bytes more for each. */
    const filling = (bytes: number) => {
      const own = { ":method": "POST", ":path": PARAMS, ":scheme": "http", ":authority": new URL(url).host };
      const all = Object.entries({ ...own, te: "trailers", "content-type": "application/grpc", x: "" });
      return { x: "v".repeat(bytes - all.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)) };
    };

    it("on a connection that does not know the limit yet", async () => {
      expect((await call(frame(nothing), filling(MAX_HEADER_BYTES))).status).toBe("0");
      const beyond = await call(frame(nothing), filling(MAX_HEADER_BYTES + 1));
      expect([beyond.status, beyond.message]).toEqual(["8", "the headers of a call may have 8192 bytes"]);
    });

    it("on one that knows it", async () => {
      const session = connectHttp2(url);
      await new Promise((resolve) => session.once("remoteSettings", resolve));
      // Data after its answer to the settings.
      await new Promise((resolve) => session.ping(resolve));
      const again = (bytes: number) =>
        new Promise<unknown>((resolve) => {
          const sent = { ":method": "POST", ":path": PARAMS, "content-type": "application/grpc", te: "trailers" };
          const stream = session.request({ ...sent, ...filling(bytes) });
          stream.on("error", ({ message }) => resolve(message)).on("response", (each) => resolve(each[":status"]));
          stream.resume().end(frame(nothing));
        });
      expect(await again(MAX_HEADER_BYTES)).toBe(200);
      expect(await again(MAX_HEADER_BYTES + 1)).toContain("NGHTTP2_ENHANCE_YOUR_CALM");
      session.destroy();
    });
  });

  it("that wait to be told to continue are told so", async () => {
    const session = connectHttp2(url);
    const headers = { ":method": "POST", ":path": PARAMS, "content-type": "application/grpc", expect: "100-continue" };
    const stream = session.request(headers);
    stream.on("continue", () => stream.end(frame(nothing)));
    const trailers = await new Promise<Record<string, unknown>>((resolve) => stream.on("trailers", resolve).resume());
    expect(trailers["grpc-status"]).toBe("0");
    session.destroy();
  });

  it("that end before their message hold nothing up", async () => {
    const session = connectHttp2(url);
    session.on("error", () => {});
    for (let i = 0; i < 50; i++) {
      const stream = session.request({ ":method": "POST", ":path": PARAMS, "content-type": "application/grpc" });
      stream.on("error", () => {});
      stream.write(Buffer.alloc(3), () => stream.close());
    }
    expect((await call(frame(nothing))).status).toBe("0");
    session.destroy();
    expect((await call(frame(nothing))).status).toBe("0");
  });
});

describe("reflection", () => {
  async function reflect(
    service: typeof ServerReflection | typeof ServerReflectionAlpha,
    request: { case: "listServices" | "fileContainingSymbol" | "fileByFilename"; value: string },
  ) {
    async function* requests() {
      yield { messageRequest: request };
    }
    const client = createClient(service as typeof ServerReflection, grpc());
    for await (const { messageResponse } of client.serverReflectionInfo(requests())) return messageResponse;
    return undefined;
  }

  it.each([ServerReflection, ServerReflectionAlpha])(
    "lists what is served in both spellings, by %s",
    async (service) => {
      const answer = await reflect(service, { case: "listServices", value: "" });
      const names = answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
      expect(names).toEqual([...names].sort());
      for (const name of ["cosmos.bank.v1beta1.Query", "sdk.bank.v1beta1.Query", "svc.market.v1beta1.Query"])
        expect(names).toContain(name);
      expect(names).not.toContain("cosmos.svc.market.v1beta1.Query");
    },
  );

  it("gives the file of every service that it lists, and those that they need", async () => {
    const answer = await reflect(ServerReflection, { case: "listServices", value: "" });
    const names = answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    for (const name of [
      ...names,
      "cosmos.bank.v1beta1.Query.Balance",
      "cosmos.tx.v1beta1.Tx",
      "sdk.tx.v1beta1.OrderBy",
    ]) {
      const file = await reflect(ServerReflection, { case: "fileContainingSymbol", value: name });
      expect([name, file?.case]).toEqual([name, "fileDescriptorResponse"]);
    }
    const known = new Set(descriptorFiles().map(([name]) => name));
    for (const name of ["cosmos/bank/v1beta1/query.proto", "google/api/annotations.proto"])
      expect(known).toContain(name);
  });

  it.each([
    ["fileContainingSymbol", "cosmos.nosuch.v1.Query"],
    ["fileContainingSymbol", ""],
    ["fileByFilename", "../../etc/passwd"],
    ["fileByFilename", "__proto__"],
  ] as const)("knows no %s %j", async (kind, value) => {
    expect(await reflect(ServerReflection, { case: kind, value })).toMatchObject({
      case: "errorResponse",
      value: { errorCode: Code.NotFound },
    });
  });
});

describe("health", () => {
  it("is reported for the server and for each service", async () => {
    const health = createClient(Health, grpc());
    for (const service of ["", "cosmos.bank.v1beta1.Query", "grpc.health.v1.Health"])
      expect((await health.check({ service })).status).toBe(1);
    expect(await codeOf(health.check({ service: "nosuch" }))).toEqual(["NotFound", expect.stringContaining("nosuch")]);
  });

  it("is streamed to those who watch, a bounded number at a time", async () => {
    const health = createClient(Health, grpc());
    const stop = new AbortController();
    const watch = async (service = "") => {
      for await (const { status } of health.watch({ service }, { signal: stop.signal })) return status;
      return undefined;
    };
    expect(await watch()).toBe(1);
    expect(await watch("nosuch")).toBe(3);
    const clients = [health, createClient(Health, grpc())];
    const begin = (i: number) => clients[i % 2]?.watch({}, { signal: stop.signal })[Symbol.asyncIterator]().next();
    const ends = await Promise.all(Array.from({ length: 150 }, (_, i) => codeOf(Promise.resolve(begin(i)))));
    const answered = ends.filter((end) => end === "answered").length;
    // The two earlier watchers may not be gone yet.
    expect([98, 99, 100]).toContain(answered);
    stop.abort();
    await waitFor(async () => (await codeOf(watchOnce())) === "answered", "room for others");
  });

  async function watchOnce(): Promise<void> {
    for await (const _ of createClient(Health, grpc()).watch({})) return;
  }
});

describe("web pages", () => {
  it("of allowed origins may call, others may not", async () => {
    const from = (origin: string, method = "POST") =>
      fetch(`${url}/cosmos.bank.v1beta1.Query/Params`, {
        method,
        headers: { origin, "content-type": "application/json" },
        ...(method === "POST" ? { body: "{}" } : {}),
      });
    const allowed = await from("https://wallet.example");
    expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://wallet.example",
    ]);
    expect(allowed.headers.get("access-control-expose-headers")).toContain("Grpc-Status");
    const preflight = await from("https://wallet.example", "OPTIONS");
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
      204,
      expect.stringContaining("X-Grpc-Web"),
    ]);
    expect((await from("https://evil.example")).status).toBe(403);
  });
});

describe("clients that break the rules", () => {
  const answers = () => expect(codeOf(bank.params({}))).resolves.toBe("answered");
  const raw = (bytes: Uint8Array | string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(url);
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.write(bytes));
      socket.on("data", (data) => {
        answer += String(data);
        if (answer.startsWith("HTTP")) socket.destroy();
      });
      socket.on("error", () => {});
      socket.on("close", () => resolve(answer));
    });

  it("send too much, packed messages, or no message", async () => {
    expect(await codeOf(bank.balance({ address: "x".repeat(3000) }))).toEqual([
      "ResourceExhausted",
      expect.stringContaining("2000"),
    ]);
    const call = (body: string, headers: Record<string, string>) =>
      fetch(`${url}/cosmos.bank.v1beta1.Query/Params`, { method: "POST", body, headers });
    const deep = { "content-type": "application/json" };
    expect((await call("[".repeat(1900), deep)).status).toBe(400);
    expect((await call("{}", { ...deep, "content-encoding": "gzip" })).status).toBeGreaterThanOrEqual(400);
    expect((await call("x", { "content-type": "text/plain" })).status).toBe(415);
    for (const malformed of ["\0\0", "\x0f", "\n\xff"]) {
      const answer = await call(malformed, { "content-type": "application/proto" });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: "invalid_argument" });
    }
    expect((await fetch(`${url}/../etc/passwd`)).status).toBe(404);
    await answers();
  });

  it("ask to change the protocol", async () => {
    const body = "{}";
    const head =
      "POST /cosmos.bank.v1beta1.Query/Params HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
    for (const other of ["h2c", "websocket"])
      expect(
        await raw(`${head}Connection: Upgrade\r\nUpgrade: ${other}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
      ).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("greet in neither protocol, or break off", async () => {
    expect(await raw("NONSENSE\r\n\r\n")).toContain("400");
    expect(await raw("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")).not.toContain("HTTP/1.1");
    const { hostname, port } = new URL(url);
    for (const part of ["P", "PRI * HTTP", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTT"]) {
      const socket = connect(Number(port), hostname, () => socket.write(part, () => socket.destroy()));
      await new Promise((resolve) => socket.once("close", resolve));
    }
    const slow = connect(Number(port), hostname, () => slow.write("GE"));
    const said = new Promise<string>((resolve) => slow.once("data", (data) => resolve(String(data))));
    setTimeout(() => slow.write("T / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), 50);
    expect(await said).toContain("404");
    slow.destroy();
    await answers();
  });

  it("open more streams than one connection may have, and reset them", async () => {
    const session = connectHttp2(url);
    session.on("error", () => {});
    await new Promise((resolve) => session.once("remoteSettings", resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100);
    for (let i = 0; i < 500; i++) {
      if (session.destroyed) break;
      const stream = session.request({ ":method": "POST", ":path": "/cosmos.bank.v1beta1.Query/Params" });
      stream.on("error", () => {});
      stream.close();
    }
    await answers();
    session.destroy();
  });

  it("find a fault of the node, which ends nothing", async () => {
    const spy = vi.spyOn(node.engine.blocks, "record").mockImplementation(() => {
      throw new Error("secret");
    });
    const { getBlockByHeight } = createClient(Tendermint, grpc());
    expect(await codeOf(getBlockByHeight({ height: 1n }))).toEqual(["Internal", expect.not.stringContaining("secret")]);
    spy.mockRestore();
    await answers();
  });
});
