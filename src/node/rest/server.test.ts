import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { sendDespiteAnswer } from "../../../test/support/late-body.ts";
import { waitFor } from "../../../test/support/wait.ts";
import { silentLogger } from "../../util/index.ts";
import { encodeAddress, isObject, type JsonObject, type JsonValue } from "../../wire/index.ts";
import { nodeConfig } from "../config.ts";
import { addGenesisAccounts } from "../home/genesis.ts";
import { initHome } from "../home/init.ts";
import { type Node, startNode } from "../node.ts";

const ALICE = encodeAddress(new Uint8Array(20).fill(1));
const NOBODY = encodeAddress(new Uint8Array(20).fill(9));
const BALANCES = `bank/v1beta1/balances/${ALICE}`;

let root = "";
let node: Node;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-rest-"));
  const home = join(root, "home");
  initHome({ home, moniker: "tester", chainId: "svc-rest-1" });
  const coins = ["stake", "uother", "utoken"].map((denom, i) => ({ denom, amount: BigInt(i + 7) }));
  addGenesisAccounts(home, [{ address: ALICE, coins }]);
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "api.enable": "true",
    "api.address": "tcp://127.0.0.1:0",
    "api.cors-allowed-origins": "https://wallet.example",
    "api.rpc-max-body-bytes": "2000",
    "block-interval": "100ms",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v9.9.9" });
  await waitFor(() => node.engine.blocks.height > 1n, "two blocks");
});

afterAll(async () => {
  await node.stop();
  rmSync(root, { recursive: true });
});

const urlOf = (path: string): string => `${node.restUrl}${path}`;

async function ask(path: string, init: RequestInit = {}) {
  const response = await fetch(urlOf(path), init);
  const text = await response.text();
  const json: JsonValue = text === "" ? null : JSON.parse(text);
  return { status: response.status, headers: response.headers, text, json };
}

/** The answer to raw bytes, until the server ends the connection or has sent `until`. */
function raw(bytes: string, until = "\r\n\r\n"): Promise<string> {
  const { hostname, port } = new URL(urlOf("/"));
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const done = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.on("data", (data) => {
      answer += String(data);
      if (answer.includes(until)) done();
    });
    socket.on("error", done);
    socket.on("close", done);
  });
}

describe("queries", () => {
  it("are answered under both spellings, with the height and the form of the reference", async () => {
    const [ours, theirs] = [await ask(`/sdk/${BALANCES}?pagination.limit=1`), await ask(`/cosmos/${BALANCES}`)];
    expect(ours.text).toBe(
      '{\n  "balances": [\n    {\n      "denom": "stake",\n      "amount": "7"\n    }\n  ],\n' +
        '  "pagination": {\n    "next_key": "dW90aGVyAA==",\n    "total": "0"\n  }\n}',
    );
    expect(theirs.json).toMatchObject({ balances: [{}, {}, {}], pagination: { next_key: null, total: "3" } });
    expect(Number(ours.headers.get("grpc-metadata-x-cosmos-block-height"))).toBeGreaterThan(1);
    expect(ours.headers.get("x-sdk-block-height")).toBe(ours.headers.get("x-cosmos-block-height"));
    expect(ours.headers.get("content-type")).toBe("application/json");
  });

  it("walk through pages by key, by offset and from behind", async () => {
    const denomsOf = ({ json }: { json: JsonValue }) => {
      const { balances } = json as unknown as { balances: readonly { denom: string }[] };
      return balances.map(({ denom }) => denom);
    };
    const page = (query: string) => ask(`/cosmos/${BALANCES}?${query}`);
    const first = await page("pagination.limit=2");
    const { next_key: key } = (first.json as unknown as { pagination: { next_key: string } }).pagination;
    expect(denomsOf(first)).toEqual(["stake", "uother"]);
    expect(denomsOf(await page(`pagination.key=${encodeURIComponent(key)}`))).toEqual(["utoken"]);
    expect(denomsOf(await page("pagination.offset=1&pagination.limit=1"))).toEqual(["uother"]);
    expect(denomsOf(await page("pagination.reverse=true&pagination.limit=1"))).toEqual(["utoken"]);
    expect(denomsOf(await page("pagination.offset=9223372036854775808"))).toEqual([]);
    const counted = await page("pagination.limit=1&pagination.count_total=true");
    expect(counted.json).toMatchObject({ pagination: { total: "3" } });
  });

  it("name types in the spelling that was asked", async () => {
    expect((await ask(`/cosmos/auth/v1beta1/accounts/${ALICE}`)).text).toContain('"/cosmos.auth.v1beta1.BaseAccount"');
    expect((await ask(`/sdk/auth/v1beta1/accounts/${ALICE}`)).text).toContain('"/sdk.auth.v1beta1.BaseAccount"');
  });

  it("are answered for HEAD without a body", async () => {
    const { status, headers, text } = await ask("/sdk/bank/v1beta1/params", { method: "HEAD" });
    expect([status, text, Number(headers.get("content-length")) > 10]).toEqual([200, "", true]);
  });
});

