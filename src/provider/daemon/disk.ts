import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errorText, type Logger, makePrivateDirectory } from "../../util/index.ts";
import { HOST_REASONS, type HostFault } from "../reasons.ts";

/** Reserved for records of leases when the disk is otherwise full. */
export const RESERVE_BYTES = 16 << 20;
const RESERVE = "reserve";
/** With less than this free the reserve is given up: enough for the records of a thousand leases. */
const RELEASE_BELOW = 4n << 20n;
const CHUNK = Buffer.alloc(1 << 20);

export interface DiskGuardOptions {
  /** The provider's folder. */
  readonly folder: string;
  /** Bytes of the folder's disk below which the provider does not bid. */
  readonly least: bigint;
  readonly log: Logger;
  /** Bytes that are free; asks the system by default. */
  readonly free?: () => bigint;
  readonly reserveBytes?: number;
}

/**
 * Keeps the provider able to work on a full disk: it stops bidding early, and holds a file whose space is given up when
 * the disk is full, so that leases that run can be recorded and closed.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions;
  readonly #path: string;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
    this.#path = join(options.folder, RESERVE);
  }

  /** Gives the reserve up if the disk is full, and makes it again once there is room. Never throws. */
  look(): void {
    const { least, reserveBytes = RESERVE_BYTES, log } = this.#options;
    const free = this.free();
    if (free === undefined) return;
    if (free < RELEASE_BELOW) this.release();
    else if (!this.#isWhole() && free >= least + 2n * BigInt(reserveBytes)) this.#make(log);
  }

  /** Gives the reserve up; true if there was one. */
  release(): boolean {
    const { folder, log } = this.#options;
    if (!releaseReserve(folder)) return false;
    log.error("the disk of the provider's folder is full: its reserve is given up", {
      folder,
      remedy: "make room; leases that run are kept and closed as before, and no new ones are taken",
    });
    return true;
  }

  /** Why the provider takes no new leases; undefined if there is room. */
  obstacle(): HostFault | undefined {
    const { folder, least } = this.#options;
    const free = this.free();
    if (free === undefined || free >= least) return undefined;
    const [has, wants] = [mebibytes(free), mebibytes(least)];
    const { remedy } = HOST_REASONS.disk;
    return { reason: "disk", text: `the disk of ${folder} has ${has} MiB free, less than ${wants} MiB: ${remedy}` };
  }

  /** Undefined if the system does not report it. */
  free(): bigint | undefined {
    const { folder, free } = this.#options;
    try {
      return free === undefined ? freeBytes(folder) : free();
    } catch {
      return undefined;
    }
  }

  #isWhole(): boolean {
    const { reserveBytes = RESERVE_BYTES } = this.#options;
    return statSync(this.#path, { throwIfNoEntry: false })?.size === reserveBytes;
  }

  /** Written in full: a file with holes holds no space. */
  #make(log: Logger): void {
    const { folder, reserveBytes = RESERVE_BYTES } = this.#options;
    try {
      makePrivateDirectory(folder);
      rmSync(this.#path, { force: true, recursive: true });
      const file = openSync(this.#path, "wx", 0o600);
      try {
        for (let left = reserveBytes; left > 0; ) left -= writeSync(file, CHUNK, 0, Math.min(left, CHUNK.length));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      rmSync(this.#path, { force: true, recursive: true });
      log.warn("no reserve of disk space", { err: errorText(error) });
    }
  }
}

/** Gives up the reserve in a provider's folder if its disk is full: before a start, which needs a little room too. */
export function makeRoom(folder: string): void {
  try {
    if (freeBytes(folder) < RELEASE_BELOW) releaseReserve(folder);
  } catch {
    // Without the folder there is nothing to give up.
  }
}

function releaseReserve(folder: string): boolean {
  const path = join(folder, RESERVE);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(path, { force: true, recursive: true });
  return true;
}

/** Bytes available to this user. */
function freeBytes(folder: string): bigint {
  const { bavail, bsize } = statfsSync(folder, { bigint: true });
  return bavail * bsize;
}

function mebibytes(bytes: bigint): bigint {
  return bytes >> 20n;
}
