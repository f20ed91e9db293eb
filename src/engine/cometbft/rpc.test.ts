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

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-engine-rpc-"));
  path = join(folder, "rpc.sock");
  rpc = new EngineRpc({ path });
  requests = [];
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
      requests.push(JSON.parse(body).method);
      answer(response, requests.length);
    });
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
}

const result = (response: ServerResponse, value: unknown) => response.end(JSON.stringify({ result: value }));
const error = (response: ServerResponse, data: string) =>
  response.end(JSON.stringify({ error: { code: -32603, message: "Internal error", data } }));

test("a transaction waits for an engine that starts", async () => {
  const sent = rpc.broadcast(Uint8Array.of(1));
  await listen((response) => result(response, { code: 0 }));
  await sent;
  expect(requests).toEqual(["broadcast_tx_sync"]);
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
  expect(requests).toHaveLength(1);
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
  await listen((response) => error(response, text));
  await expect(rpc.broadcast(Uint8Array.of(1))).rejects.toMatchObject(expected);
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