describe("the node's own services", () => {
  it("show validators, by height too", async () => {
    for (const at of ["latest", "1"]) {
      const { json } = await ask(`/cosmos/base/tendermint/v1beta1/validatorsets/${at}`);
      expect(json).toMatchObject({
        validators: [
          {
            address: expect.stringMatching(/^svcvalcons1/),
            pub_key: { "@type": "/cosmos.crypto.ed25519.PubKey" },
            voting_power: "10",
          },
        ],
        pagination: { next_key: null, total: "1" },
      });
    }
    const { json } = await ask("/sdk/base/tendermint/v1beta1/validatorsets/latest?pagination.offset=9");
    expect(json).toMatchObject({ validators: [] });
    expect((await ask("/cosmos/base/tendermint/v1beta1/validatorsets/999999")).status).toBe(400);
    expect((await ask("/cosmos/base/tendermint/v1beta1/validatorsets/-1")).status).toBe(400);
  });

  it("show stored values, and nothing that has an rpc of its own", async () => {
    const path = "/cosmos/base/tendermint/v1beta1/abci_query?path=";
    expect((await ask(`${path}/app/version`)).json).toMatchObject({ code: 0, value: btoa("v9.9.9"), proof_ops: null });
    expect((await ask(`${path}/store/nosuch/key&data=AA==`)).json).toMatchObject({ code: 6, codespace: "sdk" });
    for (const bad of ["", "/sdk.bank.v1beta1.Query/Params", "/p2p/filter/addr/x"]) {
      expect(await ask(path + bad)).toMatchObject({ status: 400, json: { code: 3 } });
    }
  });

  it("show what wallets set fees by", async () => {
    expect((await ask("/cosmos/base/node/v1beta1/config")).json).toMatchObject({ minimum_gas_price: "0.0025utoken" });
  });
});

describe("refusals", () => {
  const refusal = (code: number, message: unknown) => ({ code, message, details: [] });

  it.each([
    [`/cosmos/auth/v1beta1/accounts/${NOBODY}`, 404, 5, `account ${NOBODY} not found`],
    ["/cosmos/bank/v1beta1/balances/bad", 400, 3, "invalid Bech32 prefix"],
    ["/cosmos/bank/v1beta1/balances/", 400, 3, "empty address string"],
    [`/cosmos/${BALANCES}?pagination.limit=x`, 400, 3, "pagination.limit: an integer was expected"],
    [`/cosmos/${BALANCES}?pagination.limit=1001`, 400, 3, "a page has at most 1000 rows"],
    [`/cosmos/${BALANCES}?pagination.key=AAAA&pagination.offset=1`, 400, 3, "either offset or key"],
    ["/cosmos/base/tendermint/v1beta1/blocks/abc", 400, 3, "height: an integer was expected"],
    ["/cosmos/base/tendermint/v1beta1/blocks/9223372036854775807", 400, 3, "bigger then the chain length"],
    ["/cosmos/tx/v1beta1/txs?query=tx.height%3E%3E1", 400, 3, "failed to parse query"],
    [`/cosmos/tx/v1beta1/txs/${"A".repeat(64)}`, 404, 5, `tx not found: ${"A".repeat(64)}`],
    ["/cosmos/bank/v1beta1/balances/%zz", 400, 3, "the path is not valid"],
    ["/cosmos/bank/v1beta1/balances/%00", 400, 3, "invalid Bech32 prefix"],
    ["/cosmos/nosuch", 501, 12, "Not Implemented"],
    ["/cosmos/staking/v1beta1/nosuch/x", 501, 12, "Not Implemented"],
    ["/svc/bank/v1beta1/params", 501, 12, "Not Implemented"],
    ["//cosmos/bank/v1beta1/params", 501, 12, "Not Implemented"],
    ["/cosmos//bank/v1beta1/params", 501, 12, "Not Implemented"],
    ["/cosmos%2Fbank/v1beta1/params", 501, 12, "Not Implemented"],
    [`/${"a/".repeat(3000)}`, 501, 12, "Not Implemented"],
  ])("of %s is %i", async (path, status, code, text) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual(refusal(code, expect.stringContaining(text)));
    expect(answer.headers.get("x-cosmos-block-height")).toBeNull();
  });

  it.each([
    ["POST", "/cosmos/bank/v1beta1/params"],
    ["DELETE", "/cosmos/bank/v1beta1/params"],
    ["GET", "/cosmos/tx/v1beta1/simulate"],
  ])("of the verb %s at %s is 501", async (method, path) => {
    expect(await ask(path, { method })).toMatchObject({ status: 501, json: refusal(12, "Not Implemented") });
  });

  it("keep dots in a path from files of this machine", async () => {
    for (const path of [
      "/../../etc/passwd",
      "/sdk/../../../etc/passwd",
      "/%2e%2e/%2e%2e/etc/passwd",
      "/openapi.json/..",
    ])
      expect(await raw(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)).toContain("501 Not Implemented");
  });
});

