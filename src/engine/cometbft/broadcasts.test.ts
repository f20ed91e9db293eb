import { expect, test, vi } from "vitest";
import { fromBase64 } from "../../util/index.ts";
import { Broadcasts, type EngineCall } from "./broadcasts.ts";

/** A mempool as the engine has it: calls find it full or not, and checks that come later drop what does not fit any more. */
class MempoolDouble {
  readonly held: Uint8Array[] = [];
  /** Batches, by the number of their transactions; a count is 0. */
  readonly batches: number[] = [];
  readonly #maxTxs: number;
  readonly #maxBytes: number;
  onChecked: (tx: Uint8Array) => void = () => undefined;

  constructor(maxTxs: number, maxBytes = 1_000_000) {
    this.#maxTxs = maxTxs;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.held.reduce((sum, { length }) => sum + length, 0);
  }

  async ask(calls: readonly EngineCall[]): Promise<unknown> {
    const [first] = calls;
    this.batches.push(calls.filter(({ method }) => method === "broadcast_tx_async").length);
    if (first?.method === "num_unconfirmed_txs")
      return { id: 0, result: { total: `${this.held.length}`, total_bytes: `${this.bytes}` } };
    const taken: Uint8Array[] = [];
    const answers = calls.map(({ id, method, params }) => {
      const tx = fromBase64(String(params.tx));
      if (method === "check_tx") return { id, result: {} };
      if (!this.#fits(tx)) return { id, error: { message: "mempool is full" } };
      taken.push(tx);
      return { id, result: { code: 0 } };
    });
    await Promise.resolve();
    for (const tx of taken) this.check(tx);
    return answers;
  }

  /** A transaction that the application finds good, of a client or of another node. */
  check(tx: Uint8Array): void {
    this.onChecked(tx);
    if (this.#fits(tx)) this.held.push(tx);
  }

  #fits({ length }: Uint8Array): boolean {
    return this.held.length < this.#maxTxs && this.bytes + length <= this.#maxBytes;
  }
}

const LIMITS = { maxTxs: 10, maxBytes: 1_000 };

function opened(limits = LIMITS) {
  const mempool = new MempoolDouble(limits.maxTxs, limits.maxBytes);
  const broadcasts = new Broadcasts((calls) => mempool.ask(calls), 100, limits);
  mempool.onChecked = (tx) => broadcasts.checked(tx);
  /** Sends transactions of a size together; how many the engine is said to have taken. */
  const burst = async (count: number, size = 4): Promise<number> => {
    const answers = await Promise.all(Array.from({ length: count }, () => broadcasts.add(new Uint8Array(size))));
    return answers.filter(({ error }) => error === undefined).length;
  };
  return { mempool, broadcasts, burst };
}

test("of a burst over the room of a mempool only what it holds is acknowledged", async () => {
  const { mempool, broadcasts, burst } = opened();
  expect(await burst(60)).toBe(10);
  expect(mempool.held).toHaveLength(10);
  mempool.held.splice(0, 4);
  expect(await burst(3)).toBe(3);
  // Another node fills the rest.
  for (let i = 0; i < 3; i++) mempool.check(new Uint8Array(4));
  const refused = await broadcasts.add(new Uint8Array(4));
  expect(refused.error).toEqual({
    message: "mempool is full: number of txs 10 (max: 10), total txs bytes 40 (max: 1000)",
  });
});

test("its bytes count too, and a transaction that fits no more is refused by the engine", async () => {
  const { mempool, burst } = opened();
  expect(await burst(9, 300)).toBe(3);
  expect(mempool.bytes).toBe(900);
  expect(await burst(2, 50)).toBe(2);
});

test.each([1, 2, 3, 4, 5])("whatever comes and goes, what is acknowledged was held: %d", async (seed) => {
  const { mempool, burst } = opened({ maxTxs: 7, maxBytes: 60 });
  let state = seed * 7919;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  let [acknowledged, committed] = [0, 0];
  for (let round = 0; round < 100; round++) {
    acknowledged += await burst(random(30), 1 + random(20));
    const block = mempool.held.splice(0, random(9));
    committed += block.length;
    expect(acknowledged).toBe(mempool.held.length + committed);
  }
});

test("a mempool with room is not counted, and one that was counted is not again until its room is used up", async () => {
  const { mempool, burst } = opened({ maxTxs: 1_000, maxBytes: 1_000_000 });
  for (let i = 0; i < 5; i++) await burst(99);
  expect(mempool.batches).toEqual([99, 99, 99, 99, 99]);
});

test("each batch waits for an engine since the first of its transactions came", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const asked: number[] = [];
  const answers: ((error: Error) => void)[] = [];
  const broadcasts = new Broadcasts((_, since) => {
    asked.push(since);
    return new Promise((_, reject) => answers.push(reject));
  }, 3);
  const began = performance.now();
  const sent = Array.from({ length: 6 }, () => broadcasts.add(new Uint8Array(1)).catch(() => "away"));
  try {
    await vi.waitUntil(() => asked.length === 2);
    vi.advanceTimersByTime(9_000);
    for (const answer of answers) answer(new Error("away"));
    await vi.waitUntil(() => asked.length === 3);
    expect(asked).toEqual([began, began, began]);
    answers[2]?.(new Error("away"));
    expect(await Promise.all(sent)).toEqual(Array.from({ length: 6 }, () => "away"));
  } finally {
    vi.useRealTimers();
  }
});

test("a count that the engine does not answer rejects what waits, and the next one is asked again", async () => {
  const { mempool, broadcasts, burst } = opened();
  await burst(10);
  const ask = mempool.ask.bind(mempool);
  mempool.ask = async () => ({ id: 0, result: { total: "x" } });
  await expect(broadcasts.add(new Uint8Array(4))).rejects.toThrow("another form");
  mempool.ask = ask;
  mempool.held.splice(0, 1);
  expect(await burst(2)).toBe(1);
});
