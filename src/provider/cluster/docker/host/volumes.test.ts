import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
  const unmount = mountOn(join(root, ".probe"));
  onTestFinished(unmount);
  expect(await volumes.unavailable()).toBeUndefined();
  await volumes.mountLease("lease");
  expect(await volumes.unavailable()).toMatch(/EBUSY/);
});

test("a trial that was killed while its volume was mounted is taken away by the next one, and by the removal of all", async ({
  skip,
}) => {
  const root = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  if ((await new Volumes(root, "loop").unavailable()) !== undefined) skip("volumes cannot be mounted here");
  mountOn(join(root, ".probe", "probe.mnt"));
  expect(await new Volumes(root, "loop").unavailable()).toBeUndefined();
  expect(readdirSync(root)).toEqual([]);
  mountOn(join(root, ".probe", "probe.mnt"));
  await new Volumes(root, "loop").unmountAll();
  rmSync(join(root, ".probe"), { recursive: true });
});

/** Mounts a file system of its own on a folder; returns what takes it away. */
function mountOn(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", folder]);
  return () => void execFileSync("umount", [folder]);
}

/** Volumes in a folder of the test, which is skipped where none can be mounted. */
async function mountable(skip: (note: string) => never) {
  const root = mkdtempSync(join(tmpdir(), "svc-volumes-"));
  const volumes = new Volumes(root, "loop");
  onTestFinished(async () => {
    await volumes.unmountAll();
    rmSync(root, { recursive: true });
  });
  if ((await volumes.unavailable()) !== undefined) skip("volumes cannot be mounted here");
  return { root, volumes };
}

test("a volume that was made is used while it is mounted, and is not made anew when its image is gone", async ({
  skip,
}) => {
  const { root, volumes } = await mountable(skip);
  const volume = { name: "data", size: 1n << 20n, persistent: true };
  const key = { namespace: "lease", replica: "db-0", volume };
  const data = await volumes.ensure(key);
  writeFileSync(join(data, "file"), "kept");
  rmSync(join(root, "lease", "db-0.data.img"));
  expect(existsSync(join(await volumes.ensure(key, { isMade: true }), "file"))).toBe(true);
  await volumes.unmountAll();
  const remedy =
    /^the data of volume data is missing .*used again when .* restored it; close the deployment to give it up/;
  await expect(volumes.ensure(key, { isMade: true })).rejects.toThrow(remedy);
});

test.for(["disk that is mounted on it later", "link to another folder"])(
  "the folder of volumes may be a %s",
  async (place, { skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-volumes-"));
    const root = join(folder, "volumes");
    const volumes = new Volumes(root, "loop");
    const layer = {
      namespace: "lease",
      replica: "db-0-g1",
      volume: { name: ".layer", size: 1n << 20n, persistent: false },
    };
    const key = { ...layer, replica: "db-0", volume: { name: "data", size: 1n << 20n, persistent: true } };
    onTestFinished(() => {
      // Mounts of volumes, then mounts below a disk that is mounted on them.
      for (let round = 0; round < 2; round++) {
        const mounts = execFileSync("findmnt", ["--list", "--noheadings", "--output", "TARGET"], { encoding: "utf8" });
        for (const mount of mounts
          .split("\n")
          .filter((each) => each.startsWith(`${folder}/`))
          .reverse())
          execFileSync("sh", ["-c", 'umount "$0" || true', mount], { stdio: "ignore" });
      }
      rmSync(folder, { recursive: true });
    });
    mkdirSync(join(folder, "real"));
    if (place.startsWith("link")) symlinkSync(join(folder, "real"), root);
    if ((await volumes.unavailable()) !== undefined) skip("volumes cannot be mounted here");
    await volumes.ensure(layer);
    if (place.startsWith("disk")) execFileSync("mount", ["-t", "tmpfs", "svc-test", root]);
    writeFileSync(join(await volumes.ensure(key), "file"), "kept");
    await volumes.discard(layer);
    await volumes.ensure(layer);
    expect(existsSync(join(await volumes.ensure(key, { isMade: true }), "file"))).toBe(true);
    await volumes.removeLease("lease");
    expect(existsSync(join(root, "lease"))).toBe(false);
  },
);

test("a volume that cannot be looked at is not made anew", async ({ skip }) => {
  const { root, volumes } = await mountable(skip);
  const image = join(root, "lease", "db-0.data.img");
  mkdirSync(join(root, "lease"));
  symlinkSync(image, image);
  const volume = { name: "data", size: 1n << 20n, persistent: true };
  for (const isMade of [false, true])
    await expect(volumes.ensure({ namespace: "lease", replica: "db-0", volume }, { isMade })).rejects.toThrow("ELOOP");
  expect(lstatSync(image).isSymbolicLink()).toBe(true);
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
