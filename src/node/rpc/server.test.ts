import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { later } from "../../../test/support/block-engine/later.ts";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { bytesAsFile } from "../../../test/support/bytes-as-file.ts";
import { closed } from "../../../test/support/closed.ts";
import { sendDespiteAnswer } from "../../../test/support/late-body.ts";
import { pause } from "../../../test/support/wait.ts";
import type { AppQuery } from "../../abci/index.ts";
import type { ChainSource, EmbeddedEngine } from "../../engine/index.ts";
import { embeddedSource, txHash } from "../../engine/index.ts";
import { toHexUpper } from "../../util/index.ts";
import { nodeConfig } from "../config.ts";
import { RPC_METHODS } from "./methods/index.ts";
import { GENESIS_CHUNK_BYTES } from "./methods/info.ts";
import { RpcServer, type RpcServerOptions } from "./server.ts";

let engine: EmbeddedEngine;
let server: RpcServer | undefined;
let url = "";
let genesis = bytesAsFile(Buffer.from('{"chain_id":"kv-1","app_state":{}}'));

async function start(options: Partial<RpcServerOptions> = {}): Promise<void> {
  engine = new KvNetwork().engine();
  await serve(embeddedSource(engine), options);
}

async function serve(chain: ChainSource, options: Partial<RpcServerOptions> = {}): Promise<void> {
  const info = {
    id: "ab".repeat(20),
    moniker: "kv",
    rpcAddress: "tcp://127.0.0.1:26657",
    listenAddress: "tcp://127.0.0.1:26657",
    applicationVersion: "v1.2.3",
    minGasPrices: [],
    haltHeight: 0n,
    pruning: { keepRecent: 100n, interval: 10n },
  };
  const env = {
    chain,
    nodeInfo: () => info,
    genesis: { size: () => genesis.size(), read: (start: number, length: number) => genesis.read(start, length) },
    query: (query: AppQuery) => chain.app.query(query),
  };
  server = new RpcServer(env, { ...nodeConfig({}).rpc, host: "127.0.0.1", port: 0, ...options });
  url = `http://127.0.0.1:${(await server.listen()).port}`;
}

beforeEach(() => start());

afterEach(async () => {
  await server?.close();
  await engine.stop();
});

interface Answer {
  status: number;
  body: { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string; data?: string } };
}

