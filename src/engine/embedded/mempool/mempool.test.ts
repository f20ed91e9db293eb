import { describe, expect, it } from "vitest";
import { KvApplication } from "../../../../test/support/block-engine/kv-app.ts";
import { KvNetwork, kvTx } from "../../../../test/support/block-engine/network.ts";
import type { TouchedAccounts } from "../../../abci/index.ts";
import { memoryDatabase } from "../../../store/index.ts";
import { MAX_LISTED_BYTES, type MempoolLimits } from "./limits.ts";
import { type CheckedTx, Mempool } from "./mempool.ts";

const NO_LIMITS = { maxTxs: 1000, maxBytes: 100_000, maxGas: -1n };

function limits(changed: Partial<MempoolLimits> = {}): MempoolLimits {
  const few = { maxTxs: 5, maxBytes: 100, maxTxBytes: 40, cacheSize: 10, maxTxsPerSender: 4, maxBytesPerSender: 90 };
  return { ...few, ...changed };
}

function mempool(changed: Partial<MempoolLimits> = {}): Mempool {
  return new Mempool(new KvApplication(memoryDatabase()), limits(changed));
}

function texts(txs: readonly { tx: Uint8Array }[]): string[] {
  return txs.map(({ tx }) => Buffer.from(tx).toString());
}

function listed(pool: Mempool, limit = 100): string[] {
  return pool.list(limit).map((tx) => Buffer.from(tx).toString());
}

function add(pool: Mempool, ...txs: readonly string[]): number[] {
  return txs.map((tx) => pool.add(kvTx(tx)).result.code);
}

function committed(pool: Mempool, txs: readonly CheckedTx[], touched: TouchedAccounts = new Set()): void {
  pool.committed({
    height: 1n,
    hashes: txs.map(({ hash }) => hash),
    results: txs.map(({ result }) => result),
    touched,
  });
}

