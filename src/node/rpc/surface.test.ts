import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KvApplication } from "../../../test/support/block-engine/kv-app.ts";
import { KvNetwork, kvTx } from "../../../test/support/block-engine/network.ts";
import { bytesAsFile } from "../../../test/support/bytes-as-file.ts";
import { type AppQuery, type ConsensusParams, DEFAULT_CONSENSUS_PARAMS } from "../../abci/index.ts";
import { type EmbeddedEngine, embeddedSource } from "../../engine/index.ts";
import { toBase64, toHexUpper } from "../../util/index.ts";
import { nodeConfig } from "../config.ts";
import { RPC_METHODS } from "./methods/index.ts";
import { RpcServer } from "./server.ts";

/** Every method of the reference engine's interface, asked over HTTP in each of its forms, with good values and with bad ones. */

const GENESIS = '{"chain_id":"kv-1","app_state":{}}';
const CHANGED: ConsensusParams = { ...DEFAULT_CONSENSUS_PARAMS, block: { maxBytes: 2_000_000n, maxGas: 700n } };

let engine: EmbeddedEngine;
let server: RpcServer;
let url = "";
const places = { TX: "", TX64: "", BLOCK: "", BLOCK64: "" };

beforeAll(async () => {
  const network = new KvNetwork();
  const app = new KvApplication(network.database);
  const finalize = app.finalizeBlock.bind(app);
  app.finalizeBlock = (request) => ({
    ...finalize(request),
    consensusParamUpdates: request.height === 2n ? CHANGED : undefined,
  });
  engine = network.engine({ app });
  engine.mempool.add(kvTx("a=1"));
  const { txHashes, commit } = engine.produceBlock();
  engine.produceBlock();
  engine.produceBlock();
  const [hash = new Uint8Array()] = txHashes;
  Object.assign(places, { TX: toHexUpper(hash), TX64: toBase64(hash) });
  Object.assign(places, { BLOCK: toHexUpper(commit.blockId.hash), BLOCK64: toBase64(commit.blockId.hash) });
  const chain = embeddedSource(engine);
  const nodeInfo = () => ({
    ...{
      id: "ab".repeat(20),
      moniker: "kv",
      rpcAddress: "tcp://127.0.0.1:26657",
      listenAddress: "tcp://127.0.0.1:26657",
      applicationVersion: "v1.2.3",
    },
    ...{ minGasPrices: [], haltHeight: 0n, pruning: { keepRecent: 100n, interval: 10n } },
  });
  const genesis = bytesAsFile(Buffer.from(GENESIS));
  const env = { chain, nodeInfo, genesis, query: (query: AppQuery) => chain.app.query(query) };
  server = new RpcServer(env, { ...nodeConfig({}).rpc, host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(await server.listen()).port}`;
});

afterAll(async () => {
  await server.close();
  await engine.stop();
});

interface Answer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: string };
}

const filled = (text: string): string =>
  Object.entries(places).reduce((all, [name, value]) => all.replaceAll(`<${name}>`, value), text);

async function post(body: unknown): Promise<Answer & readonly Answer[]> {
  const response = await fetch(url, { method: "POST", body: filled(JSON.stringify(body)) });
  return JSON.parse(await response.text());
}

const called = (method: string, params: unknown, id = 1) => ({ jsonrpc: "2.0", id, method, params });

async function get(method: string, query: string): Promise<{ status: number; body: Answer }> {
  const text = filled(query)
    .split("&")
    .map((pair) => pair.replace(/=(.*)$/s, (_, value: string) => `=${encodeURIComponent(value)}`))
    .join("&");
  const response = await fetch(`${url}/${method}${query === "" ? "" : `?${text}`}`);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const TX = toBase64(kvTx("z=1"));

/** Parameters by name, the same in order, the same in a query, and the fields of the result. */
type Row = readonly [method: string, named: object, listed: readonly unknown[], query: string, fields: string];

const ROWS: readonly Row[] = [
  ["health", {}, [], "", ""],
  ["status", {}, [], "", "node_info application_version engine sync_info validator_info"],
  ["net_info", {}, [], "", "listening listeners n_peers peers"],
  ["blockchain", { minHeight: "1", maxHeight: "2" }, ["1", 2], "minHeight=1&maxHeight=2", "last_height block_metas"],
  ["genesis", {}, [], "", "genesis"],
  ["genesis_chunked", { chunk: "0" }, [0], "chunk=0", "chunk total data"],
  ["block", { height: "1" }, ["1"], "height=1", "block_id block"],
  ["block_by_hash", { hash: "<BLOCK64>" }, ["<BLOCK64>"], "hash=0x<BLOCK>", "block_id block"],
  [
    ...(["block_results", { height: "2" }, ["2"], 'height="2"'] as const),
    "height txs_results finalize_block_events validator_updates consensus_param_updates app_hash",
  ],
  ["commit", { height: "1" }, ["1"], "height=1", "signed_header canonical"],
  ["header", { height: "1" }, ["1"], "height=1", "header"],
  ["header_by_hash", { hash: "<BLOCK>" }, ["<BLOCK>"], "hash=0x<BLOCK>", "header"],
  [...(["check_tx", { tx: TX }, [TX], 'tx="z=1"'] as const), "code data log info gas_wanted gas_used events codespace"],
  [
    "tx",
    { hash: "<TX64>", prove: true },
    ["<TX64>", true],
    "hash=0x<TX>&prove=true",
    "hash height index tx_result tx proof",
  ],
  [
    ...(["tx_search", { query: "tx.height=1", prove: false, page: "1", per_page: "5", order_by: "asc" }] as const),
    ...([["tx.height=1", false, "1", "5", "asc"], 'query="tx.height=1"&order_by="asc"'] as const),
    "txs total_count",
  ],
  [
    ...(["block_search", { query: "block.height>0", page: "1", per_page: "5", order_by: "desc" }] as const),
    ...([["block.height>0", "1", "5", "desc"], 'query="block.height>0"&per_page=5'] as const),
    "blocks total_count",
  ],
  [
    ...(["validators", { height: "1", page: "1", per_page: "30" }, ["1", "1", "30"], "height=1&page=1"] as const),
    "block_height validators count total",
  ],
  ["dump_consensus_state", {}, [], "", "round_state peers"],
  ["consensus_state", {}, [], "", "round_state"],
  ["consensus_params", { height: "3" }, ["3"], "height=3", "block_height consensus_params"],
  ["unconfirmed_txs", { limit: "1" }, ["1"], "limit=1", "n_txs total total_bytes txs"],
  ["num_unconfirmed_txs", {}, [], "", "n_txs total total_bytes txs"],
  [
    ...(["abci_query", { path: "/k", data: "61", height: "0", prove: false }] as const),
    ...([["/k", "61", "0", false], 'path="/k"&data=0x61'] as const),
    "response",
  ],
  ["abci_info", {}, [], "", "response"],
];

/** Methods that change something, or wait, have tests of their own. */
const APART = ["broadcast_tx_commit", "broadcast_tx_sync", "broadcast_tx_async", "broadcast_evidence"];

describe("every method", () => {
  it("has a row", () => {
    expect([...ROWS.map(([method]) => method), ...APART].sort()).toEqual([...RPC_METHODS.keys()].sort());
  });

  it.each(ROWS)("%s answers alike by name, in order, in a query and in a batch", async (...row) => {
    const [method, named, listed, query, fields] = row;
    const wanted = fields === "" ? [] : fields.split(" ");
    const byName = await post(called(method, named));
    expect(Object.keys(byName.result ?? {})).toEqual(wanted);
    const inOrder = await post(called(method, listed));
    const inQuery = await get(method, query);
    expect({ status: inQuery.status, id: inQuery.body.id }).toEqual({ status: 200, id: -1 });
    expect(inOrder.result).toEqual(byName.result);
    if (method !== "tx_search" && method !== "block_search") expect(inQuery.body.result).toEqual(byName.result);
    expect(Object.keys(inQuery.body.result ?? {})).toEqual(wanted);
    const batch = await post([called(method, named, 7), called("health", {}, 8)]);
    expect(batch.map(({ id }) => id)).toEqual([7, 8]);
    expect(batch[0]?.result).toEqual(byName.result);
  });

  it("that changes something is answered in every form", async () => {
    const hash = expect.stringMatching(/^[0-9A-F]{64}$/);
    const taken = { code: 0, data: "", log: "", codespace: "", hash };
    const of = (text: string) => toBase64(kvTx(text));
    expect((await post(called("broadcast_tx_sync", [of("b=1")]))).result).toEqual(taken);
    expect((await get("broadcast_tx_sync", 'tx="c=1"')).body.result).toEqual(taken);
    expect((await get("broadcast_tx_async", `tx=0x${Buffer.from("d=1").toString("hex")}`)).body.result).toEqual(taken);
    const waiting = post(called("broadcast_tx_commit", { tx: of("e=1") }));
    await expect.poll(() => engine.mempool.size, { timeout: 30_000 }).toBe(4);
    engine.produceBlock();
    expect(Object.keys((await waiting).result ?? {})).toEqual(["check_tx", "tx_result", "hash", "height"]);
  });
});

describe("bad values", () => {
  const number = "expected a whole number";
  const rows: readonly (readonly [method: string, params: object, query: string, code: number, text: string])[] = [
    ["block", { height: "x" }, "height=x", -32602, number],
    ["block", { height: "9223372036854775808" }, "height=9223372036854775808", -32602, number],
    ["block", { height: 1.5 }, "height=1.5", -32602, number],
    ["block", { height: "0" }, "height=0", -32603, "height must be greater than 0"],
    ["block", { height: "-1" }, "height=-1", -32603, "height must be greater than 0"],
    ["block", { height: "99" }, "height=99", -32603, "must be less than or equal to the current blockchain height"],
    ["block_results", { height: "99" }, "height=99", -32603, "must be less than or equal"],
    ["commit", { height: "99" }, "height=99", -32603, "must be less than or equal"],
    ["header", { height: "99" }, "height=99", -32603, "must be less than or equal"],
    ["validators", { height: "99" }, "height=99", -32603, "must be less than or equal"],
    [
      "validators",
      { height: "1", page: "2" },
      "height=1&page=2",
      -32603,
      "page should be within [1, 1] range, given 2",
    ],
    ["consensus_params", { height: "99" }, "height=99", -32603, "must be less than or equal"],
    [
      "blockchain",
      { minHeight: "-1", maxHeight: "1" },
      "minHeight=-1&maxHeight=1",
      -32603,
      "heights must be non-negative",
    ],
    ["blockchain", { minHeight: "2", maxHeight: "1" }, "minHeight=2&maxHeight=1", -32603, "can't be greater than"],
    ["genesis_chunked", { chunk: "1" }, "chunk=1", -32603, "there are 1 chunks"],
    ["genesis_chunked", { chunk: "-1" }, "chunk=-1", -32603, "there are 1 chunks"],
    ["tx", { hash: toBase64(new Uint8Array(32)) }, `hash=0x${"00".repeat(32)}`, -32603, "not found"],
    ["tx", { hash: "AA==" }, "hash=0x00", -32603, "not found"],
    ["tx", { hash: "!" }, "hash=0xzz", -32602, "hash"],
    ["tx", { hash: "<TX64>", prove: "maybe" }, "hash=0x<TX>&prove=maybe", -32602, "expected true or false"],
    ["tx", {}, "", -32602, "is missing"],
    ["block_by_hash", { hash: 5 }, "hash=5", -32602, "expected"],
    ["header_by_hash", { hash: "xyz" }, "hash=xyz", -32602, "hash"],
    ["tx_search", { query: "tx.height>" }, 'query="tx.height>"', -32603, "failed to parse query"],
    ["tx_search", { query: "a.b=1", order_by: "up" }, 'query="a.b=1"&order_by="up"', -32603, "expected order_by"],
    ["tx_search", { query: "a.b=1", page: "0" }, 'query="a.b=1"&page=0', -32603, "page should be within"],
    ["tx_search", { query: "x".repeat(513) }, `query="${"x".repeat(513)}"`, -32603, "maximum query length exceeded"],
    ["block_search", { query: "block.height='" }, `query="block.height='"`, -32603, "failed to parse query"],
    ["abci_query", { data: "xyz" }, "data=xyz", -32602, "data"],
    ["check_tx", { tx: "%" }, "tx=%", -32602, "tx"],
    ["broadcast_tx_sync", {}, "", -32602, "is missing"],
    ["broadcast_tx_commit", { tx: 5 }, "tx=5", -32602, "expected"],
    ["unconfirmed_txs", { limit: "many" }, "limit=many", -32602, number],
  ];

  it.each(rows)("%s %j is refused, in a query too", async (...row) => {
    const [method, params, query, code, text] = row;
    const { error } = await post(called(method, params));
    expect({ code: error?.code, text: `${error?.message} ${error?.data}` }).toEqual({
      code,
      text: expect.stringContaining(text),
    });
    const answer = await get(method, query);
    expect(answer.status).toBe(500);
    expect({ id: answer.body.id, code: answer.body.error?.code }).toEqual({ id: -1, code });
    expect(`${answer.body.error?.data}`).toContain(text);
  });

  it("are too many values in order, and others than objects and lists", async () => {
    expect((await post(called("block", ["1", "2"]))).error?.code).toBe(-32602);
    for (const params of [5, "1", true]) expect((await post(called("block", params))).error).toBeDefined();
  });
});

function maxGas(params: unknown): unknown {
  expect(params).toMatchObject({ block: { max_gas: expect.any(String) } });
  const [, gas] = /"max_gas":"(\d+)"/.exec(JSON.stringify(params)) ?? [];
  return gas;
}

describe("parameters of consensus", () => {
  it("are shown for each height, as they were", async () => {
    const gas = async (height: string) => {
      const { result } = await post(called("consensus_params", { height }));
      return maxGas(result?.consensus_params);
    };
    const before = DEFAULT_CONSENSUS_PARAMS.block.maxGas.toString();
    expect([await gas("1"), await gas("2"), await gas("3")]).toEqual([before, before, "700"]);
    const updates = async (height: string) =>
      (await post(called("block_results", { height }))).result?.consensus_param_updates;
    expect(await updates("1")).toBeNull();
    expect(await updates("2")).toMatchObject({ block: { max_bytes: "2000000", max_gas: "700" } });
  });
});

describe("broadcast_evidence", () => {
  const id = (byte: string) => ({ hash: byte.repeat(64), parts: { total: 1, hash: byte.repeat(64) } });
  const vote = (byte: string, changes: object = {}) => ({
    ...{ type: 2, height: "1", round: 0, block_id: id(byte), timestamp: "2026-11-21T09:00:00Z" },
    ...{ validator_address: "AB".repeat(20), validator_index: 0, signature: toBase64(new Uint8Array(64)) },
    ...changes,
  });
  const votes = (a: unknown, b: unknown) => ({
    type: "tendermint/DuplicateVoteEvidence",
    value: { vote_a: a, vote_b: b, TotalVotingPower: "10", ValidatorPower: "10", Timestamp: "2026-11-21T09:00:00Z" },
  });

  const rows: readonly (readonly [name: string, evidence: unknown, text: string])[] = [
    ["nothing", null, "no evidence was provided"],
    ["a text", "x", "evidence is not an object"],
    ["a list", [], "evidence is not an object"],
    ["another type", { type: "tendermint/Other", value: {} }, "unknown type"],
    ["no value", { type: "tendermint/DuplicateVoteEvidence" }, "value is not an object"],
    ["one vote", votes(vote("A"), null), "one or both of the votes are empty"],
    ["votes in another order", votes(vote("B"), vote("A")), "duplicate votes in invalid order"],
    ["votes for one block", votes(vote("A"), vote("A")), "duplicate votes in invalid order"],
    ["a proposal", votes(vote("A", { type: 32 }), vote("B")), "invalid VoteA: invalid Type"],
    ["height 0", votes(vote("A"), vote("B", { height: "0" })), "invalid VoteB: negative or zero Height"],
    ["a round below 0", votes(vote("A", { round: -1 }), vote("B")), "negative Round"],
    ["a place below 0", votes(vote("A", { validator_index: -1 }), vote("B")), "negative ValidatorIndex"],
    ["a short address", votes(vote("A", { validator_address: "AB" }), vote("B")), "expected ValidatorAddress size"],
    ["no signature", votes(vote("A", { signature: "" }), vote("B")), "signature is missing"],
    ["a long signature", votes(vote("A", { signature: toBase64(new Uint8Array(97)) }), vote("B")), "too big"],
    ["half a block", votes(vote("A", { block_id: { ...id("A"), hash: "" } }), vote("B")), "empty or complete"],
    [
      "an attack without a block",
      { type: "tendermint/LightClientAttackEvidence", value: {} },
      "conflicting block is nil",
    ],
    ["two good votes", votes(vote("A"), vote("B")), "failed to add evidence"],
  ];

  it.each(rows)("reads %s", async (_name, evidence, text) => {
    const { error } = await post(called("broadcast_evidence", { evidence }));
    expect({ code: error?.code, data: error?.data }).toEqual({ code: -32603, data: expect.stringContaining(text) });
    const { status, body } = await get("broadcast_evidence", `evidence=${JSON.stringify(evidence)}`);
    expect({ status, data: body.error?.data }).toEqual({ status: 500, data: error?.data });
  });

  it("is refused where a query is not JSON", async () => {
    expect((await get("broadcast_evidence", "evidence={")).body.error?.code).toBe(-32602);
  });
});
