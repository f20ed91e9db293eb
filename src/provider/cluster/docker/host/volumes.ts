import { chmod, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorText, Mutexes, syncDirectory } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";
import type { VolumeSizeEnforcement } from "../options.ts";
import type { VolumePlan } from "../replica/plan.ts";
import { CommandError, run } from "./command.ts";
import { type Lack, lackOf } from "./fullness.ts";

/** One replica's copy of a volume. */
export interface VolumeKey {
  readonly namespace: string;
  /** For example `db-0`; volumes that do not persist carry the generation too. */
  readonly replica: string;
  readonly volume: Pick<VolumePlan, "name" | "size" | "persistent">;
}

/**
 * Volumes of leases below one folder: `<namespace>/<replica>.<volume>.img`, an ext4 image of the requested size,
 * mounted at `...mnt` next to it. The tenant gets the folder `data` inside, so that it starts out empty and its size
 * limit is the file system's own. The disk keeps the whole image's room from the start: in an image with holes, a program
 * would lose what it has written when others fill the disk. Without enforcement there is only the folder.
 */
export class Volumes {
  readonly #root: string;
  readonly #enforcement: VolumeSizeEnforcement;
  readonly #isThin: boolean;
  /** One step at a time for each lease: a busy volume delays no other lease. */
  readonly #leases = new Mutexes();
  #probed: Promise<string | undefined> | undefined;

  /** Thin images take the room that they use: for operators who promise more than the disk holds. */
  constructor(root: string, enforcement: VolumeSizeEnforcement, { isThin = false } = {}) {
    this.#root = root;
    this.#enforcement = enforcement;
    this.#isThin = isThin;
  }

