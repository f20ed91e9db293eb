import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { signTx, testKey } from "../../src/testing/index.ts";
import { toBase64 } from "../../src/util/index.ts";
import { MsgSendSchema } from "../../src/wire/gen/sdk/bank/v1beta1/tx_pb.js";
import { encodeAddress, txHash } from "../../src/wire/index.ts";
import { Fixture, startNode, waitFor } from "../support/index.ts";
import { freePorts } from "../support/ports.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** Every method of the engine's interface, asked of the reference engine and of the built node: same fields, same kinds, same refusals. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, answers are not compared: ${missing}`,
  () => expect(missing).toBe(""),
);

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A node and the contents of its chain. */
interface Asked {
  readonly url: string;
  /** Hash of a transaction and of its block, in hex, and the height of the block. */
  readonly tx: string;
  readonly block: string;
  readonly height: string;
}

interface Told {
  readonly status: number;
  readonly body: { readonly id?: Json; readonly result?: Json; readonly error?: Record<string, Json> };
}

const base64 = (hex: string) => toBase64(Uint8Array.from(Buffer.from(hex, "hex")));

function filled(text: string, { tx, block, height }: Asked): string {
  const words = { TX64: base64(tx), TX: tx, BLOCK64: base64(block), BLOCK: block, H: height };
  return Object.entries(words).reduce((all, [name, value]) => all.replaceAll(`<${name}>`, value), text);
}

async function told(response: Response): Promise<Told> {
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: { error: { text } } };
  }
}

async function get(node: Asked, path: string): Promise<Told> {
  const encoded = filled(path, node)
    .replaceAll('"', "%22")
    .replaceAll(" ", "%20")
    .replaceAll(">", "%3E")
    .replaceAll("<", "%3C");
  return told(await fetch(`${node.url}/${encoded}`));
}

async function post(node: Asked, method: string, params: unknown): Promise<Told> {
  const body = filled(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), node);
  return told(await fetch(node.url, { method: "POST", body, headers: { "Content-Type": "application/json" } }));
}

/** Fields of values with their kinds; for lists, the fields of all items. */
function kinds(json: Json | undefined, path = ""): string[] {
  if (json === null || json === undefined) return [];
  if (Array.isArray(json)) return [...new Set(json.flatMap((each: Json) => kinds(each, `${path}[]`)))];
  if (typeof json === "object")
    return Object.entries(json).flatMap(([key, value]) => kinds(value as Json, `${path}.${key}`));
  return [`${path}: ${typeof json === "string" ? textKind(json) : typeof json}`];
}

/** Text of a form that clients decode. */
function textKind(text: string): string {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return "time";
  if (/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(text)) return "HASH";
  if (/^-?\d+$/.test(text)) return "number in text";
  return "text";
}

/** Intended differences of ours, and parts that belong to voting rounds or to this one chain. */
const KNOWN = new RegExp(
  [
    // The program reports its own version.
    "application_version",
    "engine: text",
    "response.version",
    // A single validator has no rounds; theirs changed parameters in its first blocks.
    "round_state",
    "consensus_param_updates",
    // Stores and their keys are others; a refused query does not repeat its key.
    "response.(?:key|value|proofOps)",
  ].join("|"),
);

type Call = readonly [method: string, query: string, params: object];