describe("the height of a request", () => {
  const at = (name: string, value: string) => ask(`/cosmos/${BALANCES}`, { headers: { [name]: value } });

  it.each(["x-cosmos-block-height", "Grpc-Metadata-X-Cosmos-Block-Height", "x-sdk-block-height"])(
    "is that of the header %s",
    async (name) => {
      expect(await at(name, "999999")).toMatchObject({
        status: 400,
        json: { code: 3, message: expect.stringContaining("height in the future") },
      });
      expect((await at(name, "0")).status).toBe(200);
    },
  );

  it.each(["-1", "abc", "1.5", "9223372036854775808", ""])("is refused where it is none: %j", async (text) => {
    expect(await at("x-cosmos-block-height", text)).toMatchObject({
      status: 400,
      json: { code: 3, message: expect.stringContaining("is not a height") },
    });
  });
});

it("the node tells the level of its interfaces, by which tools choose", async () => {
  const { json } = await ask("/cosmos/base/tendermint/v1beta1/node_info");
  expect(json).toMatchObject({
    default_node_info: { channels: expect.stringMatching(/^\w+=*$/) },
    application_version: {
      cosmos_sdk_version: "v0.53.4",
      build_deps: [
        { path: "github.com/cometbft/cometbft" },
        { path: "github.com/cosmos/cosmos-sdk", version: "v0.53.4" },
      ],
    },
  });
});

