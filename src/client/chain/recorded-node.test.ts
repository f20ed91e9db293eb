import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import recorded from "../../../test/vectors/rpc-live-tm034.json" with { type: "json" };
import frames from "../../../test/vectors/ws-live-tm034.json" with { type: "json" };
import { fromBase64, SvcError, toBase64 } from "../../util/index.ts";
import { Query as Bank } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { verifyStoreProof } from "../../wire/index.ts";
import { accountInfo, ChainClient, RpcError } from "../index.ts";
import { RpcSocket, type SubscriptionItem } from "../rpc/websocket.ts";
import { readAnswer, tx as txAnswer } from "./answers.ts";

/**
 * A node of release 0.34 of the engine that repeats recorded answers, over HTTP and over a websocket. Each recorded
 * answer must be requested by a test.
 */

interface Recorded {
  readonly http: string;
  readonly body: { readonly method: string; readonly params: unknown } | null;
  readonly status: number;
  readonly response: string;
}
const exchanges = recorded as readonly Recorded[];
/**
 * One answer is a page of text that belongs to no call of the protocol, and the genesis file was recorded only up to a
 * length.
 */
const answers = exchanges.filter(({ http, response }) => response.startsWith("{") && !http.endsWith("/genesis"));

function methodOf({ http, body }: Recorded): string {
  return body?.method ?? new URL(http).pathname.slice(1);
}

type Params = Readonly<Record<string, unknown>>;

/** Parameters of a URL in the form of a body: texts without quotes, `0x` bytes in base64. */
function paramsOf({ http, body }: Recorded): Params {
  if (body !== null) return Array.isArray(body.params) ? {} : (body.params as Params);
  const entries = [...new URL(http).searchParams].map(([name, value]) => [name, value.replaceAll('"', "")] as const);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const bytes = value.startsWith("0x") ? Buffer.from(value.slice(2), "hex") : undefined;
      return [name, bytes === undefined ? value : name === "data" ? bytes.toString("hex") : toBase64(bytes)];
    }),
  );
}

const asked = new Set<Recorded>();
/** The parameters that a request must share with a recorded one to get its answer. */
const NAMING = ["hash", "height", "path", "data", "query", "tx"];

function find(method: string, params: Params): Recorded | undefined {
  return answers.find((each) => {
    const known = paramsOf(each);
    const same = NAMING.every((name) => known[name] === undefined || String(known[name]) === String(params[name]));
    return (
      methodOf(each) === method &&
      same &&
      Boolean(params.prove) === (String(known.prove) === "true") &&
      !asked.has(each)
    );
  });
}