async function get(path: string): Promise<Answer> {
  const response = await fetch(url + path);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function post(body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", body: text, headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function call(method: string, params?: unknown, id: unknown = 1): Promise<Answer["body"]> {
  return JSON.parse((await post({ jsonrpc: "2.0", id, method, params })).text);
}

/** A request with headers that `fetch` does not allow to be set. */
function raw(
  headers: Record<string, string>,
  method = "GET",
  path = "/health",
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url + path, { method, headers }, (response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += String(chunk);
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.on("error", reject).end();
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const hashOf = (text: string): string => toHexUpper(txHash(kvTx(text)));

describe("transactions", () => {
  it("are taken, committed, found", async () => {
    const sync = await call("broadcast_tx_sync", { tx: base64("a=1") });
    expect(sync.result).toEqual({ code: 0, data: "", log: "", codespace: "", hash: hashOf("a=1") });
    expect((await call("num_unconfirmed_txs")).result).toEqual({ n_txs: "1", total: "1", total_bytes: "3", txs: null });
    expect((await call("unconfirmed_txs", { limit: 5 })).result).toMatchObject({ n_txs: "1", txs: [base64("a=1")] });
    engine.produceBlock();
    const found = (await get(`/tx?hash=0x${hashOf("a=1")}&prove=true`)).body.result;
    expect(found).toMatchObject({
      hash: hashOf("a=1"),
      height: "1",
      index: 0,
      tx: base64("a=1"),
      tx_result: { code: 0, data: base64("1"), log: "", info: "", gas_wanted: "10", gas_used: "5", codespace: "" },
      proof: {
        root_hash: expect.stringMatching(/^[0-9A-F]{64}$/),
        data: base64("a=1"),
        proof: { total: "1", index: "0", aunts: [] },
      },
    });
    const [hash, prove] = [Buffer.from(hashOf("a=1"), "hex").toString("base64"), false];
    expect((await call("tx", [hash, prove])).result).toMatchObject({ height: "1" });
    const query = encodeURIComponent("\"set.key='a' AND tx.height=1\"");
    expect((await get(`/tx_search?query=${query}&per_page=1`)).body.result).toMatchObject({
      total_count: "1",
      txs: [{ height: "1" }],
    });
  });

  it("are refused with the texts that clients know", async () => {
    expect((await call("broadcast_tx_sync", { tx: base64("nonsense") })).result).toMatchObject({
      code: 1,
      codespace: "kv",
      log: "not key=value",
    });
    await call("broadcast_tx_sync", { tx: base64("a=1") });
    const again = await call("broadcast_tx_sync", { tx: base64("a=1") }, "abc");
    const error = { code: -32603, message: "Internal error", data: "tx already exists in cache" };
    expect(again).toEqual({ jsonrpc: "2.0", id: "abc", error });
    const missing = await get(`/tx?hash=0x${"AA".repeat(32)}`);
    expect(missing.status).toBe(500);
    expect(missing.body).toMatchObject({ id: -1, error: { code: -32603, data: `tx (${"AA".repeat(32)}) not found` } });
    expect((await call("broadcast_tx_sync", { tx: "*" })).error).toMatchObject({
      code: -32602,
      message: "Invalid params",
    });
    expect((await call("broadcast_tx_sync", {})).error?.data).toContain("tx: is missing");
  });

  it("can be submitted without waiting, and waited for", async () => {
    expect((await get('/broadcast_tx_async?tx="b=2"')).body.result).toMatchObject({ code: 0, hash: hashOf("b=2") });
    const committed = call("broadcast_tx_commit", { tx: base64("c=3") });
    await expect.poll(() => engine.mempool.size, { timeout: 30_000 }).toBe(2);
    engine.produceBlock();
    expect((await committed).result).toMatchObject({
      height: "1",
      hash: hashOf("c=3"),
      check_tx: { code: 0 },
      tx_result: { code: 0, data: base64("3") },
    });
    expect((await call("broadcast_tx_commit", { tx: base64("x") })).result).toMatchObject({
      check_tx: { code: 1 },
      tx_result: { code: 0, data: null },
      height: "0",
    });
    expect((await call("check_tx", { tx: base64("x") })).result).toMatchObject({ code: 1, log: "not key=value" });
  });

  it("are tried by anybody as often as they like, which takes nobody's sequence", async () => {
    for (let i = 0; i < 3; i++)
      expect((await call("check_tx", { tx: base64("s/1=tried") })).result).toMatchObject({ code: 0 });
    expect((await call("check_tx", { tx: base64("s/2=tried") })).result).toMatchObject({ code: 1 });
    expect(engine.mempool.size).toBe(0);
    expect((await call("broadcast_tx_sync", { tx: base64("s/1=sent") })).result).toMatchObject({ code: 0 });
  });
});

describe("blocks", () => {
  beforeEach(() => {
    for (const txs of [["a=1"], [], ["b=2", "bad=1"]]) {
      for (const tx of txs) engine.mempool.add(kvTx(tx));
      engine.produceBlock();
    }
  });

  it("are found by height and hash", async () => {
    const latest = (await call("block")).result;
    expect(latest).toMatchObject({
      block: {
        header: { height: "3", chain_id: "kv-1", version: { block: "11" } },
        data: { txs: [base64("b=2"), base64("bad=1")] },
      },
    });
    const first = (await get("/block?height=1")).body.result;
    expect(first).toMatchObject({
      block: {
        header: { last_block_id: { hash: "", parts: { total: 0, hash: "" } }, time: "2026-11-21T09:00:00Z" },
        evidence: { evidence: [] },
        last_commit: { height: "0", round: 0, block_id: { hash: "" }, signatures: [] },
      },
    });
    const id = engine.blocks.record(3n)?.commit.blockId.hash ?? new Uint8Array();
    expect((await get(`/block_by_hash?hash=0x${toHexUpper(id)}`)).body.result).toEqual(latest);
    expect((await get(`/block_by_hash?hash=0x${"00".repeat(32)}`)).body.result).toMatchObject({ block: null });
    const header = { header: { height: "3" } };
    expect((await get(`/header_by_hash?hash=0x${toHexUpper(id)}`)).body.result).toMatchObject(header);
    // A header's hash is hex in JSON and a block's is base64, as in the reference.
    expect((await call("header_by_hash", { hash: toHexUpper(id) })).result).toMatchObject(header);
    expect((await call("header_by_hash", [toHexUpper(id).toLowerCase()])).result).toMatchObject(header);
    expect((await call("block_by_hash", { hash: Buffer.from(id).toString("base64") })).result).toEqual(latest);
    expect((await call("header_by_hash", { hash: Buffer.from(id).toString("base64") })).error?.code).toBe(-32602);
    expect((await get(`/header?height="3"`)).body.result).toMatchObject({ header: { height: "3" } });
    expect((await call("commit", { height: "2" })).result).toMatchObject({
      canonical: true,
      signed_header: { header: { height: "2" }, commit: { height: "2", round: 0, signatures: [{ block_id_flag: 2 }] } },
    });
  });

  it("have results", async () => {
    expect((await call("block_results", { height: "2" })).result).toEqual({
      height: "2",
      txs_results: null,
      finalize_block_events: [{ type: "kv", attributes: [{ key: "count", value: "0", index: true }] }],
      validator_updates: null,
      consensus_param_updates: null,
      app_hash: expect.any(String),
    });
    expect((await call("block_results", { height: "3" })).result).toMatchObject({
      txs_results: [{ code: 0 }, { code: 1, log: "bad key", codespace: "kv", data: null }],
    });
  });

  it("come in lists", async () => {
    const chain = (await get("/blockchain?minHeight=1&maxHeight=2")).body.result;
    expect(chain).toMatchObject({
      last_height: "3",
      block_metas: [
        { header: { height: "2" }, num_txs: "0" },
        { header: { height: "1" }, num_txs: "1" },
      ],
    });
    const found = (await call("block_search", { query: "kv.count='2'" })).result;
    expect(found).toMatchObject({ total_count: "1", blocks: [{ block: { header: { height: "3" } } }] });
    expect((await get("/blockchain?minHeight=4")).body.error?.data).toBe(
      "min height 4 can't be greater than max height 3",
    );
  });

  it("that do not exist are refused", async () => {
    const data = "height 99999 must be less than or equal to the current blockchain height 3";
    expect((await call("block", { height: "99999" })).error).toEqual({ code: -32603, message: "Internal error", data });
    expect((await call("block", { height: 0 })).error?.data).toBe("height must be greater than 0, but got 0");
    expect((await call("block", { height: "abc" })).error).toMatchObject({ code: -32602 });
    expect((await call("block", { height: 1.5 })).error).toMatchObject({ code: -32602 });
    expect((await call("validators", { height: "4" })).result).toMatchObject({
      block_height: "4",
      total: "1",
      count: "1",
      validators: [{ voting_power: "10", proposer_priority: "0", pub_key: { type: "tendermint/PubKeyEd25519" } }],
    });
    expect((await call("validators", { height: "5" })).error?.data).toContain("height 5 must be less than");
    expect((await call("validators", { page: "2" })).error?.data).toContain(
      "page should be within [1, 1] range, given 2",
    );
  });
});

describe("information", () => {
  it("says who the node is and where it stands", async () => {
    engine.produceBlock();
    const { result } = await call("status", []);
    expect(result).toMatchObject({
      node_info: {
        protocol_version: { p2p: "8", block: "11", app: "0" },
        id: "ab".repeat(20),
        network: "kv-1",
        version: expect.stringMatching(/^0\.38\.\d+$/),
        moniker: "kv",
        other: { tx_index: "on" },
      },
      application_version: { name: "svc", version: "v1.2.3" },
      sync_info: { latest_block_height: "1", earliest_block_height: "1", catching_up: false },
      validator_info: { voting_power: "10" },
    });
    expect((await call("health")).result).toEqual({});
    expect((await get("/abci_info")).body.result).toMatchObject({
      response: { version: "kv", last_block_height: "1" },
    });
    expect((await call("net_info")).result).toMatchObject({ n_peers: "0", peers: [] });
    expect((await call("genesis")).result).toEqual({ genesis: { chain_id: "kv-1", app_state: {} } });
    const chunk = (await call("genesis_chunked", { chunk: "0" })).result;
    expect(chunk).toMatchObject({ chunk: "0", total: "1", data: base64('{"chain_id":"kv-1","app_state":{}}') });
    expect((await call("genesis_chunked", { chunk: "1" })).error?.data).toContain("there are 1 chunks");
    expect((await call("consensus_params")).result).toMatchObject({
      block_height: "2",
      consensus_params: { block: { max_bytes: "22020096", max_gas: "30000000" } },
    });
  });

  it("shows the state of consensus, which rests between two blocks", async () => {
    const start = { start_time: "2026-11-21T09:00:00Z" };
    const proposer = { address: toHexUpper(engine.validator.address), index: 0 };
    expect((await call("consensus_state")).result).toEqual({
      round_state: {
        "height/round/step": "1/0/1",
        ...start,
        proposal_block_hash: "",
        locked_block_hash: "",
        valid_block_hash: "",
        height_vote_set: [
          {
            round: 0,
            prevotes: ["nil-Vote"],
            prevotes_bit_array: "BA{1:_} 0/10 = 0.00",
            precommits: ["nil-Vote"],
            precommits_bit_array: "BA{1:_} 0/10 = 0.00",
          },
        ],
        proposer,
      },
    });
    expect((await call("dump_consensus_state")).result).toMatchObject({
      round_state: { height: "1", last_commit: null, last_validators: { validators: null, proposer: null } },
    });
    const { commit } = engine.produceBlock();
    const prefix = (bytes: Uint8Array | undefined) => toHexUpper((bytes ?? new Uint8Array()).subarray(0, 6));
    const [vote] = commit.signatures;
    const dump = (await call("dump_consensus_state")).result;
    expect(dump).toMatchObject({
      peers: [],
      round_state: {
        height: "2",
        round: 0,
        step: 1,
        commit_time: "2026-11-21T10:00:00.5Z",
        validators: { validators: [{ voting_power: "10" }], proposer: { voting_power: "10" } },
        proposal: null,
        locked_round: -1,
        valid_round: -1,
        commit_round: -1,
        last_commit: {
          votes: [
            `Vote{0:${prefix(vote?.validatorAddress)} 1/00/SIGNED_MSG_TYPE_PRECOMMIT(Precommit) ${prefix(commit.blockId.hash)} ${prefix(vote?.signature)} 000000000000 @ 2026-11-21T10:00:00.5Z}`,
          ],
          votes_bit_array: "BA{1:x} 10/10 = 1.00",
          peer_maj_23s: {},
        },
        last_validators: { validators: [{ voting_power: "10" }] },
        triggered_timeout_precommit: false,
      },
    });
  });

  it("answers queries of the application", async () => {
    engine.mempool.add(kvTx("a=1"));
    engine.produceBlock();
    const found = await call("abci_query", {
      path: "/key",
      data: Buffer.from("a").toString("hex"),
      height: "0",
      prove: false,
    });
    expect(found.result).toEqual({
      response: {
        code: 0,
        log: "",
        info: "",
        index: "0",
        key: base64("a"),
        value: base64("1"),
        proofOps: null,
        height: "1",
        codespace: "",
      },
    });
    const missing = (await get('/abci_query?path="/key"&data=0x7a')).body.result;
    expect(missing).toMatchObject({ response: { code: 22, value: null, log: "key not found", codespace: "sdk" } });
  });
});

describe("a chain in another process", () => {
  it("is served alike", async () => {
    engine.mempool.add(kvTx("a=1"));
    engine.produceBlock();
    engine.produceBlock();
    engine.mempool.add(kvTx("b=1"));
    const calls = [
      ...["status", "abci_info", "block", "block_results", "commit", "header", "validators", "consensus_params"],
      ...["unconfirmed_txs", "num_unconfirmed_txs", "consensus_state", "dump_consensus_state", "blockchain"],
      `tx?hash=0x${hashOf("a=1")}&prove=true`,
      `tx_search?query=${encodeURIComponent("\"set.key='a'\"")}&prove=true`,
      `block_search?query=${encodeURIComponent('"block.height > 0"')}`,
      `check_tx?tx="c=1"`,
      `broadcast_tx_sync?tx="b=1"`,
      `abci_query?path="/key"&data="a"`,
      "block?height=9",
    ];
    const answers = async () => {
      const all: unknown[] = [];
      for (const path of calls) all.push((await get(`/${path}`)).body);
      return all;
    };
    const near = await answers();
    await server?.close();
    await serve(later(embeddedSource(engine)));
    expect(await answers()).toEqual(near);
  });
});

describe("the protocol", () => {
  it.each([
    ["5", -32600, -1],
    ["[]", -32600, -1],
    ['{"jsonrpc":"2.0","id":{},"method":"health"}', -32600, -1],
    ['{"jsonrpc":"2.0","id":1.5,"method":"health"}', -32600, -1],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"health"}', -32600, -1],
    ['{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"nosuch"}', -32601, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"block","params":5}', -32602, 1],
    ['{"jsonrpc":"2.0","id":1,"method":"block","params":["1","2"]}', -32602, 1],
  ])("answers %s with %d", async (body, code, id) => {
    const { status, text } = await post(body);
    expect([status, JSON.parse(text)]).toMatchObject([200, { jsonrpc: "2.0", id, error: { code } }]);
  });

  it("says by the status too that a request is not JSON", async () => {
    const { status, text } = await post("{");
    expect([status, JSON.parse(text)]).toMatchObject([500, { id: -1, error: { code: -32700 } }]);
  });

  it.each(["", '"jsonrpc":"1.0",'])("takes requests of simple clients: %s", async (version) => {
    const { text } = await post(`{${version}"id":1,"method":"health"}`);
    expect(text).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  });

  it("takes batches up to the limit, and does not answer notifications", async () => {
    const one = (id?: number) => ({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method: "health" });
    expect(JSON.parse((await post([one(1), one(), one(2), [one(3)]])).text)).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
      {
        jsonrpc: "2.0",
        id: -1,
        error: { code: -32600, message: "Invalid Request", data: "a request must be a JSON object" },
      },
    ]);
    expect(await post(one())).toMatchObject({ status: 200, text: "" });
    expect(JSON.parse((await post(Array(21).fill(one(1)))).text)).toMatchObject({
      error: { data: "batch request exceeds maximum (20) allowed number of requests" },
    });
  });

  it("answers compactly with length and time", async () => {
    const { text, headers } = await post({ jsonrpc: "2.0", id: 7, method: "health" });
    expect(text).toBe('{"jsonrpc":"2.0","id":7,"result":{}}');
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("x-server-time")).toMatch(/^\d+$/);
  });

  it("refuses a large body with a whole answer while it is still being sent", async () => {
    const { hostname, port } = new URL(url);
    const head = `POST / HTTP/1.1\r\nHost: ${hostname}\r\n`;
    const answer = await sendDespiteAnswer(connect(Number(port), hostname), head, "x".repeat(4_000_000));
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\n\r\n413 the request body is larger than 1000000 bytes\n$/s);
  });

  it("refuses unknown paths, methods, encodings and large bodies", async () => {
    const missing = await fetch(`${url}/nosuch`);
    expect([missing.status, await missing.text()]).toEqual([404, "404 page not found\n"]);
    expect((await fetch(`${url}/health`, { method: "DELETE" })).status).toBe(405);
    expect((await fetch(`${url}/../etc`)).status).toBe(404);
    expect(await (await fetch(url)).text()).toContain("/broadcast_tx_sync?tx=_");
    expect((await post("{}", { "content-encoding": "gzip" })).status).toBe(415);
    expect((await post("x".repeat(1_000_001))).status).toBe(413);
    expect((await get("/block?height=x")).status).toBe(500);
    expect((await get("/tx_search?query=%22bad")).body.error).toMatchObject({
      code: -32602,
      message: "Invalid params",
    });
  });

  it("keeps foreign web pages and names out, unless they are allowed", async () => {
    expect(await raw({ host: "evil.example" })).toMatchObject({
      status: 403,
      body: expect.stringContaining("--rpc.allowed-hosts"),
    });
    expect(await raw({ origin: "https://evil.example" })).toMatchObject({ status: 403 });
    expect(await raw({ origin: "null" })).toMatchObject({ status: 403 });
    expect(await raw({ origin: "https://evil.example" }, "OPTIONS")).toMatchObject({ status: 403 });
    expect(await raw({ host: "localhost:1", origin: "http://localhost:1" })).toMatchObject({ status: 200 });
    expect(await raw({ host: "[::1]:26657" })).toMatchObject({ status: 200 });
    await server?.close();
    await start({ corsOrigins: ["https://wallet.example"], hosts: ["node.example"] });
    expect(await raw({ host: "node.example:443" })).toMatchObject({ status: 200 });
    const allowed = await fetch(`${url}/health`, { headers: { origin: "https://wallet.example" } });
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://wallet.example");
    const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: "https://wallet.example" } });
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, HEAD, POST, OPTIONS",
    ]);
  });

  it("allows origins by patterns", async () => {
    await server?.close();
    await start({ corsOrigins: ["http://localhost:*", "https://*.wallet.example"] });
    const ask = (origin: string): Promise<Response> => fetch(`${url}/health`, { headers: { origin } });
    const statusOf = async (origin: string): Promise<number> => (await ask(origin)).status;
    for (const origin of ["http://localhost:5173", "http://localhost:1", "https://a.wallet.example"]) {
      expect([origin, await statusOf(origin)]).toEqual([origin, 200]);
    }
    for (const origin of [
      "https://localhost:1",
      "http://localhost",
      "https://wallet.example",
      "http://localhost.evil",
    ]) {
      expect([origin, await statusOf(origin)]).toEqual([origin, 403]);
    }
    const { headers } = await ask("http://localhost:5173");
    expect(headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  });

  it("says when the port is in use", async () => {
    const port = Number(new URL(url).port);
    const second = new RpcServer(
      {
        chain: embeddedSource(engine),
        nodeInfo: () => ({
          id: "",
          moniker: "",
          rpcAddress: "",
          listenAddress: "",
          applicationVersion: "",
          minGasPrices: [],
          haltHeight: 0n,
          pruning: { keepRecent: 100n, interval: 10n },
        }),
        genesis: bytesAsFile(new Uint8Array()),
        query: engine.app.query.bind(engine.app),
      },
      { ...nodeConfig({}).rpc, host: "127.0.0.1", port },
    );
    await expect(second.listen()).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: another program uses the port`);
    await second.close();
  });
});

describe("a request for another protocol", () => {
  it("is answered in this one, so that the client goes on", async () => {
    await start();
    const ask = (upgrade: string, path: string) => raw({ connection: "Upgrade", upgrade }, "GET", path);
    expect(await ask("h2c", "/health")).toMatchObject({ status: 200, body: expect.stringContaining('"result"') });
    expect(await ask("h2c", "/nothing")).toMatchObject({ status: 404 });
    expect(await ask("websocket", "/health")).toMatchObject({ status: 404 });
  });
});

it("ends the connection whose wish for another protocol is refused, also if its client does not", async () => {
  const wish = "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const client = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen: true });
  client.write(wish);
  const [refused] = await once(client, "data");
  expect(String(refused)).toMatch(/^HTTP\/1.1 404 /);
  // It waits for the last connection.
  await server?.close();
  client.destroy();
});

describe("a large genesis file", () => {
  const before = genesis;
  afterEach(() => {
    genesis = before;
  });

  const fileOf = (bytes: number, reads: number[]) => {
    genesis = bytesAsFile(Buffer.from(`"${"x".repeat(bytes - 2)}"`), reads);
  };

  it("is answered whole up to the size of a chunk, and beyond refused before anything is read", async () => {
    const reads: number[] = [];
    fileOf(GENESIS_CHUNK_BYTES, reads);
    expect((await call("genesis")).error).toBeUndefined();
    expect(reads).toEqual([GENESIS_CHUNK_BYTES]);
    fileOf(GENESIS_CHUNK_BYTES + 1, reads);
    expect((await call("genesis")).error?.data).toBe(
      "genesis response is large, please use the genesis_chunked API instead",
    );
    expect(reads).toHaveLength(1);
  });

  it("is read a chunk for a call, and not at all for a chunk that does not exist", async () => {
    const reads: number[] = [];
    fileOf(GENESIS_CHUNK_BYTES + 3, reads);
    expect((await call("genesis_chunked", { chunk: "1" })).result).toEqual({
      chunk: "1",
      total: "2",
      data: base64('xx"'),
    });
    expect(reads).toEqual([3]);
    expect((await call("genesis_chunked", { chunk: "2" })).error?.data).toContain("there are 2 chunks");
    expect((await call("genesis_chunked", { chunk: "-1" })).error?.data).toContain("there are 2 chunks");
    expect(reads).toEqual([3]);
  });
});

describe("answers that are large or that nobody reads", () => {
  /** A connection that sends a request and never reads. */
  function deaf(request: string): Socket {
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
    socket.pause();
    socket.on("error", () => {});
    socket.write(request);
    return socket;
  }

  it("ends a batch at its bytes and says so for each call after that", async () => {
    for (let i = 0; i < 4; i++) engine.mempool.add(kvTx(`k${i}=${"x".repeat(1_000_000)}`));
    engine.produceBlock();
    const calls = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: "2.0", id, method: "block", params: {} }));
    const { text } = await post(calls);
    expect(text.length).toBeLessThan(18_000_000);
    const answers: Answer["body"][] = JSON.parse(text);
    expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
    expect(answers[0]?.result).toBeDefined();
    expect(answers.at(-1)?.error).toEqual({
      code: -32603,
      message: "Internal error",
      data: "the answers of a batch may have 10485760 bytes: ask for less at a time",
    });
  });

  it("are let go when they were not read in time", async () => {
    await server?.close();
    await start({ readWithinMs: 100 });
    for (let i = 0; i < 9; i++) engine.mempool.add(kvTx(`k${i}=${"x".repeat(1_000_000)}`));
    engine.produceBlock();
    const socket = deaf("GET /block HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    socket.resume();
    await once(socket, "data");
    socket.pause();
    await pause(500);
    socket.resume();
    await closed(socket);
    expect(socket.bytesRead).toBeLessThan(12_000_000);
  });

  it("end their own connection when something goes wrong on the way, and nothing else", async () => {
    const errors: unknown[] = [];
    const onRejection = (error: unknown) => errors.push(error);
    process.on("unhandledRejection", onRejection);
    const stringify = vi.spyOn(JSON, "stringify").mockImplementation(() => {
      throw new RangeError("Invalid string length");
    });
    try {
      for (const path of [...RPC_METHODS.keys()]) await fetch(`${url}/${path}`).catch(() => {});
      for (const body of ['[{"id":1,"method":"health"}]', "{"])
        await fetch(url, { method: "POST", body }).catch(() => {});
    } finally {
      stringify.mockRestore();
      process.off("unhandledRejection", onRejection);
    }
    expect(errors).toEqual([]);
    expect((await call("health")).result).toEqual({});
  });
});
