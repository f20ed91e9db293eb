import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { later } from "../../test/support/block-engine/later.ts";
import { KvNetwork, kvTx } from "../../test/support/block-engine/network.ts";
import { type EmbeddedEngine, embeddedSource, txHash } from "../engine/index.ts";
import { fromUtf8, parseDecCoins, toHex, toHexUpper, toUtf8 } from "../util/index.ts";
import { Service as Node } from "../wire/gen/sdk/base/node/v1beta1/query_pb.js";
import { ReflectionService as Reflection } from "../wire/gen/sdk/base/reflection/v1beta1/reflection_pb.js";
import { Service as Tendermint } from "../wire/gen/sdk/base/tendermint/v1beta1/query_pb.js";
import { BroadcastMode, Service as Tx } from "../wire/gen/sdk/tx/v1beta1/service_pb.js";
import {
  decodeMessage,
  encodeAddress,
  encodeMessage,
  findTypeUrl,
  fromNanos,
  methodPath,
  type Namespace,
} from "../wire/index.ts";
import { Dispatcher } from "./dispatch.ts";
import { bindNodeService } from "./services/bind.ts";
import { CommitWaiters } from "./services/commit-waiters.ts";

const INFO = {
  id: "ab".repeat(20),
  moniker: "kv",
  rpcAddress: "tcp://127.0.0.1:1",
  listenAddress: "tcp://127.0.0.1:1",
  applicationVersion: "v1.2.3",
  minGasPrices: parseDecCoins("0.0025utoken,1uother"),
  haltHeight: 77n,
  pruning: { keepRecent: 9n, interval: 10n },
};

let engine: EmbeddedEngine;
let dispatcher: Dispatcher;
const reported: unknown[] = [];

beforeEach(() => {
  engine = new KvNetwork().engine();
  reported.length = 0;
  dispatcher = new Dispatcher({ chain: later(embeddedSource(engine)), nodeInfo: () => INFO });
});

async function ask<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>, namespace?: Namespace) {
  const data = encodeMessage<M["input"]>(method.input, create<M["input"]>(method.input, request));
  const path = methodPath(method, namespace ?? "sdk");
  const answer = await dispatcher.query({ path, data, height: 0n, prove: false });
  const value = answer.code === 0 ? decodeMessage<M["output"]>(method.output, answer.value) : undefined;
  return { answer, value };
}

describe("the service of the node", () => {
  test("says who it is, in either spelling", async () => {
    for (const namespace of ["sdk", "cosmos"] as const) {
      expect((await ask(Tendermint.method.getNodeInfo, {}, namespace)).value).toMatchObject({
        defaultNodeInfo: {
          protocolVersion: { p2p: 8n, block: 11n, app: 0n },
          defaultNodeId: INFO.id,
          network: "kv-1",
          version: "0.38.17",
          moniker: "kv",
          other: { txIndex: "on", rpcAddress: INFO.rpcAddress },
        },
        applicationVersion: { name: "svc", appName: "svc", version: "v1.2.3" },
      });
    }
    expect((await ask(Tendermint.method.getSyncing, {})).value?.syncing).toBe(false);
  });

  test("gives blocks, and says which it does not have", async () => {
    const { getLatestBlock, getBlockByHeight } = Tendermint.method;
    expect((await ask(getLatestBlock, {})).answer).toMatchObject({
      code: 22,
      log: "rpc error: code = NotFound desc = there is no block yet: not found: key not found",
    });
    engine.mempool.add(kvTx("a=1"));
    const { block, commit } = engine.produceBlock();
    engine.produceBlock();
    const first = (await ask(getBlockByHeight, { height: 1n })).value;
    expect(toHex(first?.blockId?.hash ?? new Uint8Array())).toBe(toHex(commit.blockId.hash));
    expect(first?.block?.header).toMatchObject({ chainId: "kv-1", height: 1n });
    expect(toHex(first?.block?.header?.appHash ?? new Uint8Array())).toBe(toHex(block.header.appHash));
    expect(first?.block?.data?.txs.map(fromUtf8)).toEqual(["a=1"]);
    const { $typeName, proposerAddress, ...header } = first?.block?.header ?? {};
    const proposer = encodeAddress(proposerAddress ?? new Uint8Array(0), "valcons");
    expect(first?.sdkBlock?.header).toMatchObject({ ...header, proposerAddress: proposer });
    const { data, evidence, lastCommit } = first?.block ?? {};
    expect(first?.sdkBlock).toMatchObject({ data, evidence, lastCommit });
    expect((await ask(getLatestBlock, {})).value?.block?.header?.height).toBe(2n);
    expect((await ask(getBlockByHeight, { height: 3n })).answer.code).toBe(18);
    expect((await ask(getBlockByHeight, { height: 0n })).answer.code).toBe(18);
  });

  test("gives large blocks in one form only, so that they fit into an answer", async () => {
    for (const name of ["a", "b", "c"]) engine.mempool.add(kvTx(`${name}=${"1".repeat(700_000)}`));
    const { block } = engine.produceBlock();
    const asked = await ask(Tendermint.method.getBlockByHeight, { height: block.header.height });
    expect(asked.value?.block?.data?.txs).toHaveLength(3);
    expect(asked.value?.sdkBlock).toBeUndefined();
  });
});

