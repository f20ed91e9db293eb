import { expect, test } from "vitest";
import { pause } from "../support/index.ts";
import { type Figures, inLab, type Lab, seconds } from "./lab/lab.ts";
import { address6Of } from "./lab/machines.ts";
import type { Relays } from "./lab/relays.ts";

/** Four validators on links that are slow, narrow, break off, or change. */

const LONG_MS = 1_200_000;
const BASE_MS = 20_000;

function relaysOf({ relays }: Lab): Relays {
  if (relays === undefined) throw new Error("the lab has no relays");
  return relays;
}

test("NET-5: delays of 50, 150 and 400 ms between all", { timeout: LONG_MS }, () =>
  inLab("NET-5", { isRelayed: true }, async (lab) => {
    const figures: Record<string, number> = {};
    for (const ms of [50, 150, 400]) {
      // Each pair of machines is as far apart as two regions.
      relaysOf(lab).delay(({ from, to }) => ({ ms: (ms * (from + to)) / 5, jitter: 0.3 }));
      const from = await lab.at(0).height();
      const blocks = await lab.blocksIn(60_000, lab.at(0));
      expect(blocks, `blocks with ${ms} ms`).toBeGreaterThan(0);
      const late = await lab.lateRounds(lab.at(0), from, from + blocks);
      if (ms <= 150) expect(late.length, `later rounds with ${ms} ms`).toBeLessThanOrEqual(Math.max(1, blocks * 0.05));
      figures[`blocksAt${ms}`] = blocks;
      figures[`laterRoundsAt${ms}`] = late.length;
    }
    return figures;
  }),
);

test("NET-6: every connection breaks off each one to five seconds", { timeout: LONG_MS }, () =>
  inLab("NET-6", { isRelayed: true }, async (lab) => {
    const base = (await lab.blocksIn(BASE_MS, lab.at(0))) / BASE_MS;
    const end = performance.now() + 120_000;
    const before = await lab.at(0).height();
    let resets = 0;
    while (performance.now() < end) {
      const from = 1 + lab.rng.below(4);
      resets += relaysOf(lab).reset((way) => way.from === from);
      await pause(lab.rng.between(250, 1_250));
    }
    const rate = ((await lab.at(0).height()) - before) / 120_000;
    expect(resets).toBeGreaterThan(50);
    expect(rate).toBeGreaterThan(base / 2);
    return { resets, ratio: Math.round((100 * rate) / base) / 100 };
  }),
);

test(
  "NET-7: one validator with 1 Mbit/s, and all with 256 kbit/s, under sends of sixty transfers",
  { timeout: LONG_MS },
  () =>
    inLab("NET-7", { messages: 60 }, async (lab) => {
      await lab.at(3).machine.limit(1_000);
      const one = await lab.blocksIn(60_000, lab.at(0));
      expect(one).toBeGreaterThan(0);
      for (const { machine } of lab.nodes) await machine.limit(256);
      const all = await lab.blocksIn(120_000, lab.at(0));
      // One in thirty seconds.
      expect(all).toBeGreaterThanOrEqual(4);
      for (const { machine } of lab.nodes) await machine.limit(undefined);
      return { one, all, largest: await largestBlock(lab) };
    }),
);

test(
  "NET-8: all are clogged one by one in random order, and freed in another, twenty times",
  { timeout: LONG_MS },
  () =>
    inLab("NET-8", { isRelayed: true }, async (lab) => {
      const resumed: number[] = [];
      for (let cycle = 0; cycle < 20; cycle++) {
        for (const { machine } of shuffled(lab)) {
          relaysOf(lab).clog(machine.number);
          await pause(lab.rng.between(100, 1_000));
        }
        const stopped = Math.max(...(await Promise.all(lab.nodes.map((node) => node.height()))));
        for (const { machine } of shuffled(lab)) {
          await pause(lab.rng.between(100, 1_000));
          relaysOf(lab).unclog(machine.number);
        }
        const began = performance.now();
        await Promise.all(lab.nodes.map((node) => node.reaches(stopped + 1)));
        resumed.push(seconds(began));
      }
      return { cycles: resumed.length, slowestResumeSeconds: Math.max(...resumed) };
    }),
);

test("NET-17: peers that have IPv6 alone, and one whose address changes", { timeout: LONG_MS }, () =>
  inLab("NET-17", { isSix: true }, async (lab): Promise<Figures> => {
    for (const { machine } of lab.nodes) await machine.cut(lab.nodes.map((node) => node.machine));
    const blocks = await lab.blocksIn(30_000, lab.at(0));
    expect(blocks).toBeGreaterThan(0);
    const { machine } = lab.at(3);
    await machine.run("ip", ["addr", "delete", `${address6Of(4)}/64`, "dev", "eth0"]);
    await machine.run("ip", ["addr", "add", `${address6Of(44)}/64`, "dev", "eth0", "nodad"]);
    const seen = await lab.at(0).height();
    await lab.at(0).reaches(seen + 3);
    return { blocks, catchUpSeconds: await lab.at(3).catchUp(lab.at(0)) };
  }),
);

function shuffled({ nodes, rng }: Lab): Lab["nodes"] {
  const rest = [...nodes];
  return nodes.flatMap(() => rest.splice(rng.below(rest.length), 1));
}

/** Bytes of the transactions of the largest block. */
async function largestBlock(lab: Lab): Promise<number> {
  const height = await lab.at(0).height();
  let largest = 0;
  for (let at = 1; at <= height; at++) {
    const { block } = await lab.at(0).answer(`block?height=${at}`);
    largest = Math.max(largest, block.data.txs.join("").length * 0.75);
  }
  return largest;
}
