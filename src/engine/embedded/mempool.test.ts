import { describe, expect, it } from "vitest";
import { memoryDatabase } from "../../store/index.ts";
import { KvApplication } from "../testing/kv-app.ts";
import { KvNetwork, kvTx } from "../testing/network.ts";
import { Mempool, type MempoolLimits } from "./mempool.ts";

const NO_LIMITS = { maxTxs: 1000, maxBytes: 100_000, maxGas: -1n };

function mempool(limits: Partial<MempoolLimits> = {}): Mempool {
  const all = { maxTxs: 5, maxBytes: 100, maxTxBytes: 40, cacheSize: 10, ...limits };
  return new Mempool(new KvApplication(memoryDatabase()), all);
}

function texts(txs: readonly { tx: Uint8Array }[]): string[] {
  return txs.map(({ tx }) => Buffer.from(tx).toString());
}

describe("the mempool", () => {
  it("keeps what the application takes, in the order it came", () => {
    const pool = mempool();
    for (const tx of ["c=1", "a=2", "b=3"]) pool.add(kvTx(tx));
    expect(pool.add(kvTx("nonsense")).result).toMatchObject({ code: 1, log: "not key=value" });
    expect(texts(pool.reap(NO_LIMITS))).toEqual(["c=1", "a=2", "b=3"]);
    expect(pool.list(2).map((tx) => Buffer.from(tx).toString())).toEqual(["c=1", "a=2"]);
    expect(pool.list(0)).toEqual([]);
    expect([pool.size, pool.bytes]).toEqual([3, 9]);
  });

  it("refuses what it knows, what is too large and what has no room", () => {
    const pool = mempool();
    pool.add(kvTx("a=1"));
    expect(() => pool.add(kvTx("a=1"))).toThrow(/^tx already exists in cache$/);
    expect(() => pool.add(kvTx(`a=${"x".repeat(50)}`))).toThrow(/^tx too large. Max size is 40, but got 52$/);
    for (const key of ["b", "c", "d", "e"]) pool.add(kvTx(`${key}=1`));
    expect(() => pool.add(kvTx("f=1"))).toThrow(
      /^mempool is full: number of txs 5 \(max: 5\), total txs bytes 15 \(max: 100\)$/,
    );
    const heavy = mempool();
    heavy.add(kvTx(`a=${"x".repeat(38)}`));
    heavy.add(kvTx(`b=${"x".repeat(38)}`));
    expect(() => heavy.add(kvTx(`c=${"x".repeat(38)}`))).toThrow("mempool is full: number of txs 2");
  });

  it("takes a refused transaction again, and a committed one never", () => {
    const pool = mempool();
    pool.add(kvTx("s/2=x"));
    expect(pool.add(kvTx("s/2=x")).result.code).toBe(1);
    const { hash, result } = pool.add(kvTx("a=1"));
    pool.committed([hash], [result]);
    expect(pool.size).toBe(0);
    expect(() => pool.add(kvTx("a=1"))).toThrow("tx already exists in cache");
    const failed = pool.add(kvTx("b=1"));
    pool.committed([failed.hash], [{ ...failed.result, code: 5 }]);
    expect(pool.add(kvTx("b=1")).result.code).toBe(0);
  });

  it("forgets the oldest of many hashes", () => {
    const pool = mempool({ cacheSize: 2 });
    for (const key of ["a", "b", "c"]) {
      const { hash, result } = pool.add(kvTx(`${key}=1`));
      pool.committed([hash], [result]);
    }
    expect(pool.add(kvTx("a=1")).result.code).toBe(0);
    expect(() => pool.add(kvTx("c=1"))).toThrow("cache");
  });

  it("stays within count, bytes and gas of a block", () => {
    const pool = mempool();
    for (const key of ["a", "b", "c"]) pool.add(kvTx(`${key}=1`));
    expect(texts(pool.reap({ ...NO_LIMITS, maxTxs: 2 }))).toEqual(["a=1", "b=1"]);
    expect(texts(pool.reap({ ...NO_LIMITS, maxBytes: 17 }))).toEqual(["a=1", "b=1"]);
    expect(texts(pool.reap({ ...NO_LIMITS, maxGas: 25n }))).toEqual(["a=1", "b=1"]);
    expect(texts(pool.reap({ ...NO_LIMITS, maxGas: 0n }))).toEqual([]);
  });

  it("keeps the first of two transactions with one number, and makes blocks of the first alone", () => {
    const engine = new KvNetwork().engine();
    expect(engine.mempool.add(kvTx("s/1=first")).result.code).toBe(0);
    expect(engine.mempool.add(kvTx("s/1=second")).result.code).toBe(1);
    expect(engine.mempool.add(kvTx("s/2=next")).result.code).toBe(0);
    expect(engine.produceBlock().block.txs.map((tx) => Buffer.from(tx).toString())).toEqual(["s/1=first", "s/2=next"]);
    expect(engine.mempool.add(kvTx("s/1=second")).result.code).toBe(1);
    expect(engine.mempool.add(kvTx("s/3=more")).result.code).toBe(0);
  });

  it("drops what a new block made invalid", () => {
    const engine = new KvNetwork().engine();
    engine.mempool.add(kvTx("a=1@1"));
    engine.mempool.add(kvTx("b=1@2"));
    expect(engine.mempool.size).toBe(2);
    engine.mempool.committed([], []);
    expect(engine.mempool.size).toBe(2);
    const idle = engine.mempool.reap.bind(engine.mempool);
    engine.mempool.reap = () => [];
    engine.produceBlock();
    engine.mempool.reap = idle;
    expect(texts(engine.mempool.reap(NO_LIMITS))).toEqual(["b=1@2"]);
    expect(engine.mempool.size).toBe(1);
  });

  it("checks again late what is many, without refusing a sender's next transaction", () => {
    const network = new KvNetwork();
    const engine = network.engine();
    for (let i = 0; i < 1100; i++) engine.mempool.add(kvTx(`fill${i}=1`));
    for (const i of [1, 2, 3]) engine.mempool.add(kvTx(`s/${i}=x`));
    const reap = engine.mempool.reap.bind(engine.mempool);
    engine.mempool.reap = () => [];
    engine.produceBlock();
    engine.mempool.reap = reap;
    expect(engine.mempool.add(kvTx("s/4=x")).result.code).toBe(0);
    expect(engine.mempool.add(kvTx("s/6=x")).result.code).toBe(1);
    const block = engine.produceBlock();
    expect(block.txResults.filter(({ code }) => code !== 0)).toEqual([]);
    expect(block.block.txs).toHaveLength(1104);
    expect(engine.mempool.size).toBe(0);
  });
});
