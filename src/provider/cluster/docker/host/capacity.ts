import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { EPHEMERAL, type NodeCapacity } from "../../contract/index.ts";
import type { DriverContext } from "../context.ts";

/** The one node: what the host has, less what is kept for itself. Volumes of leases count as free, the ledger has them. */
export async function hostCapacity(context: DriverContext): Promise<NodeCapacity> {
  const { settings, volumes } = context;
  const info = await context.api.info();
  const [used, noVolumes] = await Promise.all([volumes.usedBytes(), volumes.unavailable()]);
  const free = await Promise.all([freeBytes(info.root), freeBytes(settings.stateDir)]);
  // An engine in a virtual machine keeps its images where this process cannot look.
  const known = free.filter((bytes) => bytes !== undefined);
  const storage = (known.sort((a, b) => Number(a - b))[0] ?? 0n) + used;
  return {
    name: hostname(),
    cpu: atLeastZero(BigInt(info.cpus) * 1000n - settings.reserve.cpu),
    memory: atLeastZero(BigInt(info.memory) - settings.reserve.memory),
    // One disk serves volumes of every class; those that persist only where volumes can be made.
    storage: [
      {
        classes: noVolumes === undefined ? "all" : [EPHEMERAL],
        bytes: atLeastZero(storage - settings.reserve.storage),
      },
    ],
    gpus: [],
  };
}

async function freeBytes(folder: string): Promise<bigint | undefined> {
  try {
    const stat = await statfs(folder, { bigint: true });
    return stat.bavail * stat.bsize;
  } catch {
    return undefined;
  }
}

function atLeastZero(value: bigint): bigint {
  return value < 0n ? 0n : value;
}
