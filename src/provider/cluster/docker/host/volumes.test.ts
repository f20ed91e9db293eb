import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Volumes } from "./volumes.ts";

test("whether volumes can be made is tried again after it failed, as on a full disk", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const root = join(folder, "volumes");
  writeFileSync(root, "");
  const volumes = new Volumes(root, "loop");
  expect(await volumes.unavailable()).toMatch(/need loop devices .*ENOTDIR/);
  rmSync(root);
  // Without the rights for a mount there is another reason now.
  expect((await volumes.unavailable()) ?? "").not.toContain("ENOTDIR");
});

test("whether volumes can be mounted is tried again after a mount has failed", async ({ skip }) => {
  const root = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const volumes = new Volumes(root, "loop");
  if ((await volumes.unavailable()) !== undefined) skip("volumes cannot be mounted here");
  mkdirSync(join(root, "lease", "web-0.data.mnt"), { recursive: true });
  writeFileSync(join(root, "lease", "web-0.data.img"), "no file system");
  // From now on no other volume can be made.
  writeFileSync(join(root, `.probe-${process.pid}`), "");
  expect(await volumes.unavailable()).toBeUndefined();
  await volumes.mountLease("lease");
  expect(await volumes.unavailable()).toMatch(/EEXIST/);
});

test("a volume that was made is used while it is mounted, and is not made anew when its image is gone", async ({
  skip,
}) => {
  const root = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  const volumes = new Volumes(root, "loop");
  onTestFinished(async () => {
    await volumes.unmountAll();
    rmSync(root, { recursive: true });
  });
  if ((await volumes.unavailable()) !== undefined) skip("volumes cannot be mounted here");
  const volume = { name: "data", size: 1n << 20n, persistent: true };
  const key = { namespace: "lease", replica: "db-0", volume };
  const data = await volumes.ensure(key);
  writeFileSync(join(data, "file"), "kept");
  rmSync(join(root, "lease", "db-0.data.img"));
  expect(existsSync(join(await volumes.ensure(key, { isMade: true }), "file"))).toBe(true);
  await volumes.unmountAll();
  await expect(volumes.ensure(key, { isMade: true })).rejects.toThrow("the data of volume data is missing");
});

test("a file that is written while a volume is discarded stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const volumes = new Volumes(join(folder, "volumes"), "none");
  const volume = { name: "layer", mount: "/", size: 1n << 20n, readOnly: false, persistent: false };
  for (let round = 0; round < 100; round++) {
    const key = { namespace: `lease-${round}`, replica: "web-0", volume };
    const files = ["hosts", "hostname", "resolv.conf"].map((name) => volumes.writeFile(key.namespace, name, "text"));
    const [paths] = await Promise.all([Promise.all(files), volumes.discard(key)]);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  }
});