describe("the service of the settings and the state of the node", () => {
  test("shows the prices below which it refuses, what it keeps of older heights, and the block after which it stops", async () => {
    for (const namespace of ["sdk", "cosmos"] as const) {
      expect((await ask(Node.method.config, {}, namespace)).value).toMatchObject({
        minimumGasPrice: "0.0025utoken,1uother",
        pruningKeepRecent: "9",
        pruningInterval: "10",
        haltHeight: 77n,
      });
    }
  });

  test("shows the latest block, and none before the first", async () => {
    expect((await ask(Node.method.status, {})).value).toMatchObject({ height: 0n });
    engine.produceBlock();
    const { block } = engine.produceBlock();
    const { time, appHash, validatorsHash } = block.header;
    expect((await ask(Node.method.status, {})).value).toMatchObject({
      earliestStoreHeight: 1n,
      height: 2n,
      timestamp: fromNanos(time),
      appHash: Uint8Array.from(appHash),
      validatorHash: Uint8Array.from(validatorsHash),
    });
  });
});

describe("the service of reflection", () => {
  test("lists which messages may stand for an interface, in the spelling of the question", async () => {
    const { listAllInterfaces, listImplementations } = Reflection.method;
    const { interfaceNames = [] } = (await ask(listAllInterfaces, {}, "cosmos")).value ?? {};
    expect(interfaceNames).toContain("cosmos.auth.v1beta1.AccountI");
    for (const interfaceName of interfaceNames) {
      const names = (await ask(listImplementations, { interfaceName }, "cosmos")).value?.implementationMessageNames;
      expect(names).not.toEqual([]);
      for (const name of names ?? []) expect([name, findTypeUrl(name)]).toEqual([name, expect.anything()]);
    }
    for (const namespace of ["sdk", "cosmos"] as const) {
      for (const interfaceName of ["sdk.base.v1beta1.Msg", "cosmos.base.v1beta1.Msg"]) {
        const names = (await ask(listImplementations, { interfaceName }, namespace)).value?.implementationMessageNames;
        expect(names).toContain(`/${namespace}.bank.v1beta1.MsgSend`);
        expect(names).toContain("/svc.market.v1beta1.MsgCreateBid");
        expect(names).toContain(`/${namespace}.consensus.v1.MsgUpdateParams`);
        expect(names).toContain(`/${namespace}.gov.v1beta1.MsgVote`);
        expect(names).not.toContain(`/${namespace}.bank.v1beta1.MsgSendResponse`);
      }
    }
    expect((await ask(listImplementations, { interfaceName: "sdk.tx.v1beta1.Tx" })).value).toMatchObject({
      implementationMessageNames: ["/sdk.tx.v1beta1.Tx"],
    });
  });

  test.each([
    ["", 18, "invalid interface name"],
    ["none", 22, "none is not a registered interface"],
  ])("refuses %j", async (interfaceName, code, log) => {
    const { answer } = await ask(Reflection.method.listImplementations, { interfaceName });
    expect(answer).toMatchObject({ code, log: expect.stringContaining(log) });
  });
});

