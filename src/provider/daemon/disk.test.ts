import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Logger, silentLogger } from "../../util/index.ts";
import { leaseNamespace } from "../cluster/index.ts";
import { newRecord } from "../leases/record/record.ts";
import { LeaseStore } from "../leases/record/store.ts";
import { DiskGuard, makeRoom, RESERVE_BYTES } from "./disk.ts";

const MIB = 1n << 20n;
const id = { owner: "svc1owner", dseq: 1n, gseq: 1, oseq: 1, provider: "svc1provider" };

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("makes a reserve where there is room, gives it up on a full disk, and makes it again", () => {
  const folder = tempFolder();
  let free = 1000n * MIB;
  const lines: string[] = [];
  const log: Logger = { ...silentLogger, error: (line) => void lines.push(line) };
  const guard = new DiskGuard({ folder, least: 500n * MIB, log, free: () => free });
  const size = () => statSync(join(folder, "reserve"), { throwIfNoEntry: false })?.size;
  guard.look();
  expect(size()).toBe(RESERVE_BYTES);
  free = 4n * MIB;
  guard.look();
  expect(size()).toBe(RESERVE_BYTES);
  free -= 1n;
  guard.look();
  expect([size(), lines.length]).toEqual([undefined, 1]);
  guard.look();
  expect(lines).toHaveLength(1);
  free = 500n * MIB + 2n * BigInt(RESERVE_BYTES) - 1n;
  guard.look();
  expect(size()).toBeUndefined();
  free += 1n;
  guard.look();
  expect(size()).toBe(RESERVE_BYTES);
});

it("does without a reserve that became a folder, and makes a new one in its place", () => {
  const folder = tempFolder();
  let free = 1000n * MIB;
  const guard = new DiskGuard({ folder, least: 500n * MIB, log: silentLogger, free: () => free });
  const path = join(folder, "reserve");
  mkdirSync(join(path, "full"), { recursive: true });
  guard.look();
  expect(statSync(path).size).toBe(RESERVE_BYTES);
  for (const full of [() => guard.look(), () => guard.release()]) {
    rmSync(path, { force: true });
    mkdirSync(join(path, "full"), { recursive: true });
    free = 0n;
    full();
    expect(existsSync(path)).toBe(false);
  }
});

it("says from which size on it does not bid", () => {
  let free = 500n * MIB;
  const guard = new DiskGuard({ folder: "/x", least: 500n * MIB, log: silentLogger, free: () => free });
  expect(guard.obstacle()).toBeUndefined();
  free -= 1n;
  expect(guard.obstacle()?.text).toBe(
    "the disk of /x has 499 MiB free, less than 500 MiB: make room, or set --provider-least-free-disk",
  );
  const unknown = new DiskGuard({ folder: "/does/not/exist", least: MIB, log: silentLogger });
  unknown.look();
  expect(unknown.obstacle()).toBeUndefined();
});

// A separate disk needs root; the tests above hold the same rules everywhere.
it.skipIf(process.getuid?.() !== 0)("records leases on a disk that is full to the last byte", () => {
  const mount = tempFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", mount], { stdio: "ignore" });
  } catch {
    return;
  }
  try {
    const folder = join(mount, "provider");
    mkdirSync(folder);
    const guard = new DiskGuard({ folder, least: MIB, log: silentLogger });
    guard.look();
    const plain = new LeaseStore(join(folder, "leases"), silentLogger);
    fill(mount);
    expect(() => plain.save(newRecord(id, 1))).toThrow(/ENOSPC/);
    expect(guard.obstacle()?.text).toMatch(/has 0 MiB free/);
    const store = new LeaseStore(join(folder, "leases"), silentLogger, () => guard.release());
    store.save(newRecord(id, 1));
    expect(store.load().map((record) => leaseNamespace(record.id))).toEqual([leaseNamespace(id)]);
    // The disk fills again, and the next start finds neither room nor a reserve; existing records are read and closed.
    fill(mount);
    makeRoom(folder);
    expect(store.load()).toHaveLength(1);
    store.remove(id);
    expect(store.load()).toEqual([]);
  } finally {
    execFileSync("umount", [mount]);
  }
});

it("gives nothing up before a start on a disk with room", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "reserve"), "x");
  makeRoom(folder);
  expect(existsSync(join(folder, "reserve"))).toBe(true);
  makeRoom(join(folder, "nothing here"));
});

let fills = 0;
function fill(mount: string): void {
  const name = `fill-${fills++}`;
  for (const bytes of [1 << 20, 4096, 1]) {
    try {
      for (let part = 0; ; part++) writeFileSync(join(mount, `${name}-${bytes}-${part}`), Buffer.alloc(bytes));
    } catch {
      rmSync(join(mount, `${name}-${bytes}-x`), { force: true });
    }
  }
}
