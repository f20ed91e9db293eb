import { cpSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "./bounded.ts";
import type { Fixture } from "./fixture.ts";
import type { TestProvider } from "./provider.ts";

const MEBIBYTE = 1 << 20;
const CHUNK = Buffer.alloc(MEBIBYTE, 1);
/** Files that take up a disk. */
const FILLER = "filler";

/** Gives a provider without leases its own disk for its folder; the provider runs again afterwards. */
export async function moveToDisk(fixture: Fixture, provider: TestProvider, mebibytes: number): Promise<void> {
  const folder = join(provider.home, "provider");
  await provider.process.stop();
  await provider.purge();
  renameSync(folder, `${folder}.old`);
  mkdirSync(folder, { mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0700`, "tmpfs", folder]);
  fixture.defer(() => execFileSync("umount", ["--lazy", folder]));
  fixture.defer(() => provider.purge());
  cpSync(`${folder}.old`, folder, { recursive: true, filter: (path) => !path.includes("/plane") });
  rmSync(`${folder}.old`, { recursive: true });
  await provider.start();
}

/** Fills nearly all the free space on the disk of a folder; space that becomes free later is for `fillWhole`. */
export function fillDisk(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = Math.floor((bavail * bsize) / MEBIBYTE);
  const filler = join(folder, FILLER);
  execFileSync("fallocate", ["-l", `${free - 1}MiB`, filler]);
  fillWhole(folder);
}

/** Fills the rest of the disk, to the last byte. */
export function fillWhole(folder: string): void {
  for (let size = CHUNK.length; size > 512; size >>= 1) {
    try {
      for (;;) writeFileSync(join(folder, FILLER), CHUNK.subarray(0, size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}

export function freeDisk(folder: string): void {
  rmSync(join(folder, FILLER), { force: true });
}
