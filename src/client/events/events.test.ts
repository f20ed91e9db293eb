import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NodeDouble, serveBlocks } from "../../../test/support/node-double.ts";
import { ChainClient, followBlocks, type WatchedEvent, watchEvents } from "../index.ts";
import { Queue, type SubscriptionItem } from "../rpc/websocket.ts";

const node = new NodeDouble();
let chain: ChainClient;
let problems: string[];

beforeEach(async () => {
  for (const name of Object.keys(node.methods)) delete node.methods[name];
  problems = [];
  await node.start();
  chain = new ChainClient(node.address, { retryMs: 5, onProblem: (error) => problems.push(error.message) });
});

afterEach(async () => {
  chain.close();
  await node.stop();
});

async function take(items: AsyncIterator<SubscriptionItem>): Promise<SubscriptionItem> {
  const { value, done } = await items.next();
  if (done === true) throw new Error("the subscription ended");
  return value;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("subscriptions", () => {
  it("begin with a notice, then yield the events of their own query", async () => {
    const blocks = chain.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    const txs = chain.socket().subscribe("tm.event='Tx'")[Symbol.asyncIterator]();
    expect([await take(blocks), await take(txs)]).toEqual([{ kind: "resumed" }, { kind: "resumed" }]);
    node.emit("tm.event='Tx'", "tendermint/event/Tx", { n: 1 });
    node.emit("tm.event='NewBlock'", "tendermint/event/NewBlock", { n: 2 });
    expect(await take(blocks)).toEqual({ kind: "event", type: "tendermint/event/NewBlock", value: { n: 2 } });
    expect(await take(txs)).toEqual({ kind: "event", type: "tendermint/event/Tx", value: { n: 1 } });
  });

  it("resume with a notice after the connection was lost", async () => {
    const items = chain.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    await take(items);
    await node.stop();
    await until(() => problems.length >= 2);
    await node.start();
    expect(await take(items)).toEqual({ kind: "resumed" });
    node.emit("tm", "x", 1);
    expect(await take(items)).toEqual({ kind: "event", type: "x", value: 1 });
    expect(problems.at(-1)).toMatch(/^cannot follow events of the node at 127.0.0.1:\d+: .*: no connection$/);
  });

  it("wait for a node that is not there yet", async () => {
    await node.stop();
    const items = chain.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    const first = take(items);
    await until(() => problems.length >= 1);
    await node.start();
    expect(await first).toEqual({ kind: "resumed" });
  });

  it("reject when the node refuses the query", async () => {
    const items = chain.socket().subscribe("bad")[Symbol.asyncIterator]();
    await expect(items.next()).rejects.toThrow(/failed to parse query/);
  });

  it("are cancelled at the node when they are left, and the connection with the last of them", async () => {
    const kept = chain.socket().subscribe("tm.event='NewBlock'");
    const items = kept[Symbol.asyncIterator]();
    await take(items);
    for await (const _ of chain.socket().subscribe("tm.event='Tx'")) break;
    await until(() => node.subscriptions.length === 1);
    const socket = node.subscriptions[0]?.socket;
    kept.close();
    expect(await items.next()).toEqual({ done: true, value: undefined });
    await until(() => socket?.readyState === 3);
  });

  it("share one of the node where they are alike, and each ends without the others", async () => {
    const subscribe = () => chain.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    const [kept, left] = [subscribe(), subscribe()];
    expect([await take(kept), await take(left)]).toEqual([{ kind: "resumed" }, { kind: "resumed" }]);
    await left.return?.();
    const late = subscribe();
    expect(await take(late)).toEqual({ kind: "resumed" });
    node.emit("tm", "x", 1);
    const event = { kind: "event", type: "x", value: 1 };
    expect([await take(kept), await take(late)]).toEqual([event, event]);
    expect(node.subscriptions.length).toBe(1);
  });

  it("end when the client is closed, and none can be made afterwards", async () => {
    const items = chain.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    await take(items);
    const pending = items.next();
    chain.close();
    expect((await pending).done).toBe(true);
    expect(() => chain.socket().subscribe("tm.event='Tx'")).toThrow(/closed/);
  });

  it("notice a connection that has gone silent", async () => {
    const quiet = new ChainClient(node.address, {
      retryMs: 5,
      silenceMs: 40,
      onProblem: (e) => problems.push(e.message),
    });
    const items = quiet.socket().subscribe("tm.event='NewBlock'")[Symbol.asyncIterator]();
    await take(items);
    for (const { socket } of node.subscriptions) socket.pause();
    expect(await take(items)).toEqual({ kind: "resumed" });
    quiet.close();
    // On a busy machine the next connection may seem silent too.
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(/^cannot follow events of the node at /);
  });
});

describe("the queue of a slow consumer", () => {
  it("replaces what it cannot hold by one notice", async () => {
    const queue = new Queue<string>(3, "lost");
    for (const item of ["a", "b", "c", "d", "e"]) queue.push(item);
    queue.end();
    queue.push("late");
    const items: string[] = [];
    for await (const item of queue) items.push(item);
    expect(items).toEqual(["lost", "e"]);
  });
});

describe("following blocks", () => {
  async function heights(options: Parameters<typeof followBlocks>[1], count: number): Promise<bigint[]> {
    const found: bigint[] = [];
    for await (const block of followBlocks(chain, { pollMs: 5, ...options })) {
      found.push(block.height);
      if (found.length === count) break;
    }
    return found;
  }

  it("yields every block with its events and transactions", async () => {
    serveBlocks(node, () => 3);
    for await (const block of followBlocks(chain, { from: 2n })) {
      expect(block).toMatchObject({
        chainId: "test-1",
        height: 2n,
        time: new Date("2026-01-01T00:00:02Z"),
        hash: "HASH2",
        events: [{ type: "end", attributes: [{ key: "height", value: "2" }] }],
        txs: [
          { code: 0, height: 2n, index: 0, bytes: new Uint8Array([0, 1, 2]), gasUsed: 4n, events: [{ type: "tx" }] },
        ],
      });
      break;
    }
  });

  it("catches up in order, then waits for new blocks", async () => {
    let height = 4;
    serveBlocks(node, () => height);
    const timer = setInterval(() => {
      if (height < 8) height += 1;
    }, 10);
    expect(await heights({ from: 1n }, 8)).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]);
    clearInterval(timer);
  });

  it("begins after the latest block by default, and looks at once when a block event comes", async () => {
    let height = 4;
    serveBlocks(node, () => height);
    const found = heights({ pollMs: 60_000 }, 1);
    await until(
      () => node.seen.filter((names) => names === "block,block_results").length >= 1 && node.subscriptions.length > 0,
    );
    height = 5;
    const timer = setInterval(() => node.emit("tm.event='NewBlock'", "tendermint/event/NewBlock", {}), 5);
    expect(await found).toEqual([5n]);
    clearInterval(timer);
  });

  it("asks for a block when the node tells of it, and not before, and for all blocks that came meanwhile", async () => {
    let height = 4;
    serveBlocks(node, () => height);
    const { block } = node.methods;
    const asked: number[] = [];
    node.methods.block = (params) => {
      asked.push(Number(params.height));
      return block?.(params);
    };
    const found: bigint[] = [];
    const following = (async () => {
      for await (const block of followBlocks(chain, { from: 4n, pollMs: 60_000 }))
        if (found.push(block.height) === 6) break;
    })();
    await until(() => asked.includes(5) && node.subscriptions.length > 0);
    for (const told of [5, 6, 8, 9]) {
      height = told;
      node.emit("tm.event='NewBlock'", "tendermint/event/NewBlock", { block: { header: { height: `${told}` } } });
      await until(() => found.at(-1) === BigInt(told));
    }
    await following;
    expect(found).toEqual([4n, 5n, 6n, 7n, 8n, 9n]);
    expect(asked.filter((each) => each > 5)).toEqual([6, 7, 8, 9]);
  });

  it.each([
    ["is told again and again", ["5", "5"], 100],
    ["is told after a later one", ["6", "5"], 60_000],
  ])("asks for the next block although one that was taken %s", async (_, events, pollMs) => {
    let height = 4;
    serveBlocks(node, () => height);
    const tell = (told: string) => {
      node.emit("tm.event='NewBlock'", "tendermint/event/NewBlock", { block: { header: { height: told } } });
    };
    const stream = followBlocks(chain, { from: 4n, pollMs });
    expect((await stream.next()).value?.height).toBe(4n);
    const fifth = stream.next();
    await until(() => node.subscriptions.length > 0);
    height = 5;
    const first = setInterval(() => tell("5"), 10);
    expect((await fifth).value?.height).toBe(5n);
    clearInterval(first);
    height = 6;
    for (const told of events) tell(told);
    const again = setInterval(() => tell("5"), 20);
    expect((await stream.next()).value?.height).toBe(6n);
    clearInterval(again);
    await stream.return();
  });

  it("does not wait for events of a subscription that the node has ended", async () => {
    serveBlocks(node, () => 4);
    const stream = followBlocks(chain, {
      from: 3n,
      pollMs: 60_000,
      onProblem: (error) => problems.push(error.message),
    });
    expect((await stream.next()).value?.height).toBe(3n);
    await until(() => node.subscriptions.length > 0);
    const [{ socket, id } = { socket: undefined, id: undefined }] = node.subscriptions;
    node.emit("tm.event='NewBlock'", "tendermint/event/NewBlock", { block: { header: { height: "4" } } });
    socket?.send(
      JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: "Server error", data: "cancelled" } }),
    );
    await until(() => problems.length > 0);
    serveBlocks(node, () => 5);
    expect((await stream.next()).value?.height).toBe(4n);
    expect((await stream.next()).value?.height).toBe(5n);
    await stream.return();
  });

  it.each([
    [["block"], "block 5 instead of 4"],
    [["block_results"], "block 4 instead of 5"],
    [["block", "block_results"], "block 4 instead of 5"],
  ])("takes no other block for the one that it asks for: %s", async (methods, words) => {
    serveBlocks(node, () => 9);
    let lies = 4;
    for (const method of methods) {
      const honest = node.methods[method];
      node.methods[method] = (params) => honest?.(lies-- > 0 ? { ...params, height: "4" } : params);
    }
    const stream = followBlocks(chain, { from: 5n, pollMs: 1, onProblem: (error) => problems.push(error.message) });
    expect((await stream.next()).value?.height).toBe(5n);
    expect(problems.join()).toContain(words);
    await stream.return();
  });

  it("goes on without a gap after the node was away", async () => {
    let height = 2;
    serveBlocks(node, () => height);
    const stream = followBlocks(chain, { from: 1n, pollMs: 5, onProblem: (error) => problems.push(error.message) });
    expect((await stream.next()).value?.height).toBe(1n);
    await node.stop();
    const next = stream.next();
    await until(() => problems.some((problem) => problem.includes("cannot reach the node")));
    height = 9;
    await node.start();
    expect((await next).value?.height).toBe(2n);
    expect((await stream.next()).value?.height).toBe(3n);
    await stream.return();
  });

  it("ends when it is told to, also while it waits", async () => {
    serveBlocks(node, () => 1);
    const stop = new AbortController();
    const stream = followBlocks(chain, { from: 1n, pollMs: 60_000, signal: stop.signal });
    expect((await stream.next()).value?.height).toBe(1n);
    const waiting = stream.next();
    stop.abort();
    expect((await waiting).done).toBe(true);
  });

  it("says that the node has gone back to an older height, and goes on when it is there again", async () => {
    let height = 3;
    serveBlocks(node, () => height);
    const stream = followBlocks(chain, { from: 3n, pollMs: 1, onProblem: (error) => problems.push(error.message) });
    expect((await stream.next()).value?.height).toBe(3n);
    height = 1;
    const next = stream.next();
    await until(() => problems.includes("the node is at height 1, behind 3, which it has reported before"));
    height = 4;
    expect((await next).value?.height).toBe(4n);
    await stream.return();
  });

  it("refuses another chain that has not come as far yet", async () => {
    serveBlocks(node, () => 3);
    const stream = followBlocks(chain, { from: 3n, pollMs: 1 });
    expect((await stream.next()).value?.height).toBe(3n);
    serveBlocks(node, () => 2, { chainId: "other-1" });
    await expect(stream.next()).rejects.toThrow(/serves other-1, not test-1: wrong chain/);
  });

  it("refuses another chain and blocks that are gone", async () => {
    serveBlocks(node, () => 9, { lowest: 5 });
    await expect(heights({ from: 2n }, 1)).rejects.toThrow(/first block is 5, not 2: block no longer kept/);
    const other = new ChainClient(node.address, { chainId: "other-1" });
    await expect(followBlocks(other, { from: 6n }).next()).rejects.toThrow(/serves test-1, not other-1: wrong chain/);
    other.close();
  });

  it.each([
    ["lacks the block", { lowest: 5 }, /block no longer kept/],
    ["serves another chain", { chainId: "other-1" }, /wrong chain/],
  ])(
    "asks a node again that says now and then that it %s, and believes it when it repeats that",
    async (_, lie, words) => {
      let lies = 0;
      const honest = { ...node.methods };
      serveBlocks(node, () => 9);
      Object.assign(honest, node.methods);
      serveBlocks(node, () => 9, lie);
      const { block: lying } = node.methods;
      Object.assign(node.methods, honest, {
        block: (params: object) => (lies-- > 0 ? lying?.({ ...params }) : honest.block?.({ ...params })),
      });
      const onProblem = (error: Error) => problems.push(error.message);
      const stream = followBlocks(chain, { from: 2n, pollMs: 1, tries: 3, onProblem });
      for (const height of [2n, 3n]) {
        lies = 2;
        expect((await stream.next()).value?.height).toBe(height);
      }
      expect(problems.filter((problem) => words.test(problem))).toHaveLength(4);
      lies = 3;
      await expect(stream.next()).rejects.toThrow(words);
    },
  );
});