const CALLS: readonly Call[] = [
  ["health", "", {}],
  ["status", "", {}],
  ["net_info", "", {}],
  ["blockchain", "minHeight=1&maxHeight=2", { minHeight: "1", maxHeight: "2" }],
  ["blockchain", "minHeight=<H>&maxHeight=<H>", { minHeight: "<H>", maxHeight: "<H>" }],
  ["genesis_chunked", "chunk=0", { chunk: "0" }],
  ["block", "height=<H>", { height: "<H>" }],
  ["block_by_hash", "hash=0x<BLOCK>", { hash: "<BLOCK64>" }],
  ["block_by_hash", `hash=0x${"00".repeat(32)}`, { hash: base64("00".repeat(32)) }],
  ["block_results", "height=<H>", { height: "<H>" }],
  ["commit", "height=<H>", { height: "<H>" }],
  ["header", "height=<H>", { height: "<H>" }],
  ["header_by_hash", "hash=0x<BLOCK>", { hash: "<BLOCK>" }],
  ["check_tx", "tx=0x00", { tx: "AA==" }],
  ["tx", "hash=0x<TX>&prove=true", { hash: "<TX64>", prove: true }],
  ["tx", "hash=0x<TX>", { hash: "<TX64>" }],
  ["tx_search", 'query="tx.height>0"&prove=true', { query: "tx.height>0", prove: true }],
  ["tx_search", 'query="a.b=1"', { query: "a.b=1" }],
  ["block_search", 'query="block.height=<H>"', { query: "block.height=<H>" }],
  ["validators", "height=<H>", { height: "<H>" }],
  ["dump_consensus_state", "", {}],
  ["consensus_state", "", {}],
  ["consensus_params", "height=<H>", { height: "<H>" }],
  ["unconfirmed_txs", "limit=1", { limit: "1" }],
  ["num_unconfirmed_txs", "", {}],
  ["abci_info", "", {}],
  ["abci_query", 'path="/store/bank/key"&data=0x00', { path: "/store/bank/key", data: "00" }],
  ["abci_query", 'path="/cosmos.bank.v1beta1.Query/Params"', { path: "/cosmos.bank.v1beta1.Query/Params", data: "" }],
  ["abci_query", 'path="/nothing/at/all"', { path: "/nothing/at/all", data: "" }],
  ["abci_query", 'path="/app/version"', { path: "/app/version", data: "" }],
  ["broadcast_tx_sync", "tx=0x00", { tx: "AA==" }],
  ["broadcast_tx_commit", "tx=0x00", { tx: "AA==" }],
  ["broadcast_tx_async", "tx=0x01", { tx: "Ag==" }],
];

const REFUSED: readonly Call[] = [
  ["nothing", "", {}],
  ["block", "height=0", { height: "0" }],
  ["block", "height=-1", { height: "-1" }],
  ["block", "height=999999", { height: "999999" }],
  ["block", "height=x", { height: "x" }],
  ["block_results", "height=999999", { height: "999999" }],
  ["commit", "height=999999", { height: "999999" }],
  ["header", "height=999999", { height: "999999" }],
  ["validators", "height=999999", { height: "999999" }],
  ["validators", "page=2", { page: "2" }],
  ["validators", "page=0", { page: "0" }],
  ["consensus_params", "height=999999", { height: "999999" }],
  ["blockchain", "minHeight=2&maxHeight=1", { minHeight: "2", maxHeight: "1" }],
  ["blockchain", "minHeight=-1&maxHeight=1", { minHeight: "-1", maxHeight: "1" }],
  ["genesis_chunked", "chunk=99", { chunk: "99" }],
  ["tx", `hash=0x${"00".repeat(32)}`, { hash: base64("00".repeat(32)) }],
  ["tx_search", 'query="tx.height>"', { query: "tx.height>" }],
  ["tx_search", 'query="tx.height>0"&order_by="up"', { query: "tx.height>0", order_by: "up" }],
  ["tx_search", 'query="tx.height>0"&page=99', { query: "tx.height>0", page: "99" }],
  ["tx_search", 'query="tx.height>0"&page=0', { query: "tx.height>0", page: "0" }],
  ["block_search", 'query="block.height"', { query: "block.height" }],
  ["block_search", 'query="block.height>0"&order_by="up"', { query: "block.height>0", order_by: "up" }],
  ["broadcast_tx_sync", "tx=5", { tx: 5 }],
  ["abci_query", "path=5", { path: 5 }],
  ["block", "height=999999", ["2", "3"]],
];

/** Paths below `/cosmos` of missing records, or that cannot be queried. */
const NOT_THERE: readonly string[] = [
  `auth/v1beta1/accounts/${encodeAddress(new Uint8Array(20).fill(9))}`,
  `staking/v1beta1/validators/${encodeAddress(new Uint8Array(20).fill(9), "valoper")}`,
  "staking/v1beta1/historical_info/999999",
  "tx/v1beta1/txs/AB",
  "evidence/v1beta1/evidence/AB",
  "gov/v1/proposals/0",
  "base/tendermint/v1beta1/blocks/999999",
  "nothing/at/all",
];

