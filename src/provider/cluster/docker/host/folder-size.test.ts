import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { folderBytes } from "./folder-size.ts";

const KIB = 1024;
/** On a disk, as folders of tenants are: one in memory takes no block for itself. */
const ON_DISK = "/var/tmp";

describe("size of folders", () => {
  let folder = "";
  let other = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(ON_DISK, "svc-size-"));
    other = await mkdtemp(join(ON_DISK, "svc-size-"));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
    await rm(other, { recursive: true });
  });

  it("is that of the files inside, not of what links lead to", async () => {
    await writeFile(join(folder, "own"), Buffer.alloc(256 * KIB, 1));
    await writeFile(join(other, "foreign"), Buffer.alloc(4096 * KIB, 1));
    await symlink(other, join(folder, "link"));
    const size = await folderBytes([folder]);
    expect(size).toBeGreaterThanOrEqual(BigInt(256 * KIB));
    expect(size).toBeLessThan(BigInt(1024 * KIB));
    expect(await folderBytes([folder, other])).toBeGreaterThanOrEqual(BigInt(4344 * KIB));
  });

  it("is nothing for empty folders and for those of another machine", async () => {
    expect(await folderBytes([folder, other])).toBe(0n);
    expect(await folderBytes([])).toBe(0n);
    expect(await folderBytes([join(folder, "missing")])).toBe(0n);
  });
});
