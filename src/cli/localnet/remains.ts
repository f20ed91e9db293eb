import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CLUSTER_KINDS, type ClusterDriver, endPlane, hasPlane } from "../../provider/index.ts";
import { notedSettings, readFileText, replaceFile, settingReader, shellWord } from "../../util/index.ts";
import { commandError } from "../errors.ts";
import { providerDir } from "../provider/run/config.ts";
import { isKeptHome, keySigner, localnetKeyring, memberHome, memberName } from "./home.ts";
import { MAX_MEMBERS } from "./ports.ts";
import { engineAt, startPodman } from "./processes/container-engine.ts";
import { endLeftProcesses, leftProcesses, serviceSocket } from "./processes/left.ts";

/** Containers of a localnet hold nothing worth a long shutdown. */
const STOP_GRACE_MS = 1000;
/** Names the cluster on which a localnet has containers; the file goes when they are removed. */
const RECORD = "cluster.json";
const MAX_RECORD = 64 * 1024;

/**
 * The cluster of a localnet: `engine` is a socket and `kind` its engine, or else the places of the kind of cluster, by their
 * flags; and the number of providers.
 */
export type ClusterRecord = Readonly<Record<string, string>>;

/** The folders of a localnet. */
export interface LocalnetFolders {
  readonly home: string;
  /** Holds run-time files: locks, sockets, and the record of processes to end. */
  readonly runDir: string;
}

export function foldersOf(home: string): LocalnetFolders {
  return { home, runDir: `${home}-run` };
}

/** Notes that there may be containers from now on. */
export function recordCluster(runDir: string, record: ClusterRecord): void {
  replaceFile(join(runDir, RECORD), `${JSON.stringify(record)}\n`);
}

/** The cluster on which containers may be left. */
export function recordedCluster(runDir: string): ClusterRecord | undefined {
  const path = join(runDir, RECORD);
  if (!existsSync(path)) return undefined;
  const record: unknown = JSON.parse(readFileText(path, { maxBytes: MAX_RECORD }));
  if (typeof record !== "object" || record === null) return {};
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, String(text)]));
}

interface ProviderHome {
  /** Name of its key. */
  readonly name: string;
  readonly home: string;
}

/** The providers of a localnet that may have containers or a data plane: all of the record, and all with a home. */
function providersOf(home: string, { providers = "1" }: ClusterRecord = {}): ProviderHome[] {
  return Array.from({ length: MAX_MEMBERS }, (_, i) => ({
    name: memberName("provider", i),
    home: memberHome(home, "provider", i),
  })).filter((provider, i) => i < Number(providers) || existsSync(provider.home));
}

/** Whether a provider of the home has begun. */
export function hasProvider(home: string): boolean {
  return providersOf(home).some((provider) => existsSync(providerDir(provider.home)));
}

/** Remains of a localnet: names for people, in the order of their removal. */
export function remainsOf({ home, runDir }: LocalnetFolders): readonly string[] {
  const processes = leftProcesses(runDir).map(({ name, pid }) => `${name} (process ${pid})`);
  const hasPlanes = providersOf(home).some((provider) => hasPlane(providerDir(provider.home)));
  const plane = hasPlanes ? ["data plane"] : [];
  const containers = recordedCluster(runDir) === undefined ? [] : ["containers of its leases"];
  const folders = [home, runDir].filter((folder) => existsSync(folder) && !(folder === home && isKeptHome(home)));
  return [...processes.toReversed(), ...plane, ...containers, ...folders];
}

/** Ends processes that an earlier localnet of the home left: afterwards its ports are free. Containers stay. */
export async function endRemains({ home, runDir }: LocalnetFolders): Promise<void> {
  // The provider and the node may still be ending by themselves.
  await endLeftProcesses(runDir);
  for (const provider of providersOf(home)) await endPlane(providerDir(provider.home));
}

/**
 * Removes the containers, networks and rules of the home on the cluster, and their record; with `data` also volumes and
 * records of leases.
 */
export async function removeContainers(
  { home, runDir }: LocalnetFolders,
  cluster: ClusterRecord,
  what: "containers" | "data",
): Promise<void> {
  const isHomeGone = !existsSync(home);
  const { open, close } = await openCluster({ home, runDir }, cluster);
  try {
    for (const provider of providersOf(home, cluster)) {
      await endPlane(providerDir(provider.home));
      const driver = await open(provider);
      await (what === "containers" ? driver.suspend() : driver.purge()).finally(() => driver.close());
    }
  } finally {
    await close();
  }
  rmSync(join(runDir, RECORD), { force: true });
  // The driver makes its folder even if the home was removed.
  if (isHomeGone) rmSync(home, { recursive: true, force: true });
}

interface OpenCluster {
  /** The driver of a provider. */
  open(provider: ProviderHome): Promise<ClusterDriver>;
  /** Ends an engine that was started for it. */
  close(): Promise<void>;
}

async function openCluster({ home, runDir }: LocalnetFolders, record: ClusterRecord): Promise<OpenCluster> {
  const settingsOf = (provider: ProviderHome) => ({ stateDir: providerDir(provider.home), stopGraceMs: STOP_GRACE_MS });
  const kind = CLUSTER_KINDS.find(({ places }) => Object.values(places).some(({ name }) => name in record));
  if (kind !== undefined) {
    const cluster = kind.configure(settingReader(notedSettings(record)));
    const { address } = await cluster.find();
    const open = async (each: ProviderHome) => {
      // The provider of the home, which may belong to a stopped localnet.
      const { address: provider } = await keySigner(localnetKeyring(home), each.name);
      return cluster.open({ ...settingsOf(each), provider, address });
    };
    return { open, close: async () => {} };
  }
  const { address, close } = await answeringEngine(runDir, record);
  return { open: (each) => engineAt(address).open({ ...settingsOf(each), address }), close };
}

/** Podman's containers are there without the service that made them, so any other one removes them. */
async function answeringEngine(
  runDir: string,
  { engine = "", kind }: ClusterRecord,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const sockets = kind === "podman" ? [engine, serviceSocket(runDir)] : [engine];
  for (const socket of sockets) {
    const found = await engineAt(socket)
      .find()
      .catch(() => undefined);
    if (found !== undefined) return { address: found.address, close: async () => {} };
  }
  if (kind !== "podman") {
    throw commandError(`the container engine at ${engine}, which has containers of this localnet, does not answer`, {
      hint: `start it and try again; or give the containers up: rm ${shellWord(join(runDir, RECORD))}`,
    });
  }
  const { address, service } = await startPodman(runDir);
  return { address, close: async () => service?.stop() };
}