describe.skipIf(!(built instanceof Peer))("methods of the engine", () => {
  const fixture = new Fixture();
  let chain: SimdChain;
  let api = "";
  let theirs: Asked;
  let ours: Asked;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    chain = await startSimdChain(built, { accounts: ["alice"], prefix: "svc" });
    const [port = 0] = await freePorts(1);
    api = `http://127.0.0.1:${port}`;
    const { txhash } = await chain.svcTx("bank", "send", "alice", chain.address("alice"), "5stake");
    theirs = await asked(chain.url, txhash);
    const key = testKey("alice");
    const coins = [{ denom: "utoken", amount: 10n ** 12n }];
    const node = await startNode(fixture, {
      flags: ["--api.enable", "--api.address", `tcp://127.0.0.1:${port}`],
      accounts: [{ address: key.address, coins }],
      editHome: (home) =>
        addGenesisValidator(home, { operator: key.address, bonded: { denom: "utoken", amount: 10n ** 11n } }),
    });
    const send = create(MsgSendSchema, {
      fromAddress: key.address,
      toAddress: key.address,
      amount: [{ denom: "utoken", amount: "5" }],
    });
    const tx = signTx(node.chainId, [send], [{ key, accountNumber: 0n, sequence: 0n }]);
    const client = node.client();
    expect(await client.node.broadcast(tx, "sync")).toMatchObject({ code: 0 });
    await waitFor(() => client.node.tx(txHash(tx)), "the transaction");
    client.close();
    ours = await asked(
      node.address,
      Buffer.from(txHash(tx) as never, "hex")
        .toString("hex")
        .toUpperCase(),
    );
  }, 120_000);
  afterAll(async () => {
    await chain?.stop();
    await fixture.close();
  });

  async function asked(address: string, tx: string): Promise<Asked> {
    const url = address.replace("tcp:", "http:");
    const of = async (path: string) => (await told(await fetch(`${url}/${path}`))).body.result as Record<string, Json>;
    const height = String((await of(`tx?hash=0x${tx}`)).height);
    const { hash } = (await of(`block?height=${height}`)).block_id as { hash: string };
    return { url, tx, block: hash, height };
  }

  /** Fields and kinds that only one of the answers has, except for the known ones. */
  function differences(mine: Told, other: Told): string[] {
    const [a, b] = [kinds(mine.body.result), kinds(other.body.result)];
    const missing = b.filter((each) => !a.includes(each)).map((each) => `without ${each}`);
    const more = a.filter((each) => !b.includes(each)).map((each) => `with ${each}`);
    return [...missing, ...more].filter((each) => !KNOWN.test(each));
  }

  /** One after the other: the reference node refuses a transaction that it is just being asked about. */
  const bothWays = async (node: Asked, path: string, method: string, params: object): Promise<[Told, Told]> => {
    return [await get(node, path), await post(node, method, params)];
  };

  const answers = async (method: string, query: string, params: object): Promise<Told[]> => {
    const path = `${method}${query === "" ? "" : `?${query}`}`;
    return (await Promise.all([ours, theirs].map((node) => bothWays(node, path, method, params)))).flat();
  };

  test.each(CALLS)("%s?%s is answered with the same fields", async (method, query, params) => {
    const [inQuery, byName, theirQuery, theirName] = await answers(method, query, params);
    if (inQuery === undefined || byName === undefined || theirQuery === undefined || theirName === undefined) return;
    for (const [mine, other] of [
      [inQuery, theirQuery],
      [byName, theirName],
    ] as const) {
      expect({ status: mine.status, error: mine.body.error }).toEqual({ status: 200, error: undefined });
      expect(other.status).toBe(200);
      expect(differences(mine, other)).toEqual([]);
    }
  });

  test.each(NOT_THERE)("%s is refused by REST with the same words", async (path) => {
    const [mine, other] = await Promise.all(
      [api, chain.api].map(async (at) => told(await fetch(`${at}/cosmos/${path}`))),
    );
    expect(mine).toEqual(other);
  });

  test("REST describes the node and remembers blocks with the same fields", async () => {
    const height = Number(ours.height);
    await waitFor(async () => (await chain.height()) > height, "as many blocks");
    const paths = ["base/tendermint/v1beta1/node_info", `staking/v1beta1/historical_info/${height}`];
    for (const path of paths) {
      const [mine = [], other = []] = await Promise.all(
        [api, chain.api].map(async (at) => kinds((await told(await fetch(`${at}/cosmos/${path}`))).body as Json)),
      );
      // Their validator has a description, and their build a version of Go and sums.
      const known = /description|build_deps\[\]\.(?:path|sum)/;
      expect(other.filter((each) => !mine.includes(each) && !known.test(each))).toEqual([]);
    }
  });

  test.each(REFUSED)("%s?%s is refused alike", async (method, query, params) => {
    const [inQuery, byName, theirQuery, theirName] = await answers(method, query, params);
    const codes = (each: Told | undefined) => [each?.status, each?.body.error?.code, each?.body.error?.message];
    expect(codes(inQuery)).toEqual(codes(theirQuery));
    expect(codes(byName)).toEqual(codes(theirName));
  });
});