let server: Server;
let chain: ChainClient;
let sockets: WebSocketServer;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const calls = JSON.parse(text);
    const replies = [calls].flat().map(({ id, method, params }) => {
      const found = find(method, params) ?? answers.find((each) => methodOf(each) === method && each.status === 200);
      if (found === undefined) return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
      asked.add(found);
      return { ...JSON.parse(found.response), id };
    });
    response.end(JSON.stringify(Array.isArray(calls) ? replies : replies[0]));
  });
  sockets = new WebSocketServer({ server, path: "/websocket" });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  chain = new ChainClient(`127.0.0.1:${(server.address() as AddressInfo).port}`, { namespace: "cosmos" });
});
afterAll(async () => {
  chain.close();
  sockets.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const HASH = "C26B9A5D484A0AD8216BB528F8DD41730027CDE16DD1E95C44C0632D43611EB6";
const bytes = (base64: unknown): Uint8Array => Uint8Array.from(fromBase64(String(base64)));
const bodyOf = (method: string, at = 0): Params => {
  return exchanges.filter((each) => each.body?.method === method)[at]?.body?.params as Params;
};

/** The last test looks back on all others. */
const IN_ORDER = { shuffle: false };

describe("answers over HTTP", IN_ORDER, () => {
  test("status, with and without parameters", async () => {
    const expected = { chainId: "vec-1", version: "0.34.14" };
    expect(await chain.node.status()).toMatchObject(expected);
    expect(await chain.node.status()).toMatchObject(expected);
  });

  test("blocks: one with its results, and one that is still to come", async () => {
    expect(await chain.node.block(2n)).toMatchObject({ height: 2n, txs: [] });
    const refused = chain.rpc.call("block", { height: "99999" });
    await expect(refused).rejects.toThrow("height 99999 must be less than or equal to the current blockchain height");
    expect((await chain.rpc.call("commit", { height: "2" })) as object).toMatchObject({ canonical: true });
    expect((await chain.rpc.call("validators", {})) as object).toMatchObject({ total: "1" });
    expect((await chain.rpc.call("consensus_params", {})) as object).toHaveProperty(
      "consensus_params.block.max_gas",
      "-1",
    );
  });

  test("a transaction, with its proof, in a search, and none", async () => {
    const expected = { hash: HASH, height: 30n, code: 0, gasUsed: 61_129n };
    expect(await chain.node.tx(HASH)).toMatchObject(expected);
    for (let times = 0; times < 2; times += 1) {
      const proven = await chain.rpc.call("tx", { hash: toBase64(Buffer.from(HASH, "hex")), prove: true });
      expect(proven).toHaveProperty("proof.proof.total", "1");
      expect(readAnswer(txAnswer, "tx", proven).height).toBe(30n);
    }
    expect(await chain.node.tx("A".repeat(64))).toBeUndefined();
    expect((await chain.node.txSearch("message.action='send'", { perPage: 1 })).txs).toHaveLength(1);
    await expect(chain.node.txSearch("bad")).rejects.toBeInstanceOf(RpcError);
  });

  test("queries of state: an account, none, a balance", async () => {
    const accounts = [0, 1].map((at) => bodyOf("abci_query", at));
    const addresses = accounts.map(({ data }) => Buffer.from(String(data), "hex").toString("utf8", 2));
    expect(await accountInfo(chain.query, addresses[0] ?? "")).toMatchObject({ accountNumber: 0n });
    const none = accountInfo(chain.query, addresses[1] ?? "");
    await expect(none).rejects.toMatchObject({
      codespace: "sdk",
      code: 18,
      message: expect.stringContaining("bech32"),
    });
    const { data, height } = bodyOf("abci_query", 2);
    const text = Buffer.from(String(data), "hex").toString("utf8");
    const [, address = "", denom = ""] = /(cosmos1\w{38})..(\w+)$/s.exec(text) ?? [];
    // For a future height, releases of the era answer with nothing instead of an error.
    const options = { height: BigInt(String(height)) };
    const found = await chain.query.call(Bank.method.balance, { address, denom }, options);
    expect(found.balance).toMatchObject({ denom: "stake", amount: "0" });
  });

  test("queries without an rpc: a store with its proof, the application's version, an unknown path", async () => {
    const stored = await chain.node.abciQuery("/store/bank/key", Uint8Array.of(0), { prove: true });
    expect(stored.value.length).toBeGreaterThan(0);
    const claim = { store: "bank", key: Uint8Array.of(0), value: stored.value };
    // The header that the proof leads to was not recorded with it; we have no reason to trust the proof's own root.
    const verify = () => verifyStoreProof(stored.proofOps, { ...claim, appHash: new Uint8Array(32) });
    expect(verify).toThrow("it leads to another root");
    expect((await chain.node.abciQuery("/app/version", new Uint8Array())).code).toBe(0);
    expect((await chain.node.abciQuery("/nosuch", new Uint8Array())).code).toBe(6);
    expect((await chain.rpc.call("abci_info", {})) as object).toHaveProperty("response.data", "SimApp");
  });

  test("broadcasts: one that cannot be read, one that is there already, one that nobody waits for", async () => {
    expect(await chain.node.broadcast(Uint8Array.of(0), "sync")).toMatchObject({ code: 2, codespace: "sdk" });
    const twice = chain.node.broadcast(bytes(bodyOf("broadcast_tx_sync").tx), "sync");
    await expect(twice).rejects.toMatchObject({ data: "tx already exists in cache" });
    expect(await chain.node.broadcast(bytes(bodyOf("broadcast_tx_async").tx), "async")).toMatchObject({
      code: 0,
      log: "",
    });
  });

  test("what else a node answers", async () => {
    expect(await chain.rpc.call("health", {})).toEqual({});
    expect((await chain.rpc.call("net_info", {})) as object).toMatchObject({ listening: true });
    expect((await chain.rpc.call("unconfirmed_txs", {})) as object).toMatchObject({ n_txs: "0" });
    await expect(chain.rpc.call("nosuch", {})).rejects.toMatchObject({ rpcCode: -32601 });
  });

  test("all that was recorded was asked for", () => {
    expect(answers.length).toBe(exchanges.length - 2);
    expect(answers.filter((each) => !asked.has(each)).map(({ http, body }) => body ?? http)).toEqual([]);
  });
});

type Frame = Readonly<Record<string, unknown>> & {
  readonly id: string | number;
  readonly result?: { readonly data?: unknown };
};

describe("events over a websocket", () => {
  const all = frames as readonly Frame[];
  const eventsOf = (id: Frame["id"]) => all.filter((frame) => frame.id === id && frame.result?.data !== undefined);

  /** Answers a subscription with the frames that were recorded under an id. */
  function replay(id: Frame["id"]): RpcSocket {
    sockets.removeAllListeners("connection");
    sockets.on("connection", (socket) => {
      socket.on("message", (data) => {
        const call = JSON.parse(String(data));
        if (call.method !== "subscribe") return;
        for (const frame of all.filter((each) => each.id === id))
          socket.send(JSON.stringify({ ...frame, id: call.id }));
      });
    });
    return new RpcSocket(new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/websocket`), { retryMs: 5 });
  }

  async function take(socket: RpcSocket, count: number): Promise<SubscriptionItem[]> {
    const items: SubscriptionItem[] = [];
    for await (const item of socket.subscribe("tm.event='x'")) {
      items.push(item);
      if (items.length === count) break;
    }
    socket.close();
    return items;
  }

  test.each([2, "sub1"])("are those of the subscription %s, behind its beginning", async (id) => {
    const events = eventsOf(id);
    expect(events.length).toBeGreaterThan(0);
    const items = await take(replay(id), events.length + 1);
    expect(items[0]).toEqual({ kind: "resumed" });
    expect(items.slice(1)).toEqual(
      events.map(({ result }) => {
        const data = result?.data as Readonly<Record<string, unknown>> | undefined;
        return { kind: "event", type: data?.type, value: data?.value };
      }),
    );
  });

  test("headers follow one another", async () => {
    const items = await take(replay(2), eventsOf(2).length + 1);
    const heights = items.flatMap((item) =>
      item.kind === "event" ? [Number((item.value as { header: { height: string } }).header.height)] : [],
    );
    expect(heights).toEqual(heights.map((_, i) => (heights[0] ?? 0) + i));
  });

  test("a query that the node refuses ends its subscription", async () => {
    for (const id of [3, 4]) await expect(take(replay(id), 1)).rejects.toBeInstanceOf(SvcError);
  });

  test("all frames that were recorded belong to one of these", () => {
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(["sub1", 2, 3, 4]));
  });
});
