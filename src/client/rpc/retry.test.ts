import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { statusAnswer } from "../../../test/support/node-double.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { txHash } from "../../wire/index.ts";
import { ChainClient } from "../chain/chain.ts";
import { BusyError, isBusy } from "../errors.ts";
import { broadcastTx, waitForTx } from "../tx/broadcast.ts";

/** Answers of the node, call after call: a result, the data of an error, or a status. */
type Answer = { readonly result: unknown } | { readonly data: string } | BusyError;

const BUSY_CODE = { code: sdkErrors.mempoolFull.code, codespace: "sdk" };
const query = (fields: object) => ({ result: { response: { log: "", info: "", height: "1", ...fields } } });
const sent = (fields: object) => ({ result: { code: 0, data: "", log: "", codespace: "", hash: "AB", ...fields } });
const TX = Uint8Array.of(1, 2, 3);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A chain whose node gives these answers, and repeats the last one. */
function chainOf(answers: readonly Answer[], onRetry?: (text: string) => void) {
  const bodies: string[] = [];
  const transport = {
    post: async (body: string) => {
      const answer = answers[Math.min(bodies.length, answers.length - 1)];
      bodies.push(body);
      if (answer instanceof Error) throw answer;
      const error = answer !== undefined && "data" in answer ? { code: -32603, message: "Internal error" } : undefined;
      return JSON.stringify({
        jsonrpc: "2.0",
        id: bodies.length,
        ...answer,
        ...(error && { error: { ...error, ...answer } }),
      });
    },
    close: () => {},
  };
  const chain = new ChainClient("127.0.0.1:1", { transport, ...(onRetry === undefined ? {} : { onRetry }) });
  return { chain, bodies };
}

