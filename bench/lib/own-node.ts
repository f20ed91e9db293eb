import { join } from "node:path";
import { Fixture } from "../../test/support/index.ts";
import { startBenchNode } from "./bench-node.ts";
import { liftGasLimit, loadKeys } from "./load-accounts.ts";
import { type Load, measureSends, type Network, OWN } from "./sends.ts";

/** A node that has just started, with its accounts. */
export interface LoadedNode {
  readonly network: Network;
  readonly pid: number;
  readonly port: number;
  readonly data: string;
}

export type StartLoaded = (fixture: Fixture, accounts: number) => Promise<LoadedNode>;

/** A node of this build, or of the program at another path, without a limit on the gas of a block. */
export function ownNode(main?: string): StartLoaded {
  return async (fixture, accounts) => {
    const addresses = loadKeys(accounts).map(({ address }) => address);
    const settings = { prepare: liftGasLimit, ...(main === undefined ? {} : { main }) };
    const { process: running, port, home } = await startBenchNode(fixture, addresses, settings);
    return { network: OWN, pid: running.pid, port, data: join(home, "data") };
  };
}

const ACCOUNTS = 1_000;
const CONNECTIONS = 32;

/** A process is measured twice: just after its start, and when V8 has optimized its code. */
export const PHASES = ["cold", "warm"] as const;

/** Transfers to send, so many in a transaction. */
export interface Transfers {
  readonly messages: number;
  readonly transfers: number;
}

/** The load of a phase; each account has then sent all its transactions of the phases before. */
export function loadOf({ messages, transfers }: Transfers, phase: number): Omit<Load, "port"> {
  const txs = Math.ceil(transfers / messages);
  const accounts = Math.min(ACCOUNTS, txs);
  return { ...OWN, txs, messages, connections: CONNECTIONS, accounts, sequence: phase * Math.ceil(txs / accounts) };
}

/** Sends the next load to a node; returns milliseconds of its processor time for a transfer. */
export type Lap = () => Promise<number>;

/** Starts a node that takes one load after another; `script` calls `loader`. */
export async function startLaps(
  fixture: Fixture,
  start: StartLoaded,
  { each, script }: { readonly each: Transfers; readonly script: string },
): Promise<Lap> {
  const { pid, port } = await start(fixture, ACCOUNTS);
  let phase = 0;
  return async () => {
    const { nodeCpuMs } = await measureSends(script, pid, { ...loadOf(each, phase++), port });
    return nodeCpuMs / each.transfers;
  };
}

/** Milliseconds of processor time of a fresh node for a transfer, in each phase; `script` calls `loader`. */
export async function cpuOfNode(start: StartLoaded, each: Transfers, script: string): Promise<number[]> {
  const fixture = new Fixture();
  try {
    const lap = await startLaps(fixture, start, { each, script });
    const taken: number[] = [];
    for (const _ of PHASES) taken.push(await lap());
    return taken;
  } finally {
    await fixture.close();
  }
}
