import { expect } from "vitest";
import { cpuOfProcess } from "../../../bench/lib/cpu.ts";
import { pause } from "../../support/index.ts";
import { type AttackedNode, PATIENCE_MS } from "./attacked-node.ts";
import { MemoryWatch, memoryBack, residentMiB } from "./memory.ts";
import { Onlooker, type Seen } from "./onlooker.ts";

export interface Limits {
  /** Part of the blocks of an idle stretch that is made while the attack goes on; 0.25 unless given. */
  readonly blockShare?: number;
  /** Resident memory a minute after the attack, as a multiple of the idle node's; 2 unless given. */
  readonly memoryShare?: number;
  /** Memory that the state which the attack has paid for may keep in addition; nothing unless given. */
  readonly stateMiB?: number;
  /** Maximum rise of memory above the idle node. */
  readonly peakMiB?: number;
  /** Shortest period that counts: an attack that is over sooner is repeated; 0 for one that cannot be repeated. */
  readonly atLeastMs?: number;
  /** Requests of honest clients to the attacked server; rejects if they are not answered. */
  readonly askMore?: () => Promise<unknown>;
}

interface Stretch extends Seen {
  readonly ms: number;
  readonly blocks: number;
  readonly peakMiB: number;
  /** Processor time of the node. */
  readonly cpuMs: number;
}

const IDLE_MS = 2_000;
const DEFAULTS: Required<Omit<Limits, "askMore">> = {
  blockShare: 0.25,
  memoryShare: 2,
  stateMiB: 0,
  peakMiB: 512,
  atLeastMs: 1_000,
};
const idleStretches = new WeakMap<AttackedNode, Promise<Stretch>>();

/**
 * Runs an attack, and checks what must hold in every one: the node lives, others are answered, blocks come at a good part of the
 * pace of an idle stretch of the same run, memory given back, nothing gained. The node checks its invariants after every block.
 */
export async function besiege(node: AttackedNode, attack: () => Promise<unknown>, limits: Limits = {}): Promise<void> {
  const { askMore } = limits;
  const { blockShare, memoryShare, stateMiB, peakMiB, atLeastMs } = { ...DEFAULTS, ...limits };
  const lastingMs = atLeastMs === 0 ? 0 : Math.max(atLeastMs, Number(process.env.SVC_TEST_ATTACK_MS ?? 0));
  const idle = await idleStretch(node);
  const [before, had] = [residentMiB(node.pid), await node.balances()];
  const lasting = async () => {
    const end = performance.now() + lastingMs;
    do await attack();
    while (performance.now() < end);
  };
  const seen = await watched(node, lasting, askMore);
  console.log(told(idle, before, seen));
  expect(node.node.process.running, node.node.process.output.slice(-2000)).toBe(true);
  expect(seen.faults, "what others were refused").toEqual([]);
  expect(seen.rounds, "rounds of questions of others").toBeGreaterThan(0);
  expect(seen.blocks / seen.ms, "pace of blocks").toBeGreaterThan((blockShare * idle.blocks) / idle.ms);
  expect(seen.peakMiB - before, "memory while it lasts").toBeLessThan(peakMiB);
  const gained = (await node.balances()).filter((balance, i) => balance > (had[i] ?? 0n));
  expect(gained, "balances that grew").toEqual([]);
  await memoryBack(node.pid, Math.round(before * memoryShare) + stateMiB);
}

function idleStretch(node: AttackedNode): Promise<Stretch> {
  const known = idleStretches.get(node) ?? watched(node, () => pause(IDLE_MS));
  idleStretches.set(node, known);
  return known;
}

async function watched(node: AttackedNode, run: () => Promise<unknown>, askMore?: Limits["askMore"]): Promise<Stretch> {
  const client = node.node.client(PATIENCE_MS);
  const onlooker = new Onlooker({ client, address: node.key("alice").address, door: node.door, askMore });
  const memory = new MemoryWatch(node.pid);
  try {
    const [height, began, cpu] = [await node.height(), performance.now(), cpuOfProcess(node.pid)];
    await run();
    const seen = await onlooker.stop();
    const [blocks, ms] = [Number((await node.height()) - height), performance.now() - began];
    return { ...seen, blocks, ms, peakMiB: memory.stop(), cpuMs: cpuOfProcess(node.pid) - cpu };
  } finally {
    memory.stop();
    await onlooker.stop();
    client.close();
  }
}

function told(idle: Stretch, before: number, seen: Stretch): string {
  const pace = (stretch: Stretch): string => ((1000 * stretch.blocks) / stretch.ms).toFixed(1);
  const memory = `${before} MiB before, ${seen.peakMiB} at most`;
  const cpu = `${Math.round(seen.cpuMs)} ms of CPU in ${Math.round(seen.ms)}`;
  return `${pace(seen)} blocks a second (idle ${pace(idle)}), ${seen.rounds} rounds of others, slowest answer ${seen.slowestMs} ms (idle ${idle.slowestMs}), ${memory}, ${cpu}`;
}
