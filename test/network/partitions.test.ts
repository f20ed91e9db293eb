import { expect, test } from "vitest";
import { pause } from "../support/index.ts";
import { inLab, type LabNode, seconds } from "./lab/lab.ts";

/** Four validators of equal power that lose packets between some pairs. */

const LONG_MS = 900_000;
const BASE_MS = 15_000;

const machinesOf = (nodes: readonly LabNode[]) => nodes.map(({ machine }) => machine);

/** Cuts each node of one side from all of the other. */
async function split(side: readonly LabNode[], other: readonly LabNode[]): Promise<void> {
  for (const { machine } of side) await machine.cut(machinesOf(other));
}

async function heal(nodes: readonly LabNode[]): Promise<void> {
  for (const { machine } of nodes) await machine.heal();
}

test("NET-1: three go on without the fourth, which catches up", { timeout: LONG_MS }, () =>
  inLab("NET-1", {}, async (lab) => {
    const [a, b, c, d] = [lab.at(0), lab.at(1), lab.at(2), lab.at(3)];
    const base = await lab.blocksIn(30_000, a);
    await split([d], [a, b, c]);
    const cut = await d.height();
    const blocks = await lab.blocksIn(30_000, a);
    expect(await d.height()).toBeLessThanOrEqual(cut + 1);
    await heal([d]);
    return { base, blocks, catchUpSeconds: await d.catchUp(a) };
  }),
);

test("NET-2: two and two stop, and go on together", { timeout: LONG_MS }, () =>
  inLab("NET-2", {}, async (lab) => {
    const [a, b, c, d] = [lab.at(0), lab.at(1), lab.at(2), lab.at(3)];
    await split([a, b], [c, d]);
    // A decision may be on its way.
    await pause(2_000);
    const stopped = await Promise.all([a.height(), c.height()]);
    await pause(60_000);
    expect(await Promise.all([a.height(), c.height()])).toEqual(stopped);
    await heal([a, b]);
    const began = performance.now();
    await a.reaches(Math.max(...stopped) + 1);
    await c.reaches(Math.max(...stopped) + 1);
    return { resumeSeconds: seconds(began) };
  }),
);

test("NET-3: each in turn is cut off twenty times and rejoins", { timeout: LONG_MS }, () =>
  inLab("NET-3", {}, async (lab) => {
    const catchUps: number[] = [];
    for (let round = 0; round < 20; round++) {
      const away = lab.at(round % 4);
      const other = lab.at((round + 1) % 4);
      const others = lab.nodes.filter((node) => node !== away);
      await split([away], others);
      const before = await other.height();
      await pause(10_000);
      await other.reaches(before + 2);
      await heal([away]);
      catchUps.push(await away.catchUp(other));
    }
    return { rounds: catchUps.length, slowestCatchUpSeconds: Math.max(...catchUps) };
  }),
);

test("NET-4: blocks reach a node that cannot hear one half, through the node between", { timeout: LONG_MS }, () =>
  inLab("NET-4", {}, async (lab) => {
    const [a, b, c, d] = [lab.at(0), lab.at(1), lab.at(2), lab.at(3)];
    const base = await lab.blocksIn(BASE_MS, a);
    await b.machine.deafen([a.machine]);
    const deaf = await lab.blocksIn(BASE_MS * 2, b);
    expect(deaf).toBeGreaterThan(0);
    // Only the second node links the first with the other two.
    await heal([b]);
    await split([a], [c, d]);
    const linked = await lab.blocksIn(BASE_MS * 2, a);
    expect(linked).toBeGreaterThan(0);
    await heal([a]);
    return { base, deaf, linked };
  }),
);