describe("transactions", () => {
  const post = (path: string, body: JsonObject | string) =>
    ask(path, { method: "POST", body: isObject(body as JsonValue) ? JSON.stringify(body) : String(body) });

  it.each(["BROADCAST_MODE_SYNC", "BROADCAST_MODE_BLOCK"])(
    "that cannot be read are told with 200 in %s",
    async (mode) => {
      expect(await post("/cosmos/tx/v1beta1/txs", { tx_bytes: "AAAA", mode })).toMatchObject({
        status: 200,
        json: {
          tx_response: {
            height: "0",
            txhash: "709E80C88487A2411E1EE4DFB9F22A861492D20C4765150C0C794ABD70F8147C",
            codespace: "sdk",
            code: 2,
            raw_log: expect.stringContaining("tx parse error"),
            tx: null,
          },
        },
      });
    },
  );

  it.each([
    ["/cosmos/tx/v1beta1/txs", { tx_bytes: "AAAA", mode: "BOGUS" }, 'unknown value "BOGUS" for enum'],
    ["/cosmos/tx/v1beta1/txs", { tx_bytes: "", mode: "BROADCAST_MODE_SYNC" }, "invalid empty tx"],
    ["/cosmos/tx/v1beta1/txs", { tx_bytes: "AAAA" }, "supported types: block, sync, async"],
    ["/cosmos/tx/v1beta1/simulate", {}, "empty txBytes is not allowed"],
    ["/cosmos/tx/v1beta1/simulate", { tx_bytes: "AAAA" }, "tx parse error"],
    ["/cosmos/tx/v1beta1/simulate", "{", "invalid JSON"],
  ])("of %s %j are refused", async (path, body, text) => {
    expect(await post(path, body)).toMatchObject({ status: 400, json: { message: expect.stringContaining(text) } });
  });

  it("are not decoded where their amino JSON is too deep", async () => {
    const deep = await post("/cosmos/tx/v1beta1/encode/amino", { amino_json: "[".repeat(1_000) });
    expect(deep).toMatchObject({ status: 400, json: { message: expect.stringContaining("values in one another") } });
  });

  it("are refused with a whole answer while a body that is too large is still being sent", async () => {
    const { hostname, port } = new URL(urlOf("/"));
    const head = `POST /cosmos/tx/v1beta1/txs HTTP/1.1\r\nHost: ${hostname}\r\n`;
    const answer = await sendDespiteAnswer(connect(Number(port), hostname), head, " ".repeat(2_000_000));
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\n\r\n\{.*the request body is larger than 2000 bytes.*\}$/s);
  });

  it("are not taken where the body is too large or packed", async () => {
    const large = await post("/cosmos/tx/v1beta1/txs", " ".repeat(2001));
    expect(large).toMatchObject({ status: 413, json: { code: 8 } });
    const packed = { method: "POST", headers: { "content-encoding": "gzip" }, body: "x" };
    expect(await ask("/cosmos/tx/v1beta1/txs", packed)).toMatchObject({ status: 415, json: { code: 3 } });
    const endless = `POST /sdk/tx/v1beta1/txs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await raw(`${endless}${`400\r\n${"x".repeat(1024)}\r\n`.repeat(50)}`)).toContain("413 Payload Too Large");
  });
});

describe("web pages", () => {
  const from = (origin: string, init: RequestInit = {}) => ask(`/cosmos/${BALANCES}`, { ...init, headers: { origin } });

  it("of allowed origins may read answers and heights", async () => {
    const { status, headers } = await from("https://wallet.example");
    expect(status).toBe(200);
    expect(headers.get("access-control-allow-origin")).toBe("https://wallet.example");
    expect(headers.get("access-control-expose-headers")).toContain("x-cosmos-block-height");
    const preflight = await from("https://wallet.example", { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("x-cosmos-block-height");
  });

  it("of other origins, and under names that are not ours, are refused", async () => {
    expect(await from("https://evil.example")).toMatchObject({
      status: 403,
      json: { message: expect.stringContaining("add it with --api.cors-allowed-origins") },
    });
    const rebound = await raw("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "details");
    expect(rebound).toContain("403 Forbidden");
    expect(rebound).toContain("--rpc.allowed-hosts");
  });
});

describe("the list of routes", () => {
  it("is a document for programs", async () => {
    const { json } = await ask("/openapi.json");
    const text = JSON.stringify(json);
    expect(json).toMatchObject({ openapi: "3.1.0", paths: { "/sdk/bank/v1beta1/balances/{address}": { get: {} } } });
    const { paths, components } = json as unknown as {
      paths: Record<string, Record<string, { operationId: string }>>;
      components: { schemas: object };
    };
    const ids = Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
    expect(ids.length).toBeGreaterThan(40);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      expect(Object.keys(components.schemas)).toContain(name);
  });

  it("lists no route that is not answered", async () => {
    const { json } = await ask("/openapi.json");
    const { paths } = json as unknown as { paths: Record<string, object> };
    for (const path of Object.keys(paths).filter((each) => !each.includes("{"))) {
      const [verb = ""] = Object.keys(paths[path] ?? {});
      const answer = await ask(path, { method: verb.toUpperCase() });
      expect([path, answer.status]).not.toEqual([path, 501]);
    }
  });

  it("is a page that loads nothing from elsewhere", async () => {
    const response = await fetch(urlOf("/"));
    const text = await response.text();
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).toContain("/sdk/bank/v1beta1/balances/{address}");
    expect(text).not.toMatch(/https?:/);
    for (const part of ["/openapi.css", "/openapi.js"]) {
      expect(text).toContain(part);
      expect((await fetch(urlOf(part))).status).toBe(200);
    }
  });
});

describe("clients that break the rules", () => {
  afterEach(() => vi.restoreAllMocks());

  it("send headers or addresses without end", async () => {
    const head = "GET /sdk/bank/v1beta1/params HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    expect(await raw(`${head}X: ${"x".repeat(100_000)}\r\n\r\n`)).toContain("431");
    expect(await raw(`${head}${"X-A: 1\r\n".repeat(50_000)}\r\n`)).toMatch(/431|200/);
    expect(await raw(`GET /${"x".repeat(100_000)} HTTP/1.1\r\n\r\n`)).toContain("431");
    expect(await raw("NONSENSE\r\n\r\n")).toContain("400");
    expect((await ask("/sdk/bank/v1beta1/params")).status).toBe(200);
  });

  it("ask to change the protocol", async () => {
    const head = "GET /sdk/bank/v1beta1/params HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n";
    for (const other of ["h2c", "websocket", "nonsense"])
      expect(await raw(`${head}Upgrade: ${other}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("ask and do not read", async () => {
    const { hostname, port } = new URL(urlOf("/"));
    const request = "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const sockets = Array.from({ length: 50 }, () => {
      const socket = connect(Number(port), hostname);
      socket.pause();
      socket.on("error", () => {});
      socket.write(request.repeat(60));
      return socket;
    });
    for (let i = 0; i < 10; i++) expect((await ask("/sdk/bank/v1beta1/params")).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it("find a fault of the node, which ends nothing", async () => {
    vi.spyOn(node.engine.blocks, "record").mockImplementation(() => {
      throw new Error("secret");
    });
    const answer = await ask("/sdk/base/tendermint/v1beta1/blocks/1");
    expect(answer).toMatchObject({ status: 500, json: { code: 13 } });
    expect(answer.text).not.toContain("secret");
    vi.restoreAllMocks();
    expect((await ask("/sdk/base/tendermint/v1beta1/blocks/1")).status).toBe(200);
  });
});