  /**
   * Why volumes of a given size cannot be had on this machine, or undefined. Tried with a real mount until that succeeds, and
   * again after any other mount has failed: on a full disk it fails too.
   */
  unavailable(): Promise<string | undefined> {
    if (this.#enforcement === "none") return Promise.resolve(undefined);
    this.#probed ??= this.#probe().then((reason) => {
      if (reason !== undefined) this.#probed = undefined;
      return reason;
    });
    return this.#probed;
  }

  /** Makes (unless it `isMade` already) and mounts the volume; returns the host folder for the container. */
  ensure(key: VolumeKey, { isMade = false } = {}): Promise<string> {
    return this.#leases.run(key.namespace, async () => {
      const mount = this.#path(key, "mnt");
      // A mounted image that was deleted still has its data.
      const source = this.#enforcement === "none" ? join(mount, "data") : this.#path(key, "img");
      if (isMade && !(await mayExist(source)) && !(await isMounted(mount)))
        throw clusterErrors.refused(
          `the data of volume ${key.volume.name} is missing on the provider's disk (it is used again when the provider has mounted or restored it; close the deployment to give it up)`,
        );
      await mkdir(mount, { recursive: true, mode: 0o700 });
      if (this.#enforcement === "loop") await this.#mountImage(key, mount);
      const data = join(mount, "data");
      const made = await mkdir(data, { recursive: true });
      // Programs run under user ids of their image's choice; the folder is the tenant's alone.
      if (made !== undefined) await chmod(data, 0o777);
      return data;
    });
  }

  /** The exhausted resource of a volume in use. */
  lackOf(key: VolumeKey, wasFull: boolean): Promise<Lack | undefined> {
    if (this.#enforcement !== "loop") return Promise.resolve(undefined);
    return lackOf(this.#path(key, "mnt"), { size: key.volume.size, wasFull });
  }

  /** A small file beside the volumes for programs to read; it is removed with the replica of that name. */
  writeFile(namespace: string, name: string, text: string): Promise<string> {
    return this.#leases.run(namespace, async () => {
      const path = join(this.#root, namespace, name);
      await mkdir(join(this.#root, namespace), { recursive: true, mode: 0o700 });
      await writeFile(path, text, { mode: 0o644 });
      return path;
    });
  }

  /** Unmounts and deletes one volume, where there is one. */
  discard(key: VolumeKey): Promise<void> {
    return this.#remove(key.namespace, (name) => name.startsWith(`${key.replica}.${key.volume.name}.`));
  }

  /** Unmounts and deletes all volumes of a lease. */
  removeLease(namespace: string): Promise<void> {
    return this.#remove(namespace, () => true);
  }

  async removeAll(): Promise<void> {
    for (const namespace of await list(this.#root)) await this.removeLease(namespace);
  }

  /** Mounts what a restart of the host has unmounted: Podman describes no container whose layer is not there. */
  async mountAll(): Promise<void> {
    for (const lease of await list(this.#root)) await this.mountLease(lease);
  }

  mountLease(namespace: string): Promise<void> {
    return this.#leases.run(namespace, () => this.#mount(namespace));
  }

  async #mount(lease: string): Promise<void> {
    if (this.#enforcement === "none") return;
    const names = (await list(join(this.#root, lease))).filter((name) => name.endsWith(".img"));
    for (const image of names.map((name) => join(this.#root, lease, name))) {
      const mount = image.replace(/img$/, "mnt");
      // A damaged one is told when its container is started.
      if ((await mayExist(mount)) && !(await isMounted(mount))) await this.#attach(image, mount).catch(() => {});
    }
  }

  /** Takes all mounts away and keeps the data. */
  async unmountAll(): Promise<void> {
    for (const lease of await list(this.#root)) await this.#leases.run(lease, () => this.#unmount(lease));
  }

  async #unmount(lease: string, wanted = (_name: string) => true): Promise<void> {
    const names = (await list(join(this.#root, lease))).filter((name) => name.endsWith(".mnt") && wanted(name));
    for (const name of names) await unmount(join(this.#root, lease, name));
  }

  /** Unmounts and deletes the volumes of one replica. */
  removeReplica(namespace: string, replica: string): Promise<void> {
    return this.#remove(namespace, (name) => name.startsWith(`${replica}.`));
  }

  /** Bytes of disk that all volumes really use. */
  async usedBytes(): Promise<bigint> {
    let used = 0n;
    for (const { blocks } of await this.#images()) used += BigInt(blocks) * 512n;
    return used;
  }

  /** Bytes that volumes were promised and do not use yet. */
  async unfilledBytes(): Promise<bigint> {
    let unfilled = 0n;
    for (const { size, blocks } of await this.#images()) {
      const rest = BigInt(size) - BigInt(blocks) * 512n;
      if (rest > 0n) unfilled += rest;
    }
    return unfilled;
  }

  async #images(): Promise<{ readonly size: number; readonly blocks: number }[]> {
    const found: { size: number; blocks: number }[] = [];
    for (const lease of await list(this.#root)) {
      for (const name of (await list(join(this.#root, lease))).filter((each) => each.endsWith(".img"))) {
        // A volume that is removed in the meantime takes nothing any more.
        const known = await stat(join(this.#root, lease, name)).catch(() => undefined);
        if (known !== undefined) found.push(known);
      }
    }
    return found;
  }

  #path(key: VolumeKey, suffix: string): string {
    const name = `${key.replica}.${key.volume.name}.${suffix}`;
    // Names are checked where manifests come in; a name that leads elsewhere would open the volumes of other tenants.
    if (/[/\0]/.test(name)) throw clusterErrors.unsupported("the name of a volume holds a slash");
    return join(this.#root, key.namespace, name);
  }

  async #mountImage(key: VolumeKey, mount: string): Promise<void> {
    if (await isMounted(mount)) return;
    const image = this.#path(key, "img");
    if (!(await mayExist(image))) {
      await makeImage(image, { size: key.volume.size, journal: key.volume.persistent, isThin: this.#isThin });
    }
    await this.#attach(image, mount);
  }

  async #attach(image: string, mount: string): Promise<void> {
    const { size, blocks } = await stat(image);
    // An image of an older release has holes. On a disk that is full by now it is mounted with them.
    if (!this.#isThin && blocks * 512 < size) await keepRoom(image, size).catch(() => {});
    // Deleted files would make holes again.
    const options = `loop,nodev,nosuid,noatime${this.#isThin ? ",discard" : ""}`;
    await run("mount", ["-t", "ext4", "-o", options, image, mount]).catch(async (error) => {
      await this.#probed;
      this.#probed = undefined;
      throw error;
    });
  }

  #remove(namespace: string, wanted: (name: string) => boolean): Promise<void> {
    return this.#leases.run(namespace, async () => {
      const folder = join(this.#root, namespace);
      const names = (await list(folder)).filter(wanted);
      // Nothing is deleted through a mount that could not be taken away.
      await this.#unmount(namespace, wanted);
      for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
      if ((await list(folder)).length === 0) await rm(folder, { recursive: true, force: true });
    });
  }

  async #probe(): Promise<string | undefined> {
    const folder = ".probe";
    const [image, mount] = [join(this.#root, folder, "probe.img"), join(this.#root, folder, "probe.mnt")];
    try {
      // A probe that was killed may have left its mount.
      await this.#remove(folder, () => true);
      await mkdir(mount, { recursive: true, mode: 0o700 });
      await makeImage(image, { size: 1n << 20n, journal: true, isThin: this.#isThin });
      await run("mount", ["-t", "ext4", "-o", "loop,nodev,nosuid", image, mount]);
      return undefined;
    } catch (error) {
      return `volumes of a fixed size need loop devices and mkfs.ext4 on the provider's machine (${errorText(error)})`;
    } finally {
      await this.#remove(folder, () => true).catch(() => {});
    }
  }
}

interface Image {
  readonly size: bigint;
  /** Whether it must survive a crash of the host undamaged. */
  readonly journal: boolean;
  readonly isThin: boolean;
}

/** Writes the image under another name first, so that a crash never leaves a half-made file system in place. */
async function makeImage(image: string, { size, isThin, journal }: Image): Promise<void> {
  const draft = `${image}.new`;
  const { bytes, options } = imageLayout(size, { journal });
  try {
    const file = await open(draft, "w", 0o600);
    await file.truncate(Number(bytes));
    await file.close();
    await run("mkfs.ext4", ["-q", "-F", ...options, draft]);
    if (!isThin) await keepRoom(draft, Number(bytes));
    await rename(draft, image);
    // The record that notes the image next may be on another disk.
    syncDirectory(dirname(image));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Fills the holes of a file with room of the disk, where its file system can do that. */
async function keepRoom(path: string, bytes: number): Promise<void> {
  try {
    await run("fallocate", ["--length", `${bytes}`, path]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    if (error.message.includes("not supported")) return;
    if (!error.message.includes("No space left")) throw error;
    throw clusterErrors.refused(
      "the provider's disk has no room for a volume that it promised (close this deployment and try another provider)",
    );
  }
}

/**
 * A process that just ended may hold the mount for a moment. The root of a container in its layer may be left mounted where the
 * engine did not find it any more.
 */
async function unmount(mount: string): Promise<void> {
  for (let attempt = 1; await isMounted(mount); attempt++) {
    await run("umount", ["--recursive", mount]).catch(async (error) => {
      if (attempt === 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
  }
}

/** Whether it is on another file system than its folder. The kernel's table also names mounts that a later one hides. */
function isMounted(mount: string): Promise<boolean> {
  const files = Promise.all([stat(mount), stat(dirname(mount))]);
  return files.then(([own, folder]) => own.dev !== folder.dev, isUnknown);
}

/** A file that cannot be looked at may exist. */
function mayExist(path: string): Promise<boolean> {
  return stat(path).then(() => true, isUnknown);
}

function isUnknown({ code }: NodeJS.ErrnoException): boolean {
  return code !== "ENOENT" && code !== "ENOTDIR";
}

function list(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => (isUnknown(error) ? Promise.reject(error) : []));
}

const BLOCK = 4096n;
const INODE = 256n;
/** A file system has one inode for so many bytes of its size, within the bounds below. */
const BYTES_PER_INODE = 16_384n;
const INODES = { least: 1_024n, most: 1n << 22n };
const JOURNAL = 4n << 20n;
/** Superblock, descriptors, bitmaps and the first folders. */
const FIXED = 1n << 20n;

/** Length of an ext4 image with room for files of `size` bytes altogether, and for hardly more, and options of `mkfs.ext4`. */
interface ImageLayout {
  readonly bytes: bigint;
  readonly options: readonly string[];
}

/**
 * The file system's own overhead is added to the size: a volume of 64 MiB holds 64 MiB. The number of inodes grows with
 * the size, so that small files are limited as well.
 */
export function imageLayout(size: bigint, { journal }: Pick<Image, "journal">): ImageLayout {
  const inodes = clamp(size / BYTES_PER_INODE);
  const own = inodes * INODE + (journal ? JOURNAL : 0n) + FIXED + size / 256n;
  const bytes = ((size + own + BLOCK - 1n) / BLOCK) * BLOCK;
  const features = journal ? ["-J", "size=4", "-O", "^resize_inode"] : ["-O", "^resize_inode,^has_journal"];
  return { bytes, options: ["-m", "0", "-b", BLOCK.toString(), "-N", inodes.toString(), ...features] };
}

function clamp(inodes: bigint): bigint {
  if (inodes < INODES.least) return INODES.least;
  return inodes > INODES.most ? INODES.most : inodes;
}