/** Lets all pauses pass. */
async function settled<T>(work: Promise<T>): Promise<T> {
  const caught = work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  const outcome = await caught;
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

const sentOnce = (bodies: readonly string[]): number =>
  new Set(bodies.map((body) => JSON.stringify(JSON.parse(body).params))).size;

describe("a call that the node refuses for the moment", () => {
  test.each<[string, Answer, string]>([
    ["with status 503", new BusyError("the server answers with HTTP status 503", 3000), "HTTP status 503"],
    ["with the code of a full mempool", query({ ...BUSY_CODE, log: "limit of slow queries" }), "limit of slow queries"],
    ["with an error of the call", { data: "5 requests wait to be checked: mempool is full" }, "5 requests wait"],
  ])("%s is made again", async (_, refusal, why) => {
    const told: string[] = [];
    const { chain, bodies } = chainOf([refusal, query({ code: 0, codespace: "", value: "AQ==" })], (text) =>
      told.push(text),
    );
    const answer = await settled(chain.node.abciQuery("/x", new Uint8Array()));
    expect(answer.code).toBe(0);
    expect(told).toEqual([expect.stringContaining(why)]);
    expect(told[0]).toMatch(/trying again in [13] s$/);
    expect([bodies.length, sentOnce(bodies)]).toEqual([2, 1]);
  });

  test("as one of a batch is made again with the others", async () => {
    const told: string[] = [];
    const tries = [
      { error: { code: -32603, message: "Internal error", data: "mempool is full" } },
      { result: { n: 1 } },
    ];
    const transport = {
      post: async (body: string) => {
        const answer = tries.shift();
        return JSON.stringify(JSON.parse(body).map(({ id }: { id: number }) => ({ jsonrpc: "2.0", id, ...answer })));
      },
      close: () => {},
    };
    const chain = new ChainClient("127.0.0.1:1", { transport, onRetry: (text) => told.push(text) });
    expect(await settled(chain.rpc.batch([{ method: "a", params: {} }]))).toEqual([{ n: 1 }]);
    expect(told).toEqual(["the node is busy (mempool is full); trying again in 1 s"]);
  });

  test("is not made again by a client that is closed meanwhile", async () => {
    const { chain, bodies } = chainOf([new BusyError("HTTP status 503", undefined)], () => chain.close());
    await expect(chain.node.status()).rejects.toThrow("the client was closed");
    expect(bodies.length).toBe(1);
  });

  test("is known as that, whether its answer is one of HTTP, of the call or of the application", async () => {
    const refusals = [
      new BusyError("HTTP status 503", 0),
      { data: "5 requests wait: mempool is full" },
      query(BUSY_CODE),
    ];
    for (const refusal of refusals) {
      const error = await chainOf([refusal])
        .chain.query.call(Query.method.totalSupply, {})
        .catch((reason) => reason);
      expect(isBusy(error), String(error)).toBe(true);
    }
    const lasting = chainOf([{ data: "unknown height" }]).chain.query.call(Query.method.totalSupply, {});
    expect(isBusy(await lasting.catch((reason) => reason))).toBe(false);
  });

  test("does not end waiting for a transaction", async () => {
    const { chain, bodies } = chainOf([{ data: "5 requests wait: mempool is full" }, { data: "tx (AB) not found" }]);
    const waiting = settled(waitForTx(chain, "AB".repeat(32), { timeoutMs: 300, pollMs: 20 }));
    await expect(waiting).rejects.toThrow("was not in a block");
    expect(bodies.length).toBeGreaterThan(1);
  });

  test("is made four times, and then the refusal stands", async () => {
    const told: string[] = [];
    const { chain, bodies } = chainOf([new BusyError("HTTP status 429", 600_000)], (text) => told.push(text));
    await expect(settled(chain.node.status())).rejects.toMatchObject({ name: "BusyError" });
    expect([bodies.length, told.length]).toEqual([4, 3]);
    expect(told.every((text) => text.endsWith("in 10 s"))).toBe(true);
  });

  test("is not made again for callers that did not ask for that, nor where the refusal lasts", async () => {
    const quiet = chainOf([new BusyError("HTTP status 503", undefined)]);
    await expect(settled(quiet.chain.node.status())).rejects.toThrow("the node is busy");
    const lasting = chainOf([{ data: "unknown height" }], () => {});
    await expect(settled(lasting.chain.node.status())).rejects.toThrow("unknown height");
    expect([quiet.bodies.length, lasting.bodies.length]).toEqual([1, 1]);
  });
});

describe("a transaction", () => {
  const broadcast = async (...answers: readonly Answer[]) => {
    const { chain, bodies } = chainOf(answers, () => {});
    const { code, txhash } = await settled(broadcastTx(chain, TX, "sync"));
    return { code, txhash, calls: bodies.length, different: sentOnce(bodies) };
  };

  test("that finds the mempool full is sent again, unchanged", async () => {
    expect(await broadcast(sent(BUSY_CODE), { data: "mempool is full" }, sent({}))).toMatchObject({
      ...{ code: 0, calls: 3, different: 1 },
    });
    expect(await broadcast(sent(BUSY_CODE))).toMatchObject({ code: 20, calls: 4, different: 1 });
  });

  test("whose first try has arrived after all is accepted", async () => {
    const unread = new BusyError("HTTP status 503", 0);
    const known = sent({ code: sdkErrors.txInMempool.code, codespace: "sdk" });
    for (const answer of [known, { data: "tx already exists in cache" }]) {
      expect(await broadcast(unread, answer)).toMatchObject({ code: 0, calls: 2, different: 1 });
    }
    expect(await broadcast(known)).toMatchObject({ code: 19, calls: 1 });
  });

  test("whose first try may be in a block is looked for, and not made a second time", async () => {
    const unread = new BusyError("HTTP status 503", 0);
    const old = sent({ code: sdkErrors.wrongSequence.code, codespace: "sdk", log: "account sequence mismatch" });
    const absent = { data: "tx (AB) not found" };
    await expect(broadcast(unread, old, absent)).rejects.toThrow("was refused when it was sent again: timed out");
    const found = { hash: txHash(TX), height: "3", index: 0, tx: "AQID", tx_result: {} };
    const status = { result: statusAnswer(9) };
    expect(await broadcast(unread, old, { result: found }, status)).toMatchObject({ code: 0, calls: 4 });
    expect(await broadcast(old)).toMatchObject({ code: 32, calls: 1 });
  });
});
