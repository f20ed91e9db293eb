import { chmodSync, linkSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLogger, silentLogger } from "../../../../util/index.ts";
import { giveFolder, LeaseUsers, usersOption } from "./users.ts";

const NAMESPACE = "0123456789abcdefghijklmnopqrstuv0123456789abc";

describe("users of leases", () => {
  it("are on where engine and kernel can do it, and said to be off with the reason otherwise", async () => {
    const lines: string[] = [];
    const users = new LeaseUsers(
      true,
      createLogger({ level: "info", format: "plain", write: (line) => lines.push(line) }),
    );
    const works = async () => {};
    expect(users.first(NAMESPACE)).toBe(0);
    await users.look("podman", false, works);
    expect(users.first(NAMESPACE)).toBeGreaterThan(0);
    await users.look("podman", false, () => Promise.reject(new Error("no space left on device")));
    expect(users.first(NAMESPACE)).toBe(0);
    await users.look("docker", false, works);
    expect(users.first(NAMESPACE)).toBe(0);
    // Mapped by the engine itself: nothing to ask for.
    await users.look("podman", true, works);
    expect(users.first(NAMESPACE)).toBe(0);
    expect(lines.map((line) => /containers.*|the engine .*/.exec(line)?.[0])).toEqual([
      expect.stringContaining("have their own users"),
      expect.stringMatching(/no space left on device.*max_user_namespaces/),
      expect.stringContaining("userns-remap"),
    ]);
    const unasked = new LeaseUsers(false, silentLogger);
    await unasked.look("podman", false, works);
    expect(unasked.first(NAMESPACE)).toBe(0);
  });

  it("are given up for good when the engine refuses them, and only then", async () => {
    const users = new LeaseUsers(true, silentLogger);
    await users.look("podman", false, async () => {});
    expect(users.refused("invalid signal: userns", { isTrial: false })).toBe(false);
    expect(users.refused("no space left on device", { isTrial: true })).toBe(false);
    expect(users.refused("could not find enough available IDs", { isTrial: true })).toBe(true);
    expect(users.first(NAMESPACE)).toBe(0);
    expect(users.refused("could not find enough available IDs", { isTrial: true })).toBe(false);
  });

  it("have ids that nothing else on the host has, the same at every start", async () => {
    const users = new LeaseUsers(true, silentLogger);
    await users.look("podman", false, async () => {});
    const firsts = ["000000", "vvvvvv", "0000001", "0003vu", "0003vt"].map((start) => users.first(start));
    for (const first of firsts) {
      // Where distributions and service managers leave ids alone: 1879048192 to 2147352575.
      expect(first).toBeGreaterThanOrEqual(1_879_048_192);
      expect(first + 65_535).toBeLessThanOrEqual(2_147_352_575);
      expect(first % 65_536).toBe(0);
    }
    expect(users.first(NAMESPACE)).toBe(users.first(NAMESPACE));
    expect(usersOption(1_879_048_192)).toBe(
      "auto:size=65536,uidmapping=0:1879048192:65536,gidmapping=0:1879048192:65536",
    );
  });
});

describe.skipIf(process.getuid?.() !== 0)("a folder that changes hands", () => {
  it("is given whole, with its links as links, and back", async () => {
    const root = mkdtempSync(join(tmpdir(), "svc-users-"));
    const outside = join(root, "outside");
    const folder = join(root, "data");
    writeFileSync(outside, "");
    mkdirSync(join(folder, "deep"), { recursive: true });
    writeFileSync(join(folder, "deep", "program"), "");
    chmodSync(join(folder, "deep", "program"), 0o4755);
    linkSync(join(folder, "deep", "program"), join(folder, "same"));
    symlinkSync(outside, join(folder, "link"));
    const owner = (path: string) => lstatSync(join(root, path)).uid;
    const paths = ["data", "data/deep", "data/deep/program", "data/same", "data/link"];
    try {
      const first = 1_879_048_192 + 65_536 * 7;
      await giveFolder(folder, first);
      expect(paths.map(owner)).toEqual(paths.map(() => first));
      expect(owner("outside")).toBe(0);
      expect(lstatSync(join(folder, "same")).mode & 0o7777).toBe(0o4755);
      await giveFolder(folder, first + 65_536);
      expect(paths.map(owner)).toEqual(paths.map(() => first + 65_536));
      await giveFolder(folder, 0);
      expect(paths.map(owner)).toEqual(paths.map(() => 0));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
