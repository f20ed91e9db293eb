import { expect, test } from "vitest";
import { pause } from "../support/index.ts";
import { inLab, type Lab, type LabNode } from "./lab/lab.ts";

/** Four validators with a node in trouble all the time, or with a flooded RPC. */

const LONG_MS = 1_800_000;
const MIXED_MS = 360_000;
const FLOOD_MS = 60_000;
const FLOODERS = 48;

/** Faults of a node, each as often as its weight, with what ends them. */
const FAULTS: readonly (readonly [name: string, weight: number, fault: (node: LabNode, lab: Lab) => Promise<void>])[] =
  [
    ["kill", 1, killAndStart],
    ["restart", 1, stopAndStart],
    ["pause", 1, pauseProcesses],
    ["disconnect", 1, disconnect],
    // The same program again: `net-18` has another one.
    ["upgrade", 3, stopAndStart],
  ];

test("NET-9: kills, restarts, pauses and breaks in random order", { timeout: LONG_MS }, () =>
  inLab("NET-9", {}, async (lab) => {
    const recoveries: number[] = [];
    const counts: Record<string, number> = {};
    const table = FAULTS.flatMap((row) => Array.from({ length: row[1] }, () => row));
    for (const end = performance.now() + MIXED_MS; performance.now() < end; ) {
      const [name, , fault] = table[lab.rng.below(table.length)] ?? FAULTS[0] ?? [];
      const place = lab.rng.below(4);
      if (name === undefined || fault === undefined) throw new Error("a fault");
      await fault(lab.at(place), lab);
      recoveries.push(await lab.at(place).catchUp(lab.at((place + 1) % 4)));
      counts[name] = (counts[name] ?? 0) + 1;
      await pause(3_000);
    }
    recoveries.sort((a, b) => a - b);
    const part = (share: number): number => recoveries[Math.floor((recoveries.length - 1) * share)] ?? 0;
    return { ...counts, medianSeconds: part(0.5), p95Seconds: part(0.95), slowestSeconds: part(1) };
  }),
);

test("NET-16: blocks continue while the RPC of a validator is flooded", { timeout: LONG_MS }, () =>
  inLab("NET-16", {}, async (lab) => {
    const target = lab.at(0);
    const base = await lab.blocksIn(FLOOD_MS / 2, lab.at(1));
    const paths = [
      "block_results",
      "validators",
      "dump_consensus_state",
      "blockchain",
      'tx_search?query="tx.height>0"',
    ];
    const end = performance.now() + FLOOD_MS;
    let answers = 0;
    const flooding = Array.from({ length: FLOODERS }, async (_, i) => {
      while (performance.now() < end) {
        await fetch(`${target.rpc}/${paths[i % paths.length]}`).then(
          (response) => response.text(),
          () => undefined,
        );
        answers++;
      }
    });
    const blocks = await lab.blocksIn(FLOOD_MS, lab.at(1));
    await Promise.all(flooding);
    const ratio = blocks / (2 * base);
    expect(ratio).toBeGreaterThan(0.5);
    return { answers, ratio: Math.round(100 * ratio) / 100 };
  }),
);

async function killAndStart({ node }: LabNode): Promise<void> {
  await node.process.kill();
  await node.start();
}

async function stopAndStart({ node }: LabNode): Promise<void> {
  expect(await node.process.stop()).toBe(0);
  await node.start();
}

async function pauseProcesses(node: LabNode): Promise<void> {
  node.signal("SIGSTOP");
  await pause(10_000);
  node.signal("SIGCONT");
}

async function disconnect(node: LabNode, { nodes }: Lab): Promise<void> {
  await node.machine.cut(nodes.filter((other) => other !== node).map(({ machine }) => machine));
  await pause(10_000);
  await node.machine.heal();
}
