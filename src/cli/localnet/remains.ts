import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CLUSTER_KINDS, type ClusterDriver, endPlane, hasPlane } from "../../provider/index.ts";
import { notedSettings, readFileText, replaceFile, settingReader, shellWord } from "../../util/index.ts";
import { commandError } from "../errors.ts";
import { providerDir } from "../provider/run/config.ts";
import { isKeptHome, localnetKeyring } from "./home.ts";
import { engineAt, startPodman } from "./processes/container-engine.ts";
import { endLeftProcesses, leftProcesses, serviceSocket } from "./processes/left.ts";
import { keySigner } from "./signer.ts";

/** Containers of a localnet hold nothing worth a long shutdown. */
const STOP_GRACE_MS = 1000;
/** Names the cluster on which a localnet has containers; the file goes when they are removed. */
const RECORD = "cluster.json";
const MAX_RECORD = 64 * 1024;

/** The cluster of a localnet: `engine` is a socket and `kind` its engine, or else the places of the kind of cluster, by their flags. */
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

/** Remains of a localnet: names for people, in the order of their removal. */
export function remainsOf({ home, runDir }: LocalnetFolders): readonly string[] {
  const processes = leftProcesses(runDir).map(({ name, pid }) => `${name} (process ${pid})`);
  const plane = hasPlane(providerDir(home)) ? ["data plane"] : [];
  const containers = recordedCluster(runDir) === undefined ? [] : ["containers of its leases"];
  const folders = [home, runDir].filter((folder) => existsSync(folder) && !(folder === home && isKeptHome(home)));
  return [...processes.toReversed(), ...plane, ...containers, ...folders];
}

/** Ends processes that an earlier localnet of the home left: afterwards its ports are free. Containers stay. */
export async function endRemains({ home, runDir }: LocalnetFolders): Promise<void> {
  // The provider and the node may still be ending by themselves.
  await endLeftProcesses(runDir);
  await endPlane(providerDir(home));
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
  await endPlane(providerDir(home));
  const { driver, close } = await openCluster({ home, runDir }, cluster);
  try {
    await (what === "containers" ? driver.suspend() : driver.purge());
  } finally {
    await driver.close();
    await close();
  }
  rmSync(join(runDir, RECORD), { force: true });
  // The driver makes its folder even if the home was removed.
  if (isHomeGone) rmSync(home, { recursive: true, force: true });
}

interface OpenCluster {
  readonly driver: ClusterDriver;
  /** Ends an engine that was started for it. */
  close(): Promise<void>;
}

async function openCluster(folders: LocalnetFolders, record: ClusterRecord): Promise<OpenCluster> {
  const settings = { stateDir: providerDir(folders.home), stopGraceMs: STOP_GRACE_MS };
  const kind = CLUSTER_KINDS.find(({ places }) => Object.values(places).some(({ name }) => name in record));
  if (kind !== undefined) {
    // The provider of the home, which may belong to a stopped localnet.
    const { address: provider } = await keySigner(localnetKeyring(folders.home), "provider");
    const cluster = kind.configure(settingReader(notedSettings(record)));
    const { address } = await cluster.find();
    return { driver: await cluster.open({ ...settings, provider, address }), close: async () => {} };
  }
  const { address, close } = await answeringEngine(folders.runDir, record);
  return { driver: await engineAt(address).open({ ...settings, address }), close };
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
