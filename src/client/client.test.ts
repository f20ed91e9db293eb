import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeDouble, Refusal, statusAnswer } from "../../test/support/node-double.ts";
import proof from "../../test/vectors/ics23-proof-sdk042.json" with { type: "json" };
import { fromHex, SvcError, sdkErrors, toBase64 } from "../util/index.ts";
import { Query as Auth, BaseAccountSchema, ModuleAccountSchema } from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as Bank, QueryBalanceRequestSchema } from "../wire/gen/sdk/bank/v1beta1/query_pb.js";
import {
  ContinuousVestingAccountSchema,
  DelayedVestingAccountSchema,
  PeriodicVestingAccountSchema,
  PermanentLockedAccountSchema,
} from "../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { decodeMessage, encodeMessage, makeAny, packAny, publicKeyToAny } from "../wire/index.ts";
import { accountInfo, ChainClient, parseNodeAddress, provenValue, queryFault, RpcError } from "./index.ts";

const node = new NodeDouble();
let chain: ChainClient;

beforeEach(async () => {
  for (const name of Object.keys(node.methods)) delete node.methods[name];
  node.seen.length = 0;
  node.connections = 0;
  await node.start();
  chain = new ChainClient(node.address, { timeoutMs: 5000 });
});

afterEach(async () => {
  chain.close();
  await node.stop();
});

describe("node addresses", () => {
  it.each([
    ["tcp://localhost:26657", "http://localhost:26657/", "ws://localhost:26657/websocket"],
    ["localhost:26657", "http://localhost:26657/", "ws://localhost:26657/websocket"],
    ["node.example", "http://node.example:26657/", "ws://node.example:26657/websocket"],
    ["tcp://node.example:80", "http://node.example/", "ws://node.example/websocket"],
    ["http://node.example", "http://node.example/", "ws://node.example/websocket"],
    ["https://node.example/rpc/", "https://node.example/rpc/", "wss://node.example/rpc/websocket"],
    ["https://node.example:443", "https://node.example/", "wss://node.example/websocket"],
    ["tcp://[::1]:26657", "http://[::1]:26657/", "ws://[::1]:26657/websocket"],
    [" 127.0.0.1:1 ", "http://127.0.0.1:1/", "ws://127.0.0.1:1/websocket"],
  ])("%s", (text, http, websocket) => {
    const endpoint = parseNodeAddress(text);
    expect([endpoint.http.href, endpoint.websocket.href]).toEqual([http, websocket]);
  });

  it.each([
    "",
    "ftp://x",
    "unix:///tmp/x",
    "tcp://",
    "http://user@host",
    "host:99999",
    "a b:1",
    "http://h?x=1",
    "tcp://h#x",
  ])("refuses %j", (text) => {
    expect(() => parseNodeAddress(text)).toThrow(/invalid node address$/);
  });

  it.each([
    ["http://user:pw@host/a@b", '"http://...@host/a@b": invalid'],
    ["user:pw@host", '"...@host": invalid'],
    ["no user/at@all", '"no user/...@all": invalid'],
    ["@no host", '"...@no host": invalid'],
    // A text without an @ is refused in linear time.
    ["x".repeat(5_000_000), `"${"x".repeat(200)}"`],
  ])("never show a password: %.30s", (text, shown) => {
    expect(() => parseNodeAddress(text)).toThrow(shown);
  });
});

describe("calls", () => {
  it("use one connection and match answers to calls", async () => {
    node.methods.health = () => ({});
    for (let i = 0; i < 5; i++) expect(await chain.rpc.call("health")).toEqual({});
    expect(node.connections).toBe(1);
  });

  it("pass on the node's words when it refuses", async () => {
    node.methods.tx = () => {
      throw new Refusal("tx (AA) not found");
    };
    const error = await chain.rpc.call("tx").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toMatchObject({
      message: "RPC error -32603 - Internal error: tx (AA) not found",
      rpcCode: -32603,
      data: "tx (AA) not found",
    });
  });

  it("come in batches of ten, each with its own result", async () => {
    node.methods.block = ({ height }) => {
      if (height === "3") throw new Refusal("no");
      return { height };
    };
    const calls = Array.from({ length: 12 }, (_, i) => ({ method: "block", params: { height: String(i) } }));
    const results = await chain.rpc.batch(calls);
    expect(results.map((result) => (result instanceof RpcError ? result.data : result))).toEqual(
      calls.map(({ params }) => (params.height === "3" ? "no" : params)),
    );
    expect(node.seen.map((names) => names.split(",").length)).toEqual([10, 2]);
  });

  it("say what is wrong with the connection and what to do", async () => {
    await node.stop();
    const origin = `http://${node.address}`;
    const error = await chain.rpc.call("health").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ codespace: "client", code: 1 });
    expect((error as SvcError).message).toBe(`cannot reach the node at ${origin}: connection refused: no connection`);
    expect((error as SvcError).hint).toMatch(/--node/);
  });

  it("go on over a new connection after the node was restarted", async () => {
    node.methods.health = () => ({});
    await chain.rpc.call("health");
    await node.stop();
    await node.start();
    expect(await chain.rpc.call("health")).toEqual({});
  });

  it.each([
    ["begin", () => {}],
    ["end", (response: ServerResponse) => void response.writeHead(200).write('{"jsonrpc"')],
  ])("end in time when the answer does not %s", async (_, answer) => {
    const server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const patient = new ChainClient(`http://127.0.0.1:${port}`, { timeoutMs: 50 });
    await expect(patient.rpc.call("health")).rejects.toThrow("no answer within 0.05 s");
    patient.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it("fail if the response has no answer", async () => {
    const silent = new ChainClient(node.address, {
      transport: { post: () => Promise.resolve("<html>"), close: () => {} },
    });
    await expect(silent.rpc.call("health")).rejects.toThrow("answered a web page");
    const empty = new ChainClient(node.address, { transport: { post: () => Promise.resolve("[]"), close: () => {} } });
    await expect(empty.rpc.call("health")).rejects.toThrow(/left a call unanswered/);
    await expect(empty.rpc.batch([{ method: "health", params: {} }])).rejects.toThrow(/left a call unanswered/);
  });

  it("refuse answers of another shape, naming the field", async () => {
    node.methods.status = () => ({ node_info: { network: 5 } });
    await expect(chain.node.status()).rejects.toThrow(/answer to status has no readable node_info.network/);
  });
});

