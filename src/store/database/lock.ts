import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { errorText } from "../../util/index.ts";
import { storeErrors } from "../errors.ts";
import { checkDataFile } from "./data-file.ts";

/** Directories open in this process. */
const openHere = new Set<string>();

type Reader = ReturnType<RootDatabase["useReadTransaction"]>;

/**
 * Keeps a database directory to one process, by a separate LMDB environment that is never written. LMDB's table of
 * readers names every process that reads an environment and drops dead ones by a kernel lock, so a kill leaves no stale
 * lock. One read transaction, held until the end, makes us such a reader. (In the database itself it would keep old
 * pages alive.) Processes in containers must share the kernel for the lock to work.
 */
export class DatabaseLock {
  readonly #path: string;
  readonly #environment: RootDatabase;
  /** Only kept alive: a transaction without a reference would be garbage-collected, and the lock with it. */
  readonly #reader: Reader;

  private constructor(path: string, environment: RootDatabase, reader: Reader) {
    this.#path = path;
    this.#environment = environment;
    this.#reader = reader;
  }

  /** Takes the directory, or throws `store/2` when this process or another living one has it. */
  static take(path: string): DatabaseLock {
    if (openHere.has(path)) throw storeErrors.inUse(`${path} is already open in this process`);
    const options = { noSubdir: false, overlappingSync: false, permissionsMode: 0o600 };
    const folder = join(path, "lock");
    const environment = opened(path, () => {
      clearDamage(folder);
      return open(folder, options);
    });
    // Registers before looking, so that at least one of two processes that start together sees the other.
    const reader = readerOf(environment, path);
    environment.readerCheck();
    const other = readerPids(environment.readerList()).find((pid) => pid !== process.pid);
    if (other !== undefined) {
      void environment.close();
      throw storeErrors.inUse(`process ${other} has ${path} open`);
    }
    openHere.add(path);
    return new DatabaseLock(path, environment, reader);
  }

  release(): void {
    openHere.delete(this.#path);
    this.#reader.done();
    void this.#environment.close();
  }
}

/** The kernel refuses LMDB's lock on a process id to another process that has the same id in a container of its own. */
function readerOf(environment: RootDatabase, path: string): Reader {
  try {
    return environment.useReadTransaction();
  } catch (cause) {
    void environment.close();
    throw storeErrors.inUse(`another process of the number ${process.pid} has ${path} open`, { cause });
  }
}

/** Removes what a damaged disk left of LMDB's files or in their place; the environment holds no data. */
function clearDamage(folder: string): void {
  const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder(folder) === false) rmSync(folder);
  for (const name of ["data.mdb", "lock.mdb"]) {
    if (isFolder(join(folder, name)) === true) rmSync(join(folder, name), { recursive: true });
  }
  if (!isSound(join(folder, "data.mdb"))) rmSync(join(folder, "data.mdb"));
}

function isSound(path: string): boolean {
  try {
    checkDataFile(path);
    return true;
  } catch {
    return false;
  }
}

/** LMDB's words alone name neither the directory nor a remedy: a read-only or full disk shows here first. */
function opened<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw storeErrors.cannotOpen(`${path}: ${errorText(cause)}`, { cause });
  }
}

/** Process ids of LMDB's listing: a heading, then a line `pid thread transaction` for each reader. */
function readerPids(listing: string): number[] {
  return [...listing.matchAll(/^\s*(\d+)\s+[0-9a-f]+\s+\S+$/gm)].map((match) => Number(match[1]));
}
