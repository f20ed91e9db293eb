import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { closed } from "../../../test/support/closed.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { silentLogger } from "../../util/index.ts";
import { StaticFiles } from "../../util/servers/index.ts";
import { nodeConfig } from "../config.ts";
import { initHome } from "../home/init.ts";
import { type Node, startNode } from "../node.ts";
import { ConsolePages, consoleFiles, nodeSession } from "./console.ts";

let root = "";
let node: Node;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-console-"));
  const home = join(root, "home");
  initHome({ home, moniker: "tester", chainId: "svc-console-1" });
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.address": "tcp://127.0.0.1:0",
    "api.enable": "true",
    "api.address": "tcp://127.0.0.1:0",
    "api.rpc-max-body-bytes": "2000",
    "block-interval": "100ms",
    "minimum-gas-prices": "0.01utoken",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v9.9.9" });
  await waitFor(() => node.engine.blocks.height > 1n, "two blocks");
});

afterAll(async () => {
  await node.stop();
  rmSync(root, { recursive: true });
});

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** An answer to a path that is sent unchanged. */
function ask(path: string, { method = "GET", headers = {}, body }: Asked = {}) {
  const { hostname, port } = new URL(node.restUrl ?? "");
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", reject).end(body);
  });
}

const json = async (path: string, asked?: Asked) => JSON.parse((await ask(path, asked)).text);
const JSON_BODY = { "content-type": "application/json" };

describe("the interfaces of a node below /console/api/", () => {
  it("are JSON-RPC by POST and GET", async () => {
    const call = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "status" });
    const posted = await json("/console/api/rpc", { method: "POST", headers: JSON_BODY, body: call });
    expect(posted).toMatchObject({ id: 7, result: { node_info: { network: "svc-console-1" } } });
    expect(await json("/console/api/rpc/block?height=1")).toMatchObject({ result: { block: { header: {} } } });
    expect((await ask("/console/api/rpc?x")).text).toMatch(/^Available endpoints/);
  });

  it("are REST and Connect", async () => {
    const path = "sdk/bank/v1beta1/params";
    expect(await json(`/console/api/rest/${path}`)).toEqual(await json(`/${path}`));
    const call = { method: "POST", headers: JSON_BODY, body: "{}" };
    expect(await json("/console/api/connect/cosmos.bank.v1beta1.Query/Params", call)).toMatchObject({ params: {} });
    expect(await ask("/console/api/connect/no.Such/Rpc", call)).toMatchObject({ status: 404 });
  });

  it("are events over websockets", async () => {
    const socket = new WebSocket(`${node.restUrl?.replace("http", "ws")}/console/api/rpc/websocket`);
    const heard: string[] = [];
    socket.on("message", (data) => heard.push(String(data)));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.send(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscribe", params: { query: "tm.event='NewBlock'" } }),
    );
    await waitFor(() => heard.length > 1, "the first event");
    expect(heard[1]).toContain("tendermint/event/NewBlock");
    // The node ends it when it stops.
  });

  it("say what this origin is, and nothing that may be kept", async () => {
    expect(await json("/console/api/session")).toEqual({ mode: "node", chainId: "svc-console-1", node: "tester" });
    expect((await ask("/console/api/session")).headers["cache-control"]).toBe("no-store");
  });

  it("are told to wallets by the name under which they came, and by the proxy's scheme", async () => {
    const api = `${node.restUrl}/console/api`;
    const info = await json("/console/api/chain.json");
    expect(info).toMatchObject({ chainId: "svc-console-1", rpc: `${api}/rpc`, rest: `${api}/rest` });
    expect(info.feeCurrencies[0].gasPriceStep).toEqual({ low: 0.01, average: 0.01, high: 0.02 });
    const headers = { host: "chain.localhost", "x-forwarded-proto": "https" };
    const proxied = await json("/console/api/chain.json", { headers });
    expect(proxied.rpc).toBe("https://chain.localhost/console/api/rpc");
    expect((await ask("/console/api/chain.json")).headers["cache-control"]).toBe("no-store");
  });

  it("have the limits of their servers", async () => {
    const large = { method: "POST", headers: JSON_BODY, body: " ".repeat(2001) };
    expect(await ask("/console/api/rest/cosmos/tx/v1beta1/txs", large)).toMatchObject({ status: 413 });
    expect(await ask("/console/api/rpc", { ...large, body: " ".repeat(1_000_001) })).toMatchObject({ status: 413 });
  });
});

describe("pages of other origins", () => {
  const foreign = { origin: "https://evil.example" };

  it.each(["", "api/session", "api/chain.json", "api/rpc/status", "api/rest/sdk/bank/v1beta1/params", "api/connect/x"])(
    "and rebound names are refused at /console/%s",
    async (path) => {
      const [crossed, rebound] = [foreign, { host: "evil.example" }].map((headers) =>
        ask(`/console/${path}`, { headers }),
      );
      expect([(await crossed)?.status, (await rebound)?.status]).toEqual([403, 403]);
    },
  );

  it("open no websocket", async () => {
    const url = `${node.restUrl?.replace("http", "ws")}/console/api/rpc/websocket`;
    const refused = (headers: Record<string, string>) =>
      new Promise((resolve) => new WebSocket(url, { headers }).once("error", ({ message }) => resolve(message)));
    expect(await refused(foreign)).toBe("Unexpected server response: 403");
    expect(await refused({ host: "evil.example" })).toBe("Unexpected server response: 403");
  });
});

