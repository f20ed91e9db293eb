import { setImmediate as nextTurn } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { GivenUp } from "../../../runtime/index.ts";
import { SvcError, sdkErrors } from "../../../util/index.ts";
import { MAX_CALLS } from "../limits.ts";
import { BlockThreadCalls } from "./calls.ts";
import { type BlockThread, LinkServer } from "./link.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function refuse(): never {
  throw new Error("not asked here");
}

const silent: BlockThread = {
  add: refuse,
  waiting: refuse,
  mempoolSize: refuse,
  checkTx: refuse,
  query: refuse,
  consensus: refuse,
  ask: refuse,
  pending: refuse,
};

function linked(part: Partial<BlockThread>) {
  const { port1, port2 } = new MessageChannel();
  const told: string[] = [];
  const server = new LinkServer(port1, { ...silent, ...part });
  const calls = new BlockThreadCalls(port2, (height) => told.push(`block ${height}`));
  closing.push(
    () => server.close(),
    () => port2.close(),
  );
  return { server, calls, told };
}

const added = (tx: Uint8Array) => ({
  hash: Uint8Array.of(7),
  result: {
    code: 0,
    codespace: "",
    data: tx,
    log: "",
    gasWanted: 5n,
    gasUsed: 3n,
    events: [],
    sender: "a",
    claim: undefined,
    sequence: 1n,
  },
});

describe("a link between threads", () => {
  it("answers calls in their order, those that take longer when they are done", async () => {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { calls, told } = linked({
      add: added,
      waiting: () => ended.then(() => [Uint8Array.of(1)]),
      mempoolSize: () => {
        // Its answer is sent before the first call's can be.
        setImmediate(() => end());
        return { txs: 2, bytes: 3 };
      },
    });
    const all = [calls.waiting(1), calls.add(Uint8Array.of(9)), calls.mempoolSize()].map((each, i) =>
      each.then((value) => {
        told.push(`${i}`);
        return value;
      }),
    );
    expect(await Promise.all(all)).toEqual([[Uint8Array.of(1)], added(Uint8Array.of(9)), { txs: 2, bytes: 3 }]);
    expect(told.slice(0, 2)).toEqual(["1", "2"]);
  });

  it("sends a transaction without what stands beside it in memory", async () => {
    const { calls } = linked({ add: (tx) => added(Uint8Array.of(tx.length, tx.buffer.byteLength)) });
    const memory = new Uint8Array(10_000);
    expect((await calls.add(memory.subarray(5, 8))).result.data).toEqual(Uint8Array.of(3, 3));
  });

  it("hands over refusals as they are, and the words of faults", async () => {
    const { calls } = linked({
      add: () => {
        throw sdkErrors.outOfGas("used up");
      },
      waiting: () => {
        throw new TypeError("a fault");
      },
      consensus: () => Promise.reject(new GivenUp("later")),
    });
    const refused = await calls.add(new Uint8Array()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SvcError);
    expect(refused).toMatchObject({
      codespace: "sdk",
      code: 11,
      message: "used up: out of gas",
      hint: "raise --gas, or let --gas auto find it",
    });
    await expect(calls.waiting(1)).rejects.toThrow("a fault");
    await expect(calls.consensus()).rejects.toThrow("later");
  });

  it("reports a block after the answers that came before it", async () => {
    const { server, calls, told } = linked({
      add: (tx) => {
        setImmediate(() => server.tell(4n));
        return added(tx);
      },
    });
    await calls.add(Uint8Array.of(1)).then(() => told.push("answer"));
    while (told.length < 2) await nextTurn();
    expect(told).toEqual(["answer", "block 4"]);
  });

  it("sends answers that come at once in one message, before a block that follows them", async () => {
    const { port1, port2 } = new MessageChannel();
    const ends: ((value: readonly Uint8Array[]) => void)[] = [];
    const waiting = () => new Promise<readonly Uint8Array[]>((resolve) => ends.push(resolve));
    const server = new LinkServer(port1, { ...silent, waiting });
    const calls = new BlockThreadCalls(port2, () => {});
    closing.push(() => server.close());
    const messages: unknown[] = [];
    port2.on("message", (message) => messages.push(message));
    const all = Promise.all([calls.waiting(1), calls.waiting(2), calls.waiting(3)]);
    while (ends.length < 3) await nextTurn();
    for (const end of ends) end([]);
    await Promise.resolve().then(() => {});
    server.tell(9n);
    await all;
    while (messages.length < 2) await nextTurn();
    expect(messages).toEqual([{ answers: [1, 2, 3].map((id) => ({ id, value: [] })) }, { height: 9n }]);
  });

  it("gives what else waits in the block thread its turn between calls", async () => {
    const order: string[] = [];
    const { calls } = linked({
      add: (tx) => {
        const end = performance.now() + 6;
        while (performance.now() < end);
        order.push(`${tx[0]}`);
        return added(tx);
      },
    });
    const all = [1, 2, 3].map((each) => calls.add(Uint8Array.of(each)));
    while (order.length === 0) await nextTurn();
    order.push("block");
    await Promise.all(all);
    expect(order.indexOf("block")).toBeLessThan(order.indexOf("3"));
  });

  it("refuses more calls than it may hold, as a full mempool does", async () => {
    const { calls } = linked({ mempoolSize: () => ({ txs: 0, bytes: 0 }), add: added });
    const large = new Uint8Array(20 * 1024 * 1024);
    const taken = calls.add(large);
    await expect(calls.add(large)).rejects.toMatchObject({ codespace: "sdk", code: 20 });
    await taken;
    await calls.add(large);
    const all = Array.from({ length: MAX_CALLS + 1 }, () => calls.mempoolSize());
    expect((await Promise.allSettled(all)).filter(({ status }) => status === "rejected")).toHaveLength(1);
  });
});
