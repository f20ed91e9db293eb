import { chmod, lchown, lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { errorText, type Logger } from "../../../../util/index.ts";
import type { Refused } from "../api/failure.ts";
import { run } from "./command.ts";

/** Ids of users on the host that neither distributions nor service managers give out. */
const FIRST = 0x7000_0000;
/** How many ids a lease has: programs in containers expect ids of 16 bits. */
const EACH = 65_536;
const LEASES = 4_094;

/** An engine's answer if it cannot make such containers. */
const REFUSED = /userns|user namespace|available IDs|id ?mapping|idmap/i;

/**
 * Users of leases: root in a container is a host user without any rights, a different one for nearly every lease. Off
 * until an engine is known to support it.
 */
export class LeaseUsers {
  readonly #isWanted: boolean;
  readonly #log: Logger;
  #isOn = false;

  constructor(isWanted: boolean, log: Logger) {
    this.#isWanted = isWanted;
    this.#log = log;
  }

  /** Checks whether engine and kernel can do it, and logs the outcome. */
  async look(engine: string, mapsUsers: boolean, probe: () => Promise<unknown> = tryNamespace): Promise<void> {
    this.#isOn = false;
    if (mapsUsers) return;
    const why = this.#isWanted ? await missing(engine, probe) : undefined;
    this.#isOn = this.#isWanted && why === undefined;
    if (this.#isOn) this.#log.info("containers have their own users: root of a container is an unprivileged user here");
    else if (why !== undefined) this.#log.warn(`containers cannot have their own users: ${why}`);
    else this.#log.info("the engine maps no users: root of a container is root here, without most of its rights");
  }

  /** The host's id of a lease's root; 0 where no users are mapped. */
  first(namespace: string): number {
    if (!this.#isOn) return 0;
    return FIRST + (Number.parseInt(namespace.slice(0, 6), 32) % LEASES) * EACH;
  }

  /**
   * Called when the engine did not make a container; true where it may be tried without users of its own. Engines repeat words
   * of images, so only the trial's container turns users off.
   */
  refused(text: string, { isTrial }: Pick<Refused, "isTrial">): boolean {
    if (!isTrial || !this.#isOn || !REFUSED.test(text)) return false;
    this.#isOn = false;
    this.#log.warn("the engine refuses to give containers their own users: root of a container is root here", {
      err: text,
    });
    return true;
  }
}

/** Value of the engine's option for user namespaces. */
export function usersOption(first: number): string {
  const ids = `0:${first}:${EACH}`;
  return `auto:size=${EACH},uidmapping=${ids},gidmapping=${ids}`;
}

async function missing(engine: string, probe: () => Promise<unknown>): Promise<string | undefined> {
  if (engine !== "podman")
    return "this engine maps users for all containers or none; set userns-remap in its own settings";
  return probe().then(
    () => undefined,
    (error) => `the kernel makes no user namespace (${errorText(error)}); see user.max_user_namespaces`,
  );
}

function tryNamespace(): Promise<unknown> {
  return run("unshare", ["--user", "--map-root-user", "true"]);
}

/**
 * Gives everything in a folder to the users of a lease, or back to the host's users with 0. No program may run in it
 * meanwhile: names could change while they are looked at.
 */
export async function giveFolder(folder: string, first: number): Promise<void> {
  const { uid } = await lstat(folder);
  // The folder itself comes last: if it has been given, all of it has been.
  if (isOf(uid, first)) return;
  await giveContents(folder, first);
  await give(folder, first);
}

async function giveContents(folder: string, first: number): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveContents(path, first);
    await give(path, first);
  }
}

async function give(path: string, first: number): Promise<void> {
  const { uid, gid, mode } = await lstat(path);
  if (isOf(uid, first) && isOf(gid, first)) return;
  await lchown(path, moved(uid, first), moved(gid, first));
  // A change of owner takes these bits away.
  if ((mode & 0o6000) !== 0 && !isLink(mode)) await chmod(path, mode & 0o7777);
}

function isLink(mode: number): boolean {
  return (mode & 0o170000) === 0o120000;
}

function isOf(id: number, first: number): boolean {
  return first === 0 ? id < FIRST : id >= first && id < first + EACH;
}

/** The same user in another range. The first id is a multiple of the size of a range. */
function moved(id: number, first: number): number {
  return first + (id % EACH);
}