describe("a request for another protocol", () => {
  it("is answered in this one, with its body", async () => {
    const wish = {
      connection: "Upgrade, HTTP2-Settings",
      upgrade: "h2c",
      "http2-settings": "AAMAAABkAAQAoAAAAAIAAAAA",
    };
    const got = await ask("/sdk/bank/v1beta1/params", { headers: wish });
    expect([got.status, got.headers.connection]).toEqual([200, "close"]);
    const call = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "health", params: [" ".repeat(100)] });
    const posted = await ask("/console/api/rpc", { method: "POST", headers: { ...wish, ...JSON_BODY }, body: call });
    expect([posted.status, posted.text.includes('"id":7')]).toEqual([200, true]);
  });

  it("ends a connection that still waits for an answer", async () => {
    const { hostname, port } = new URL(node.restUrl ?? "");
    const socket = connect(Number(port), hostname);
    const head = "HTTP/1.1\r\nHost: localhost\r\n";
    socket.write(`GET /sdk/bank/v1beta1/params ${head}\r\nGET / ${head}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`);
    await closed(socket);
    expect(await json("/console/api/session")).toMatchObject({ mode: "node" });
  });

  it("opens no websocket elsewhere", async () => {
    const url = node.restUrl?.replace("http", "ws");
    const answered = { "/": 200, "/websocket": 501, "/console/api/rest/websocket": 501, "/console/websocket": 404 };
    for (const [path, status] of Object.entries({ ...answered, "/console/api/rpc": 404 })) {
      const message = await new Promise((resolve) =>
        new WebSocket(`${url}${path}`).once("error", (error) => resolve(error.message)),
      );
      expect(`${path} ${message}`).toBe(`${path} Unexpected server response: ${status}`);
    }
  });
});

describe("the pages", () => {
  const pages = (files: StaticFiles) =>
    new ConsolePages({ files, session: () => nodeSession("svc-1", "n"), chainInfo: () => ({}) });

  it("are files with a policy of their own, and anything else is no page", () => {
    const folder = join(root, "files");
    mkdirSync(join(folder, "assets"), { recursive: true });
    writeFileSync(join(folder, "index.html"), "<!doctype html>");
    writeFileSync(join(folder, "terminal.html"), "<!doctype html>");
    const served = pages(new StaticFiles(folder));
    const index = served.page("/console/", {});
    expect([index?.status, String(index?.text)]).toEqual([200, "<!doctype html>"]);
    expect(index?.headers["Content-Security-Policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; worker-src 'self'; " +
        "frame-src 'self'; connect-src 'self' https: wss:; require-trusted-types-for 'script'; frame-ancestors 'none'; " +
        "base-uri 'none'; form-action 'none'",
    );
    const frame = served.page("/console/terminal.html", {})?.headers ?? {};
    expect(frame["Content-Security-Policy"]).toMatch(
      /connect-src 'none'; frame-ancestors 'self'; .*; sandbox allow-scripts$/,
    );
    expect(frame).not.toHaveProperty("X-Frame-Options");
    expect(served.page("/console/none", {})).toMatchObject({ status: 404 });
    expect(served.page("/consoles", {})).toBeUndefined();
    expect(served.page("/console", {})).toMatchObject({ status: 308, headers: { Location: "console/" } });
  });

  it("say how they are built where they are not", () => {
    const missing = pages(new StaticFiles(join(root, "nowhere"))).page("/console/", {});
    expect([missing?.status, missing?.text]).toEqual([404, expect.stringContaining("run npm run build")]);
  });

  it("stand beside the built program, and in a checkout where its build puts them", () => {
    const place = (from: string) => consoleFiles(from).folder;
    expect(place("file:///opt/svc/dist/svc.cjs")).toBe("/opt/svc/dist/console/");
    expect(place("file:///home/me/svc/src/node/console/console.ts")).toBe("/home/me/svc/dist/console/");
  });

  it("are found by no other path, and need no body for HEAD", async () => {
    for (const path of [
      "/console/../sdk",
      "/console/..%2f..%2fpackage.json",
      "/console/%2e%2e/package.json",
      "/console//",
    ]) {
      expect(await ask(path)).toMatchObject({ status: 404 });
    }
    expect(await ask("/console", { method: "HEAD" })).toMatchObject({ status: 308, text: "" });
    expect(await ask("/console/", { method: "POST" })).toMatchObject({ status: 501 });
  });
});

it("is served where REST is on loopback only, unless the setting says otherwise", () => {
  const isServed = (address: string, console?: string) =>
    nodeConfig({ "api.enable": "true", "api.address": address, console }).rest?.console;
  expect(isServed("tcp://127.0.0.1:1317")).toBe(true);
  expect(isServed("localhost:1317")).toBe(true);
  expect(isServed("tcp://0.0.0.0:1317")).toBe(false);
  expect(isServed("tcp://0.0.0.0:1317", "true")).toBe(true);
  expect(isServed("tcp://127.0.0.1:1317", "false")).toBe(false);
});