describe("the mempool", () => {
  it("keeps what the application takes, in the order it came", () => {
    const pool = mempool();
    for (const tx of ["c=1", "a=2", "b=3"]) pool.add(kvTx(tx));
    expect(pool.add(kvTx("nonsense")).result).toMatchObject({ code: 1, log: "not key=value" });
    expect(texts(pool.reap(NO_LIMITS))).toEqual(["c=1", "a=2", "b=3"]);
    expect(listed(pool, 2)).toEqual(["c=1", "a=2"]);
    expect(pool.list(0)).toEqual([]);
    expect([pool.size, pool.bytes]).toEqual([3, 9]);
  });

  it("lists no more bytes than its limit, and the first in any case", () => {
    const [most, large] = [MAX_LISTED_BYTES, { maxBytes: 1e8, maxTxBytes: 1e7, maxBytesPerSender: 1e8 }];
    const sizes = (...lengths: readonly number[]): number[] => {
      const pool = mempool(large);
      lengths.forEach((length, i) => {
        pool.add(kvTx(`${i}=`.padEnd(length, "x")));
      });
      return pool.list(100).map((tx) => tx.length);
    };
    expect(sizes(most / 2, most / 2)).toEqual([most / 2, most / 2]);
    expect(sizes(most / 2, most / 2 + 1, 10)).toEqual([most / 2]);
    expect(sizes(most + 1, 10)).toEqual([most + 1]);
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
    const good = pool.add(kvTx("a=1"));
    committed(pool, [good]);
    expect(pool.size).toBe(0);
    expect(() => pool.add(kvTx("a=1"))).toThrow("tx already exists in cache");
    const failed = pool.add(kvTx("b=1"));
    committed(pool, [{ ...failed, result: { ...failed.result, code: 5 } }]);
    expect(pool.add(kvTx("b=1")).result.code).toBe(0);
  });

  it("forgets the oldest of many hashes", () => {
    const pool = mempool({ cacheSize: 2 });
    for (const key of ["a", "b", "c"]) committed(pool, [pool.add(kvTx(`${key}=1`))]);
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

  it("passes over what does not fit into a block, with all behind it", () => {
    const pool = mempool();
    add(pool, "s/1=long-long-long", "s/2=x", "a=1");
    expect(texts(pool.reap({ ...NO_LIMITS, maxBytes: 20 }))).toEqual(["a=1"]);
  });
});

describe("the order of transactions", () => {
  it("is by price, then by arrival, and within an account by sequence", () => {
    const pool = mempool({ maxTxs: 10, maxBytes: 1000 });
    add(pool, "s/1=x~1", "s/2=x~9", "a=1~5", "b=1~5", "t/1=x~7", "t/2=x~2");
    expect(listed(pool)).toEqual(["t/1=x~7", "a=1~5", "b=1~5", "t/2=x~2", "s/1=x~1", "s/2=x~9"]);
    expect(texts(pool.reap(NO_LIMITS))).toEqual(listed(pool));
    expect(listed(pool, 3)).toEqual(["t/1=x~7", "a=1~5", "b=1~5"]);
  });

  it("holds for every account that signs", () => {
    const pool = mempool({ maxTxs: 10, maxBytes: 1000 });
    add(pool, "s/1=x~1", "t/1=x~2", "s+t/2=x~9", "t/3=x~8", "s/3=x~7");
    expect(listed(pool)).toEqual(["t/1=x~2", "s/1=x~1", "s+t/2=x~9", "t/3=x~8", "s/3=x~7"]);
  });
});

describe("replacing", () => {
  it("takes a price of gas that is a tenth higher, and keeps what stands behind", () => {
    const pool = mempool({ maxTxs: 10, maxBytes: 1000 });
    add(pool, "s/1=a~100", "s/2=b~100", "s/3=c~100");
    expect(add(pool, "s/2=d~100", "s/2=e~109")).toEqual([1, 1]);
    expect(add(pool, "s/2=f~110", "s/4=g~100")).toEqual([0, 0]);
    expect(listed(pool)).toEqual(["s/1=a~100", "s/2=f~110", "s/3=c~100", "s/4=g~100"]);
    expect([pool.size, pool.bytes]).toEqual([4, 36]);
    expect(add(pool, "s/2=b~100")).toEqual([1]);
    expect(add(pool, "s/1=h~0")).toEqual([1]);
  });

  it("takes any price where nothing was paid, and the same signers alone", () => {
    const pool = mempool();
    add(pool, "s+t/1=a");
    expect(add(pool, "s/1=a~9", "t/1=a~9", "t+s/1=b~1")).toEqual([1, 1, 0]);
    expect(listed(pool)).toEqual(["t+s/1=b~1"]);
  });

  it("makes blocks of the one that stays", () => {
    const engine = new KvNetwork().engine();
    expect(add(engine.mempool, "s/1=first", "s/1=second", "s/2=next", "s/1=third~1")).toEqual([0, 1, 0, 0]);
    expect(engine.produceBlock().block.txs.map((tx) => Buffer.from(tx).toString())).toEqual([
      "s/1=third~1",
      "s/2=next",
    ]);
    expect(add(engine.mempool, "s/1=second", "s/1=first~9", "s/3=more")).toEqual([1, 1, 0]);
  });
});

describe("a full mempool", () => {
  it("drops the cheapest for a dearer one, and refuses a cheaper newcomer", () => {
    const pool = mempool();
    add(pool, "a/1=x~3", "b/1=x~2", "c/1=x~2", "d/1=x~5", "e/1=x~4");
    expect(() => pool.add(kvTx("f/1=x~2"))).toThrow(/^mempool is full: number of txs 5/);
    expect(add(pool, "g/1=x~3")).toEqual([0]);
    expect(listed(pool)).toEqual(["d/1=x~5", "e/1=x~4", "a/1=x~3", "g/1=x~3", "b/1=x~2"]);
  });

  it("takes the last of an account whose first is cheap, and its dear ones with it", () => {
    const pool = mempool();
    add(pool, "s/1=x~1", "s/2=x~90", "s/3=x~91", "t/1=x~2", "t/2=x~3");
    expect(add(pool, "u/1=x~4")).toEqual([0]);
    expect(listed(pool)).toEqual(["u/1=x~4", "t/1=x~2", "t/2=x~3", "s/1=x~1", "s/2=x~90"]);
    // An evicted transaction may come again, and the sequence continues where it was.
    expect(add(pool, "v/1=x~5")).toEqual([0]);
    expect(add(pool, "w/1=x~5")).toEqual([0]);
    expect(listed(pool)).toEqual(["v/1=x~5", "w/1=x~5", "u/1=x~4", "t/1=x~2", "t/2=x~3"]);
    expect(() => pool.add(kvTx("t/3=x~50"))).toThrow("mempool is full");
    expect(() => pool.add(kvTx("s/1=x~1"))).toThrow("mempool is full");
    expect(add(pool, "s/1=y~3")).toEqual([0]);
    expect(listed(pool)).toEqual(["v/1=x~5", "w/1=x~5", "u/1=x~4", "s/1=y~3", "t/1=x~2"]);
  });

  it("drops nothing for a transaction that would not fit anyway", () => {
    const pool = mempool({ maxTxs: 100 });
    add(pool, "a=11111111111111111111111111~1", "b=1111111111111111111111111111~9", "c=1111111111111111111111111111~9");
    const before = listed(pool);
    expect(() => pool.add(kvTx(`d=${"x".repeat(35)}~5`))).toThrow("mempool is full");
    expect(listed(pool)).toEqual(before);
  });

  it("takes a bounded number from one account", () => {
    const pool = mempool({ maxTxs: 100, maxBytes: 1000 });
    expect(add(pool, "s/1=x", "s/2=x", "s/3=x", "s/4=x")).toEqual([0, 0, 0, 0]);
    expect(() => pool.add(kvTx("s/5=x~9"))).toThrow(
      /^mempool is full: number of txs of this sender 4 \(max: 4\), its txs bytes 20 \(max: 90\)$/,
    );
    expect(() => pool.add(kvTx("s/5=x~9"))).toThrow("of this sender");
    expect(add(pool, "t/1=x")).toEqual([0]);
    expect(add(pool, "t/2=11111111111111111111111111111111", "t/3=11111111111111111111111111111111")).toEqual([0, 0]);
    expect(() => pool.add(kvTx("t/4=1111111111111111"))).toThrow("its txs bytes 77 (max: 90)");
  });
});

describe("after a block", () => {
  it("what can come into no later one is dropped, with what stands behind it", () => {
    const engine = new KvNetwork().engine();
    add(engine.mempool, "a=1@1", "b=1@2", "s/1=x", "s/2=x@1", "s/3=x");
    engine.mempool.committed({ height: 0n, hashes: [], results: [], touched: new Set() });
    expect(engine.mempool.size).toBe(5);
    const { reap } = engine.mempool;
    engine.mempool.reap = () => [];
    engine.produceBlock();
    engine.mempool.reap = reap;
    expect(texts(engine.mempool.reap(NO_LIMITS))).toEqual(["b=1@2", "s/1=x"]);
    expect(add(engine.mempool, "s/2=y")).toEqual([0]);
  });

  it("only what the block touched is checked again, however much waits", () => {
    const app = new KvApplication(memoryDatabase());
    const pool = new Mempool(
      app,
      limits({ maxTxs: 10_000, maxBytes: 1e6, maxTxsPerSender: 1000, maxBytesPerSender: 1e6 }),
    );
    for (let i = 1; i <= 1000; i++) add(pool, `s/${i}=x`);
    for (let i = 1; i <= 1000; i++) add(pool, `t${i}/1=x`);
    const checks: string[] = [];
    const { checkTx } = app;
    app.checkTx = (request) => {
      checks.push(Buffer.from(request.tx).toString());
      return checkTx.call(app, request);
    };
    committed(pool, [], new Set(["s", "t7", "nobody"]));
    expect(checks.sort()).toEqual(["s/1000=x", "s/1=x", "t7/1=x"]);
    committed(pool, [], "all");
    expect(checks).toHaveLength(2003);
    expect(pool.size).toBe(2000);
  });

  it("a transaction that was replaced is dropped alone", () => {
    const network = new KvNetwork();
    const engine = network.engine();
    add(engine.mempool, "s/1=mine", "s/2=x", "s/3=x");
    const other = kvTx("s/1=others");
    const { reap } = engine.mempool;
    engine.mempool.reap = () => [{ tx: other, hash: engine.mempool.add(kvTx("a=1")).hash }];
    engine.produceBlock();
    engine.mempool.reap = reap;
    expect(listed(engine.mempool)).toEqual(["s/2=x", "s/3=x"]);
    expect(add(engine.mempool, "s/4=x", "s/6=x")).toEqual([0, 1]);
  });

  it("those behind one that failed are dropped when it left a gap", () => {
    const pool = mempool();
    const first = pool.add(kvTx("s/1=x"));
    add(pool, "s/2=x", "s/3=x", "t/1=x");
    committed(pool, [{ ...first, result: { ...first.result, code: 11 } }]);
    expect(listed(pool)).toEqual(["t/1=x"]);
    expect(add(pool, "s/1=x")).toEqual([0]);
  });
});