describe("watching events", () => {
  async function watched(options: Parameters<typeof watchEvents>[1], count: number): Promise<WatchedEvent[]> {
    const found: WatchedEvent[] = [];
    for await (const event of watchEvents(chain, { pollMs: 5, from: 1n, ...options })) {
      if (found.push(event) === count) break;
    }
    return found;
  }

  it("yields those of transactions and blocks in the order of the chain", async () => {
    serveBlocks(node, () => 2);
    const found = await watched({}, 4);
    expect(found.map(({ height, type, txHash }) => [height, type, txHash?.length])).toEqual([
      [1n, "tx", 64],
      [1n, "end", undefined],
      [2n, "tx", 64],
      [2n, "end", undefined],
    ]);
  });

  it("yields those of a type with the attributes that are asked for", async () => {
    serveBlocks(node, () => 5);
    const [event] = await watched({ type: "end", attributes: { height: "3" } }, 1);
    expect(event).toEqual({ height: 3n, txHash: undefined, type: "end", attributes: { height: "3" } });
  });

  it("leaves those of failed transactions out", async () => {
    serveBlocks(node, () => 1);
    const results = node.methods.block_results;
    node.methods.block_results = (params) => {
      const answer = results?.(params) as { txs_results: { code: number }[] };
      for (const each of answer.txs_results) each.code = 5;
      return answer;
    };
    expect((await watched({}, 1))[0]?.type).toBe("end");
  });
});