describe("queries", () => {
  const answer = { balance: { denom: "utoken", amount: "5" } };

  it("carry typed messages both ways, under the names of the chain", async () => {
    const paths: unknown[] = [];
    node.answerQuery(Bank.method.balance, (request, params) => {
      paths.push(params.path);
      expect(decodeMessage(QueryBalanceRequestSchema, request)).toMatchObject({ address: "a", denom: "utoken" });
      return answer;
    });
    const request = { address: "a", denom: "utoken" };
    expect(await chain.query.call(Bank.method.balance, request)).toMatchObject(answer);
    expect((await chain.query.service(Bank).balance(request)).balance?.amount).toBe("5");
    const other = new ChainClient(node.address, { namespace: "cosmos" });
    expect(await other.query.call(Bank.method.balance, request)).toMatchObject(answer);
    other.close();
    expect(paths).toEqual([
      "/sdk.bank.v1beta1.Query/Balance",
      "/sdk.bank.v1beta1.Query/Balance",
      "/cosmos.bank.v1beta1.Query/Balance",
    ]);
  });

  it("ask about a height and return the height of the answer", async () => {
    node.answerQuery(Bank.method.balance, (_, params) => {
      expect(params.height).toBe("42");
      return answer;
    });
    const { height } = await chain.query.callAt(Bank.method.balance, { address: "a" }, { height: 42n });
    expect(height).toBe(42n);
  });

  it.each([
    [sdkErrors.keyNotFound("account x"), "NotFound"],
    [sdkErrors.invalidRequest("bad"), "InvalidArgument"],
    [sdkErrors.unauthorized("no"), "Unauthenticated"],
    [sdkErrors.unknownRequest("what"), "Unknown"],
    [new SvcError("market", 22, "other"), "Unknown"],
  ])("reject with the application's error: %s", async (refused, fault) => {
    node.answerQuery(Bank.method.balance, () => {
      throw refused;
    });
    const error = await chain.query.call(Bank.method.balance, {}).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ codespace: refused.codespace, code: refused.code, message: refused.message });
    expect(queryFault(error)).toBe(fault);
  });
});

describe("accounts", () => {
  const key = { type: "secp256k1", key: new Uint8Array(33).fill(2) } as const;
  const ADDRESS = "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6";
  const base = { address: ADDRESS, accountNumber: 7n, sequence: 9n, pubKey: publicKeyToAny(key, "cosmos") };
  const locked = { baseAccount: base, originalVesting: [{ denom: "stake", amount: "9" }], endTime: 8n };

  it.each([
    ["plain", packAny(BaseAccountSchema, base)],
    ["in the alias spelling", packAny(BaseAccountSchema, base, "cosmos")],
    ["of a module", packAny(ModuleAccountSchema, { baseAccount: base, name: "m" })],
    ["that vests evenly", packAny(ContinuousVestingAccountSchema, { baseVestingAccount: locked, startTime: 5n })],
    ["that vests at once", packAny(DelayedVestingAccountSchema, { baseVestingAccount: locked }, "cosmos")],
    ["that vests in periods", packAny(PeriodicVestingAccountSchema, { baseVestingAccount: locked, startTime: 5n })],
    ["that never vests", packAny(PermanentLockedAccountSchema, { baseVestingAccount: locked })],
    ["of an unknown kind", makeAny("/other.Account", packAny(ModuleAccountSchema, { baseAccount: base }).value)],
  ])("%s", async (_, account) => {
    node.answerQuery(Auth.method.account, () => ({ account }));
    const info = await accountInfo(chain.query, ADDRESS);
    expect(info).toEqual({ address: ADDRESS, accountNumber: 7n, sequence: 9n, publicKey: key });
  });

  it("of a kind that holds no account are refused", async () => {
    const strange = makeAny(
      "/other.Account",
      encodeMessage(BaseAccountSchema, create(BaseAccountSchema, { sequence: 5n })),
    );
    node.answerQuery(Auth.method.account, () => ({ account: strange }));
    await expect(accountInfo(chain.query, ADDRESS)).rejects.toThrow(/type \/other.Account are not supported/);
  });
});

