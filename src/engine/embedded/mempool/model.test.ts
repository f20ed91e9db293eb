import fc from "fast-check";
import { expect, test } from "vitest";
import { KvApplication } from "../../../../test/support/block-engine/kv-app.ts";
import { kvTx } from "../../../../test/support/block-engine/network.ts";
import { NO_VOTERS } from "../../../abci/index.ts";
import { memoryDatabase } from "../../../store/index.ts";
import { Mempool } from "./mempool.ts";

/** The mempool compared with a model: a plain list, sorted and searched anew for every question. */

const LIMITS = {
  maxTxs: 12,
  maxBytes: 180,
  maxTxBytes: 40,
  cacheSize: 1000,
  maxTxsPerSender: 5,
  maxBytesPerSender: 120,
};
const NO_LIMITS = { maxTxs: 1000, maxBytes: 1e9, maxGas: -1n };

interface Tx {
  readonly text: string;
  readonly senders: readonly string[];
  readonly number: number;
  readonly price: number;
  arrival: number;
}

class Model {
  txs: Tx[] = [];
  readonly #executed = new Map<string, number>();
  #arrivals = 0;

  next(sender: string): number {
    return this.executed(sender) + this.laneOf(sender).length + 1;
  }

  executed(sender: string): number {
    return this.#executed.get(sender) ?? 0;
  }

  laneOf(sender: string): Tx[] {
    return this.txs.filter(({ senders }) => senders.includes(sender)).sort((a, b) => a.number - b.number);
  }

  /** `kept`, `refused` by the application, or `full`. */
  add(tx: Tx): string {
    tx.arrival = this.#arrivals++;
    if (tx.senders.every((sender) => this.next(sender) === tx.number)) return this.#insert(tx, undefined);
    const old = this.txs.find(
      ({ senders, number }) => number === tx.number && [...senders].sort().join() === [...tx.senders].sort().join(),
    );
    if (old === undefined || tx.price <= old.price || tx.price * 10 < old.price * 11) return "refused";
    return this.#insert(tx, old);
  }

  #insert(tx: Tx, old: Tx | undefined): string {
    const rest = this.txs.filter((each) => each !== old);
    for (const sender of tx.senders) {
      const lane = rest.filter(({ senders }) => senders.includes(sender));
      if (lane.length >= LIMITS.maxTxsPerSender) return "full";
      if (bytes(lane) + tx.text.length > LIMITS.maxBytesPerSender) return "full";
    }
    const victims = this.#victims(tx, rest);
    if (victims === undefined) return "full";
    this.txs = [...rest.filter((each) => !victims.includes(each)), tx];
    return "kept";
  }

  #victims(tx: Tx, rest: readonly Tx[]): Tx[] | undefined {
    const isEnough = (gone: readonly Tx[]) =>
      rest.length - gone.length < LIMITS.maxTxs && bytes(rest) - bytes(gone) + tx.text.length <= LIMITS.maxBytes;
    const gone: Tx[] = [];
    if (isEnough(gone)) return gone;
    const floor = (sender: string) => Math.min(...this.laneOf(sender).map(({ price }) => price));
    const price = Math.min(tx.price, ...tx.senders.map(floor));
    const latest = (sender: string) => this.laneOf(sender).at(-1)?.arrival ?? 0;
    const senders = [...new Set(this.txs.flatMap((each) => each.senders))];
    senders.sort((a, b) => floor(a) - floor(b) || latest(b) - latest(a));
    for (const sender of senders) {
      if (floor(sender) >= price) return undefined;
      const lane = this.laneOf(sender);
      const cheapest = lane.findIndex((each) => each.price === floor(sender));
      for (const each of lane.slice(cheapest).reverse()) {
        for (const follower of this.followers(each)) if (!gone.includes(follower)) gone.push(follower);
        if (isEnough(gone))
          return gone.some((one) => one.senders.some((name) => tx.senders.includes(name))) ? undefined : gone;
      }
    }
    return undefined;
  }

  followers(tx: Tx): Tx[] {
    const later = tx.senders.flatMap((sender) => this.laneOf(sender).filter(({ number }) => number > tx.number));
    return [...new Set([...later.flatMap((each) => this.followers(each)), tx])];
  }

  ordered(): Tx[] {
    const left = [...this.txs].sort((a, b) => b.price - a.price || a.arrival - b.arrival);
    const done: Tx[] = [];
    while (left.length > 0) {
      const index = left.findIndex((tx) =>
        left.every((each) => each.number >= tx.number || !each.senders.some((sender) => tx.senders.includes(sender))),
      );
      done.push(...left.splice(index, 1));
    }
    return done;
  }

  commit(txs: readonly Tx[]): void {
    this.txs = this.txs.filter((tx) => !txs.includes(tx));
    for (const { senders, number } of txs) for (const sender of senders) this.#executed.set(sender, number);
  }
}

function bytes(txs: readonly Tx[]): number {
  return txs.reduce((sum, { text }) => sum + text.length, 0);
}

const SENDERS = [["a"], ["b"], ["c"], ["d"], ["e"], ["a", "b"], ["b", "a"], ["c", "d"]];
const adding = fc.record({
  senders: fc.constantFrom(...SENDERS),
  /** For the first sender: the distance from the next sequence. */
  back: fc.integer({ min: -1, max: 3 }),
  price: fc.integer({ min: 0, max: 30 }),
  length: fc.integer({ min: 0, max: 25 }),
});
const block = fc.record({ take: fc.integer({ min: 0, max: 6 }) });

test("the mempool does what a plain list does", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 12, arbitrary: adding }, block), { maxLength: 120 }), (steps) => {
      const app = new KvApplication(memoryDatabase());
      const pool = new Mempool(app, LIMITS);
      const model = new Model();
      let height = 0n;
      for (const [i, step] of steps.entries()) {
        if ("take" in step) {
          height += 1n;
          runBlock(app, pool, model, { take: step.take, height });
        } else {
          const number = Math.max(1, model.next(step.senders[0] ?? "") - step.back);
          const text = `${step.senders.join("+")}/${number}=${"x".repeat(step.length)}${i}~${step.price}`.slice(0, 40);
          if (!text.endsWith(`~${step.price}`)) continue;
          const tx = { text, senders: step.senders, number, price: step.price, arrival: 0 };
          expect(outcomeOf(pool, text)).toBe(model.add(tx));
        }
        const expected = model.ordered().map(({ text }) => text);
        expect(pool.list(100).map((tx) => Buffer.from(tx).toString())).toEqual(expected);
        expect([pool.size, pool.bytes]).toEqual([model.txs.length, bytes(model.txs)]);
      }
    }),
    { numRuns: 300 },
  );
});

function outcomeOf(pool: Mempool, text: string): string {
  try {
    return pool.add(kvTx(text)).result.code === 0 ? "kept" : "refused";
  } catch (error) {
    if (String(error).includes("mempool is full")) return "full";
    throw error;
  }
}

function runBlock(app: KvApplication, pool: Mempool, model: Model, { take, height }: { take: number; height: bigint }) {
  const reaped = pool.reap({ ...NO_LIMITS, maxTxs: take });
  const txs = reaped.map(({ tx }) => tx);
  const place = { ...NO_VOTERS, height, time: height, proposer: new Uint8Array(20) };
  const { txResults: results } = app.finalizeBlock({ ...place, txs, hash: new Uint8Array(32) });
  expect(results.every(({ code }) => code === 0)).toBe(true);
  const touched = app.commit();
  pool.committed({ height, hashes: reaped.map(({ hash }) => hash), results, touched });
  model.commit(model.ordered().slice(0, take));
}