describe("the service of transactions", () => {
  test("submits them and returns what the mempool said", async () => {
    const broadcast = async (text: string, mode: BroadcastMode) =>
      ask(Tx.method.broadcastTx, { txBytes: toUtf8(text), mode });
    const txhash = toHexUpper(txHash(kvTx("a=1")));
    expect((await broadcast("a=1", BroadcastMode.SYNC)).value?.txResponse).toMatchObject({ txhash, code: 0 });
    expect((await broadcast("a=1", BroadcastMode.SYNC)).value?.txResponse).toMatchObject({
      code: 19,
      codespace: "sdk",
    });
    expect((await broadcast("bad", BroadcastMode.SYNC)).value?.txResponse).toMatchObject({
      code: 1,
      codespace: "kv",
      rawLog: "not key=value",
    });
    expect((await broadcast("bad", BroadcastMode.ASYNC)).value?.txResponse).toMatchObject({ code: 0, rawLog: "" });
    expect((await broadcast("b=1", BroadcastMode.BLOCK)).answer).toMatchObject({
      code: 18,
      log: expect.stringContaining("unsupported return type BLOCK; supported types: sync, async"),
    });
    expect(engine.mempool.size).toBe(1);
  });

  test("waits for the block where it is asked to", async () => {
    const chain = later(embeddedSource(engine));
    const waiters = new CommitWaiters(chain.events);
    dispatcher = new Dispatcher({ chain, nodeInfo: () => INFO, waiters });
    const broadcast = (text: string) =>
      ask(Tx.method.broadcastTx, { txBytes: toUtf8(text), mode: BroadcastMode.BLOCK }, "cosmos");
    expect((await broadcast("bad")).value?.txResponse).toMatchObject({ code: 1, codespace: "kv", height: 0n });
    const answer = broadcast("c=1");
    await vi.waitUntil(() => engine.mempool.size > 0, 30_000);
    engine.produceBlock();
    const { txResponse } = (await answer).value ?? {};
    expect(txResponse).toMatchObject({ code: 0, height: 1n, txhash: toHexUpper(txHash(kvTx("c=1"))), timestamp: "" });
    expect(txResponse?.tx).toBeUndefined();
    waiters.close();
  });

  test("waits for a bounded time, and for a bounded number", async () => {
    const chain = embeddedSource(engine);
    const waiters = new CommitWaiters(chain.events);
    dispatcher = new Dispatcher({ chain, nodeInfo: () => INFO, waiters });
    vi.useFakeTimers();
    const broadcast = (i: number) =>
      ask(Tx.method.broadcastTx, { txBytes: toUtf8(`k${i}=1`), mode: BroadcastMode.BLOCK });
    const answers = Array.from({ length: 101 }, (_, i) => broadcast(i));
    expect((await answers.at(-1))?.answer.log).toContain(
      "code = ResourceExhausted desc = 100 clients are already waiting",
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answers[0])?.answer.log).toContain("code = DeadlineExceeded desc = timed out waiting for tx");
    vi.useRealTimers();
    await Promise.all(answers);
    waiters.close();
  });
});

describe("the dispatcher", () => {
  test("leaves to the application what no service of the node answers", async () => {
    engine.mempool.add(kvTx("a=1"));
    engine.produceBlock();
    const answer = await dispatcher.query({ path: "/key", data: toUtf8("a"), height: 0n, prove: false });
    expect(fromUtf8(answer.value)).toBe("1");
  });

  test("takes and gives messages, for servers that have them", async () => {
    engine.produceBlock();
    const { value, height } = await dispatcher.call(Tendermint.method.getLatestBlock, {});
    expect([value.block?.header?.height, height]).toEqual([1n, 1n]);
    await expect(dispatcher.call(Tx.method.getTx, { hash: "AB".repeat(32) })).rejects.toMatchObject({
      codespace: "sdk",
      code: 22,
      message: expect.stringContaining("rpc error: code = NotFound"),
    });
  });

  test("contains and reports what goes wrong in a service", async () => {
    const broken = bindNodeService(Tendermint, {
      getSyncing: () => {
        throw new Error("secret");
      },
    });
    const report = (error: unknown) => void reported.push(error);
    dispatcher = new Dispatcher({ chain: embeddedSource(engine), nodeInfo: () => INFO, services: [broken], report });
    const { answer } = await ask(Tendermint.method.getSyncing, {});
    expect(answer).toMatchObject({ code: 111222, codespace: "undefined", log: expect.not.stringContaining("secret") });
    expect(reported).toEqual([new Error("secret")]);
    expect((await ask(Tx.method.getTx, {})).answer.code).not.toBe(0);
  });
});