describe("the recorded answers of a node of the era", () => {
  const recorded = JSON.parse(
    readFileSync(new URL("../../test/vectors/rpc-live-tm034.json", import.meta.url), "utf8"),
  ) as readonly { http: string; response: string }[];

  function answer(method: string, without?: string): unknown {
    const found = recorded.find(({ http, response }) => {
      return (
        new RegExp(`/${method}(\\?|$)`).test(http) && !http.includes(without ?? "\0") && response.includes('"result"')
      );
    });
    if (found === undefined) throw new Error(`no recorded ${method}`);
    return (JSON.parse(found.response) as { result: unknown }).result;
  }

  beforeEach(() => {
    for (const method of ["status", "block", "block_results", "tx", "tx_search"]) {
      node.methods[method] = () => answer(method);
    }
  });

  it("are read: status", async () => {
    expect(await chain.node.status()).toMatchObject({ chainId: "vec-1", version: "0.34.14", latestHeight: 44n });
    expect(await chain.chainId()).toBe("vec-1");
  });

  it("are read: a block with its events in plain text", async () => {
    const block = await chain.node.block(2n);
    expect(block).toMatchObject({ chainId: "vec-1", height: 2n, timestamp: "2026-11-21T17:16:37.555076881Z", txs: [] });
    expect(block.time.getTime()).toBe(1795281397555);
    expect(block.events[0]).toMatchObject({
      type: "transfer",
      attributes: [{ key: "recipient" }, {}, { key: "amount" }],
    });
  });

  it("are read: a transaction", async () => {
    const tx = await chain.node.tx("C26B9A5D484A0AD8216BB528F8DD41730027CDE16DD1E95C44C0632D43611EB6");
    expect(tx).toMatchObject({ height: 30n, code: 0, gasWanted: 200_000n, gasUsed: 61_129n });
    expect(tx?.events[0]?.attributes[0]).toMatchObject({ key: "acc_seq", index: true });
    expect(Buffer.from(tx?.data ?? []).toString("hex")).toBe("0a060a0473656e64");
  });

  it("are read: a search", async () => {
    const { txs, total } = await chain.node.txSearch("message.action='send'");
    expect(txs).toHaveLength(1);
    expect(total).toBeGreaterThan(0n);
  });
});

it("asks the chain's name once, and again after a failure", async () => {
  let failing = true;
  node.methods.status = () => {
    if (failing) throw new Refusal("starting");
    return statusAnswer(1);
  };
  await expect(chain.chainId()).rejects.toThrow("starting");
  failing = false;
  expect([await chain.chainId(), await chain.chainId()]).toEqual(["test-1", "test-1"]);
  expect(node.seen).toEqual(["status", "status"]);
});

it("takes a value for proven only with a proof that leads to the trusted hash", async () => {
  const { response, next_header_app_hash: hash } = proof;
  let answer: object = response;
  node.methods.abci_query = () => ({ response: answer });
  const key = fromHex("00");
  const request = { store: "bank", key, height: 103n, appHash: fromHex(hash) };
  expect(toBase64((await provenValue(chain, request)) ?? new Uint8Array())).toBe(response.value);
  const wrong = { codespace: "wire", code: 2 };
  await expect(provenValue(chain, { ...request, appHash: new Uint8Array(32) })).rejects.toMatchObject(wrong);
  answer = { ...response, value: "AAAA" };
  await expect(provenValue(chain, request)).rejects.toMatchObject(wrong);
  answer = { ...response, value: null };
  await expect(provenValue(chain, request)).rejects.toMatchObject(wrong);
  answer = { ...response, proofOps: null, log: "not supported" };
  await expect(provenValue(chain, request)).rejects.toThrow("no proof of 00 in store bank: not supported");
});

it("sends queries as hexadecimal and reads proofs", async () => {
  node.methods.abci_query = (params) => {
    expect(params).toEqual({ path: "/store/bank/key", data: "00ff", height: "5", prove: true });
    const ops = [{ type: "ics23:iavl", key: toBase64(fromHex("00")), data: toBase64(fromHex("0102")) }];
    return { response: { code: 0, value: "AQ==", height: "5", proofOps: { ops } } };
  };
  const result = await chain.node.abciQuery("/store/bank/key", fromHex("00ff"), { height: 5n, prove: true });
  expect(result).toMatchObject({ height: 5n, value: new Uint8Array([1]) });
  expect(result.proofOps).toEqual([{ type: "ics23:iavl", key: new Uint8Array([0]), data: new Uint8Array([1, 2]) }]);
});
