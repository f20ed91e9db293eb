import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Shares } from "../../../../util/servers/index.ts";

/** A layer that is kept for the next image that has it. */
interface Kept {
  readonly path: string;
  readonly size: number;
  /** Time of the last use, milliseconds since the epoch. */
  readonly used: number;
}

const DRAFT = ".part";

/**
 * Downloaded layers, one file each. A public layer is shared; a layer that needed a login is kept for that repository
 * alone, because knowing a digest does not prove the right to the content.
 */
export class Blobs {
  readonly #folder: string;
  readonly #most: bigint;
  /** Tasks that use a file, by its path. */
  readonly #busy = new Shares({ each: Number.POSITIVE_INFINITY });

  /** `most`: bytes that are kept. */
  constructor(folder: string, most: bigint) {
    this.#folder = folder;
    this.#most = most;
  }

  /** Makes the folder, and removes what an interrupted run left. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const drafts = (await readdir(this.#folder)).filter((name) => name.endsWith(DRAFT));
    for (const name of drafts) await rm(join(this.#folder, name), { force: true, recursive: true });
  }

  /** Where the layer is or will be. `owner`: the repository whose login opened it; empty where it is everybody's. */
  path(digest: string, owner: string): string {
    const scope = createHash("sha256").update(owner).digest("hex").slice(0, 16);
    return join(this.#folder, `${owner === "" ? "public" : scope}-${digest.slice("sha256:".length)}`);
  }

  /** Whether it is here, whole. */
  async has(path: string, size: number): Promise<boolean> {
    const found = await stat(path).catch(() => undefined);
    return found?.isFile() === true && found.size === size;
  }

  /** Has `write` fill a separate file, which replaces this one when it is whole. */
  async add(path: string, write: (draft: string) => Promise<void>): Promise<void> {
    const draft = `${path}.${randomBytes(6).toString("hex")}${DRAFT}`;
    try {
      await write(draft);
      // Anything that is not a file, as a damaged disk may leave, must not be in the way.
      if ((await stat(path).catch(() => undefined))?.isDirectory() === true) await rm(path, { recursive: true });
      await rename(draft, path);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Keeps the files while the task runs, and notes their use. */
  async using<T>(paths: readonly string[], task: () => Promise<T>): Promise<T> {
    const taken = paths.map((path) => this.#busy.take(path));
    try {
      return await task();
    } finally {
      const now = new Date();
      for (const give of taken) give?.();
      for (const path of paths) await utimes(path, now, now).catch(() => {});
    }
  }

  /** Removes the layers that were unused for longest, until no more than `most` bytes are left. */
  async trim(most = this.#most): Promise<void> {
    const kept = (await this.#list()).toSorted((a, b) => a.used - b.used);
    let total = kept.reduce((sum, { size }) => sum + BigInt(size), 0n);
    for (const { path, size } of kept) {
      if (total <= most) return;
      if (this.#busy.of(path) > 0) continue;
      await rm(path, { force: true, recursive: true });
      total -= BigInt(size);
    }
  }

  /** Bytes that are kept. */
  async bytes(): Promise<bigint> {
    return (await this.#list()).reduce((sum, { size }) => sum + BigInt(size), 0n);
  }

  async #list(): Promise<Kept[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const kept: Kept[] = [];
    for (const name of names.filter((each) => !each.endsWith(DRAFT))) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined) kept.push({ path, size: found.size, used: found.mtimeMs });
    }
    return kept;
  }
}
