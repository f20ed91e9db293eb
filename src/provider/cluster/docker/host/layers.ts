import { existsSync } from "node:fs";
import { lstat, mkdir, rename, rm, statfs, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { clusterErrors } from "../../contract/index.ts";
import { run } from "./command.ts";
import type { VolumeKey, Volumes } from "./volumes.ts";

/** Name of the volume with a replica's writable layer; volumes of tenants have no dot in front. */
export const LAYER = ".layer";

/** A container's writable folders where the engine made them, all on this machine. */
export interface WritableFolders {
  /** `podman` or `docker`. */
  readonly engine: string;
  /** The upper folder of its overlay; undefined where the engine does not tell. */
  readonly upper: string | undefined;
  /** Volumes that the image declares itself. */
  readonly imageVolumes: readonly string[];
}

/** The volume of a layer with the given limit. */
export function layerKey(namespace: string, replica: string, size: bigint): VolumeKey {
  return { namespace, replica, volume: { name: LAYER, size, persistent: false } };
}

/**
 * Moves everything that a container can write to into the folder of a file system of fixed size, before its first start.
 * Links stand where the engine made the folders. Engines follow them, and remove the link where they would remove the folder;
 * unlike a mount, a link also holds over restarts of engine and host.
 */
export async function moveWritable(volumes: Volumes, key: VolumeKey, folders: WritableFolders): Promise<void> {
  const { engine, upper, imageVolumes } = folders;
  if (upper === undefined || !existsSync(upper)) {
    throw clusterErrors.refused("the container engine does not keep writable layers as folders of this machine", {
      hint: "run the engine on this machine with its overlay storage, or accept unlimited layers: --cluster-volume-sizes none",
    });
  }
  const data = await volumes.ensure(key);
  const sources = [...layerFolders(engine, upper), ...imageVolumes.filter((folder) => existsSync(folder))];
  for (const [index, source] of sources.entries()) await moveFolder(source, join(data, `w${index}`));
}

/**
 * Folders that a layer is written to. Podman finds the root of a container behind a link; Docker's runtime refuses a
 * linked root, so there the parts of the overlay move one by one.
 */
function layerFolders(engine: string, upper: string): string[] {
  const layer = dirname(upper);
  return engine === "podman" ? [layer] : [upper, join(layer, "work")];
}

async function moveFolder(source: string, target: string): Promise<void> {
  if ((await lstat(source)).isSymbolicLink()) return;
  await mkdir(target, { recursive: true });
  await run("cp", ["-a", "--", `${source}/.`, target]);
  const old = `${source}.svc-old`;
  await rename(source, old);
  await symlink(target, source);
  await rm(old, { recursive: true, force: true });
}

/**
 * Whether the root of the process is on a file system that is not much larger than the limit. An ended process no
 * longer writes; a root that cannot be measured for another reason counts as unlimited.
 */
export async function isLayerSized(pid: number, limit: bigint, measure: Measure = statfs): Promise<boolean> {
  try {
    const { blocks, bsize } = await measure(`/proc/${pid}/root/`, { bigint: true });
    return blocks * bsize <= limit + limit / 4n + SLACK;
  } catch (error) {
    return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH");
  }
}

type Measure = (path: string, options: { readonly bigint: true }) => Promise<Record<"blocks" | "bsize", bigint>>;

const SLACK = 16n << 20n;
