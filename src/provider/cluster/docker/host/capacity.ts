import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { EPHEMERAL, type NodeCapacity } from "../../contract/index.ts";
import type { EngineApi } from "../api/api.ts";
import type { DockerSettings } from "../options.ts";
import type { Volumes } from "./volumes.ts";

/** Parts for measuring the disk. */
interface Disk {
  readonly api: Pick<EngineApi, "info" | "ping">;
  readonly settings: Pick<DockerSettings, "reserve" | "stateDir">;
  readonly volumes: Pick<Volumes, "usedBytes" | "unavailable" | "unfilledBytes">;
}

/** Images that no lease has go before their time where less than this share of the engine's disk is free. */
const TIGHT = { part: 15n, of: 100n } as const;

/**
 * The one node: the host's capacity less its own reserve. Volumes of leases count as free because the ledger accounts
 * for them; so do `kept` bytes that can be removed at any time.
 */
export async function hostCapacity({ api, settings, volumes }: Disk, kept: bigint): Promise<NodeCapacity> {
  const [info] = await Promise.all([api.info(), api.ping()]);
  const [used, noVolumes] = await Promise.all([volumes.usedBytes(), volumes.unavailable()]);
  const free = await Promise.all([freeBytes(info.root), freeBytes(settings.stateDir)]);
  // An engine in a virtual machine keeps its images where this process cannot look.
  const known = free.filter((bytes) => bytes !== undefined);
  const storage = (known.sort((a, b) => Number(a - b))[0] ?? 0n) + used + kept;
  return {
    name: hostname(),
    cpu: atLeastZero(BigInt(info.cpus) * 1000n - settings.reserve.cpu),
    memory: atLeastZero(BigInt(info.memory) - settings.reserve.memory),
    // One disk serves volumes of every class, persistent ones only where volumes can be made.
    storage: [
      {
        classes: noVolumes === undefined ? "all" : [EPHEMERAL],
        bytes: atLeastZero(storage - settings.reserve.storage),
      },
    ],
    gpus: [],
  };
}

/**
 * Free disk for images: without promised but unused parts of volumes, and without the host's reserve. Undefined if this
 * process cannot measure it.
 */
export async function imageRoom({ api, settings, volumes }: Disk): Promise<bigint | undefined> {
  const free = await freeDisk({ api, settings });
  return free === undefined ? undefined : free - (await volumes.unfilledBytes()) - settings.reserve.storage;
}

/** Bytes free on the fuller disk of the engine's and the driver's; undefined where this process cannot look. */
export async function freeDisk({ api, settings }: Pick<Disk, "api" | "settings">): Promise<bigint | undefined> {
  const { root } = await api.info();
  const free = [await freeBytes(root), await freeBytes(settings.stateDir)].filter((bytes) => bytes !== undefined);
  return free.toSorted((a, b) => Number(a - b))[0];
}

/** Whether the engine's disk is nearly full. */
export async function isDiskTight({ api }: Disk): Promise<boolean> {
  const { root } = await api.info();
  try {
    const { bavail, blocks } = await statfs(root, { bigint: true });
    return bavail * TIGHT.of < blocks * TIGHT.part;
  } catch {
    return false;
  }
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
