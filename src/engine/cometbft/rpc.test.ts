import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EngineRpc } from "./rpc.ts";

let folder = "";
let path = "";
let rpc: EngineRpc;
let server: Server | undefined;
let requests: string[] = [];
/** Calls in each request. */
let batches: number[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-engine-rpc-"));
  path = join(folder, "rpc.sock");
  rpc = new EngineRpc({ path });
  [requests, batches] = [[], []];
});

afterEach(async () => {
  rpc.close();
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
  rmSync(folder, { recursive: true });
});

/** An engine that answers each request as `answer` does. */
async function listen(answer: (response: ServerResponse, count: number) => void): Promise<void> {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const calls = [JSON.parse(body)].flat();
      requests.push(...calls.map(({ method }) => method));
      batches.push(calls.length);
      answer(response, batches.length);
    });
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
}

/** Answers to a batch of transactions, and to the call that ends it. */
const taken = (response: ServerResponse, errors: Readonly<Record<number, string>> = {}) => {
  const answers = Array.from({ length: batches.at(-1) ?? 0 }, (_, id) => {
    const data = errors[id];
    return data === undefined ? { id, result: { code: 0 } } : { id, error: { message: "Internal error", data } };
  });
  response.end(JSON.stringify(answers));
};
const result = (response: ServerResponse, value: unknown) => response.end(JSON.stringify({ result: value }));
const error = (response: ServerResponse, data: string) =>
  response.end(JSON.stringify({ error: { code: -32603, message: "Internal error", data } }));

test("a transaction waits for an engine that starts", async () => {
  const sent = rpc.broadcast(Uint8Array.of(1));
  await listen((response) => taken(response));
  await sent;
  expect(requests).toEqual(["broadcast_tx_async", "check_tx"]);
});

test("transactions that come together share a batch, and each has its own answer", async () => {
  await listen((response) => taken(response, { 1: "tx already exists in cache" }));
  const sent = Array.from({ length: 20 }, (_, i) => rpc.broadcast(Uint8Array.of(i)));
  const answers = await Promise.allSettled(sent);
  expect(batches).toEqual([10, 10, 3]);
  const refused = answers.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
  expect(refused).toEqual([1, 10, 19]);
});

test("long transactions share no batch", async () => {
  await listen((response) => taken(response));
  await Promise.all([1, 2, 3].map((i) => rpc.broadcast(new Uint8Array(200_000).fill(i))));
  expect(batches).toEqual([2, 2, 2]);
});

test("a set of voters is read page by page", async () => {
  const row = (i: number) => ({ pub_key: { value: Buffer.alloc(32, i).toString("base64") }, voting_power: `${i}` });
  await listen((response, count) => {
    const validators = Array.from({ length: count === 1 ? 100 : 50 }, (_, i) => row(count + i));
    result(response, { validators, total: "150" });
  });
  expect((await rpc.validators(7n)).map(({ power }) => power).slice(98)).toEqual([
    99n,
    100n,
    ...Array.from({ length: 50 }, (_, i) => BigInt(i + 2)),
  ]);
  expect(requests).toEqual(["validators", "validators"]);
});

test("a transaction is handed over once: a lost answer does not say whether the engine has it", async () => {
  await listen((response) => response.destroy());
  await expect(rpc.broadcast(Uint8Array.of(1))).rejects.toMatchObject({ codespace: "engine", code: 11 });
  expect(batches).toHaveLength(1);
});

test("a request of the node itself is repeated until the engine answers", async () => {
  await listen((response, count) => (count < 3 ? response.destroy() : result(response, {})));
  await rpc.health();
  expect(requests).toHaveLength(3);
});

test("a node that ends waits for no engine", async () => {
  const asked = rpc.health();
  rpc.close();
  await expect(asked).rejects.toMatchObject({ codespace: "engine", code: 11 });
});

test.each([
  ["tx already exists in cache", { codespace: "sdk", code: 19, message: "tx already exists in cache" }],
  ["mempool is full: number of txs 1 (max: 1), total txs bytes 9 (max: 10)", { codespace: "sdk", code: 20 }],
  [
    "Tx too large. Max size is 3, but got 4",
    { codespace: "sdk", code: 21, message: "tx too large. Max size is 3, but got 4" },
  ],
  ["timed out", { codespace: "engine", code: 15 }],
])("the engine's refusal has the number that clients know: %s", async (text, expected) => {
  await listen((response) => taken(response, { 0: text }));
  await expect(rpc.broadcast(Uint8Array.of(1))).rejects.toMatchObject(expected);
});

test("transactions that the engine refuses together have its reason", async () => {
  await listen((response) => error(response, "request body too large"));
  await expect(rpc.broadcast(Uint8Array.of(1))).rejects.toMatchObject({ codespace: "engine", code: 15 });
});

test("an engine that lacks a block which it decided cannot go on", async () => {
  await listen((response) => error(response, "height 7 is not available, lowest height is 9"));
  await expect(rpc.commit(7n)).rejects.toMatchObject({ codespace: "engine", code: 12 });
});

test("waiting transactions are asked for once at a time, and fewer where they are long", async () => {
  const limits: string[] = [];
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      const { method, params } = JSON.parse(body);
      requests.push(method);
      if (method === "unconfirmed_txs") limits.push(params.limit);
      // 130 transactions of 439 KB.
      result(
        response,
        method === "unconfirmed_txs" ? { txs: ["AQ==", "Ag=="] } : { total: "130", total_bytes: "57070000" },
      );
    });
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
  const answers = await Promise.all([rpc.waiting(1), rpc.waiting(100)]);
  expect(answers.map((each) => each.length)).toEqual([1, 2]);
  expect(requests).toEqual(["num_unconfirmed_txs", "unconfirmed_txs"]);
  expect(limits).toEqual(["9"]);
});
