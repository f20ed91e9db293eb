import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, ROOT } from "../support/index.ts";
import { makeRelease, PLATFORM, TestReleases } from "../support/release.ts";
import { atNight } from "../support/runs.ts";

/**
 * Packages for distributions. The short form looks into packages of a small archive. The long one installs, upgrades and
 * removes them in a Debian of its own, and runs the image: it needs root, debootstrap, lintian, rpm and Podman.
 */

const exec = promisify(execFile);
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await exec(command, args, { maxBuffer: 2 ** 26 })).stdout;
const node = (tool: string, ...args: string[]): Promise<string> =>
  run(process.execPath, join(ROOT, "tools", ...tool.split("/")), ...args);
const fixture = new Fixture();
afterAll(() => fixture.close());

/** An archive with the files that packages put in places of their own, and no Node.js. */
async function smallArchive(): Promise<string> {
  const top = join(fixture.folder, "svc-1.2.3-linux-x64");
  for (const folder of ["bin", "completion", "man/man1"]) mkdirSync(join(top, folder), { recursive: true });
  writeFileSync(join(top, "bin", "svc"), "#!/bin/sh\necho v1.2.3\n");
  chmodSync(join(top, "bin", "svc"), 0o755);
  for (const shell of ["bash", "zsh", "fish"]) writeFileSync(join(top, "completion", `svc.${shell}`), "# words\n");
  writeFileSync(join(top, "man", "man1", "svc.1"), ".TH SVC 1\n");
  await run("tar", "-czf", `${top}.tar.gz`, "-C", fixture.folder, "svc-1.2.3-linux-x64");
  return `${top}.tar.gz`;
}

describe("the packages of a small archive", () => {
  let deb = "";
  let rpm = "";
  beforeAll(async () => {
    [deb = "", rpm = ""] = (await node("release/linux.mjs", await smallArchive(), fixture.folder)).trim().split("\n");
  });

  it("have the version of the archive, and what a machine needs for them", async () => {
    expect([deb, rpm]).toEqual([
      join(fixture.folder, "svc_1.2.3_amd64.deb"),
      join(fixture.folder, "svc-1.2.3-1.x86_64.rpm"),
    ]);
    const fields = await run("dpkg-deb", "--field", deb);
    expect(fields).toMatch(/^Package: svc$/m);
    expect(fields).toMatch(/^Version: 1\.2\.3$/m);
    expect(fields).toMatch(/^Depends: libc6 \(>= 2\.28\)/m);
    expect(fields).toMatch(/^Recommends: .*podman/m);
    // The mark with which a file of RPM begins.
    expect(readFileSync(rpm).subarray(0, 4).toString("hex")).toBe("edabeedb");
  });

  it("put the command, pages, completion, units and settings where Debian has them", async () => {
    const listing = await run("dpkg-deb", "--contents", deb);
    const rows = listing
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/));
    expect(listing).toContain("/usr/bin/svc -> ../lib/svc/bin/svc\n");
    const modes = Object.fromEntries(rows.map(([mode, , , , , path = ""]) => [path.slice(1), mode]));
    expect(modes).toMatchObject({
      "/usr/lib/svc/bin/svc": "-rwxr-xr-x",
      "/usr/share/man/man1/svc.1.gz": "-rw-r--r--",
      "/usr/share/bash-completion/completions/svc": "-rw-r--r--",
      "/usr/share/zsh/vendor-completions/_svc": "-rw-r--r--",
      "/usr/share/fish/vendor_completions.d/svc.fish": "-rw-r--r--",
      "/usr/lib/systemd/system/svc-node.service": "-rw-r--r--",
      "/usr/lib/systemd/system/svc-provider.service": "-rw-r--r--",
      "/etc/svc/node.env": "-rw-r-----",
      "/etc/svc/provider.env": "-rw-------",
    });
    expect(new Set(rows.map(([, owner]) => owner))).toEqual(new Set(["root/root"]));
    expect(await run("dpkg-deb", "--info", deb, "conffiles")).toBe("/etc/svc/node.env\n/etc/svc/provider.env\n");
  });

  it("start the program of the package, the node as its own user, and leave leases alone", async () => {
    const folder = join(fixture.folder, "unpacked");
    await run("dpkg-deb", "--extract", deb, folder);
    const unit = (name: string): string => readFileSync(join(folder, "usr/lib/systemd/system", name), "utf8");
    const own = unit("svc-node.service");
    expect(own).toBe(readFileSync(join(ROOT, "deploy/systemd/svc-node.service"), "utf8"));
    expect(own).toMatch(/^User=svc$/m);
    const provider = unit("svc-provider.service");
    expect(provider).toContain("ExecStart=/usr/bin/svc provider run --keyring-passphrase-file %d/passphrase\n");
    expect(provider).toMatch(/^KillMode=process$/m);
    expect(provider).not.toMatch(/^User=/m);
  });

  it("are the same bytes when they are made again", async () => {
    const again = join(fixture.folder, "again");
    mkdirSync(again);
    await node("release/linux.mjs", join(fixture.folder, "svc-1.2.3-linux-x64.tar.gz"), again);
    for (const path of [deb, rpm]) {
      const copy = join(again, path.slice(fixture.folder.length));
      expect(readFileSync(copy).equals(readFileSync(path)), path).toBe(true);
    }
  });
});

atNight(() =>
  describe("on a Debian of their own", () => {
    const root = join(fixture.folder, "debian");
    const inside = (...words: string[]): Promise<string> => run("chroot", root, ...words);
    const asNode = (line: string): Promise<string> => inside("su", "-s", "/bin/sh", "svc", "-c", line);
    const archives = join(fixture.folder, "archives");
    let debs: string[] = [];

    beforeAll(async () => {
      const releases = new TestReleases(join(fixture.folder, "net"));
      await makeRelease(releases.folder, releases.writeKey(join(fixture.folder, "key.pem")));
      const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
      const made = releases.archiveOf(`v${version}`);
      mkdirSync(archives);
      for (const name of [basename(made), `svc-9.9.9-${PLATFORM}.tar.gz`]) {
        copyFileSync(made, join(archives, name));
        await node("release/linux.mjs", join(archives, name), archives);
      }
      debs = readdirSync(archives)
        .filter((name) => name.endsWith(".deb"))
        .sort();
      const [site = ""] = (await run("apt-get", "indextargets", "--format", "$(SITE)")).split("\n");
      await run("debootstrap", "--variant=minbase", "bookworm", root, site);
      for (const deb of debs) copyFileSync(join(archives, deb), join(root, deb));
    }, 1_200_000);

    it("lintian finds no error", async () => {
      const words = ["--allow-root", "--fail-on", "error", join(archives, debs[0] ?? "")];
      // Its findings are no part of the error.
      await run("lintian", ...words).catch(({ message, stdout }) => expect.fail(`${message}${stdout}`));
    }, 600_000);

    it("one is installed, upgraded, removed and purged, and homes and settings stay", async () => {
      await inside("dpkg", "--install", `/${debs[0]}`);
      expect(await asNode("svc help money")).toContain("Prices are per block");
      expect(existsSync(join(root, "usr/share/man/man1/svc-tx-bank-send.1.gz"))).toBe(true);
      await asNode("svc init first --home /var/lib/svc --chain-id packaged-1");
      const settings = join(root, "etc/svc/provider.env");
      writeFileSync(settings, "SVC_FROM=me\n");
      const genesis = join(root, "var/lib/svc/config/genesis.json");
      const before = readFileSync(genesis, "utf8");

      await inside("dpkg", "--install", "--force-confold", `/${debs[1]}`);
      expect(await inside("dpkg", "--status", "svc")).toMatch(/^Version: 9\.9\.9$/m);
      expect(readFileSync(settings, "utf8")).toBe("SVC_FROM=me\n");

      await inside("dpkg", "--remove", "svc");
      expect(existsSync(join(root, "usr/lib/svc"))).toBe(false);
      expect([readFileSync(settings, "utf8"), readFileSync(genesis, "utf8")]).toEqual(["SVC_FROM=me\n", before]);
      writeFileSync(join(root, "etc/svc/passphrase"), "secret words\n");

      const said = await inside("dpkg", "--purge", "svc");
      expect(said).toContain(
        "svc: these stay, because they may hold keys, chains and volumes of tenants: /etc/svc /var/lib/svc\n",
      );
      expect(existsSync(settings)).toBe(false);
      expect(readFileSync(genesis, "utf8")).toBe(before);
    }, 600_000);

    it("rpm installs, upgrades and removes the other package, and settings stay", async () => {
      const rpms = readdirSync(archives).filter((name) => name.endsWith(".rpm"));
      const [rpm = "", next = ""] = rpms.sort().map((name) => join(archives, name));
      const inRoot = (...words: string[]): Promise<string> => run("rpm", "--root", root, ...words);
      // The database of this Debian's rpm knows none of its libraries.
      await inRoot("--nodeps", "--install", rpm);
      expect(await asNode("svc help money")).toContain("Prices are per block");
      const settings = join(root, "etc/svc/provider.env");
      writeFileSync(settings, "SVC_FROM=me\n");
      await inRoot("--nodeps", "--upgrade", next);
      expect(await inRoot("--query", "svc")).toBe("svc-9.9.9-1.x86_64\n");
      expect(readFileSync(settings, "utf8")).toBe("SVC_FROM=me\n");
      const told = await inRoot("--nodeps", "--verify", "svc").catch(({ stdout }: { stdout: string }) => stdout);
      expect(told).toMatch(/^\S+ +c \/etc\/svc\/provider\.env\n$/);
      await inRoot("--erase", "svc");
      expect(existsSync(join(root, "usr/lib/svc"))).toBe(false);
      expect(readFileSync(`${settings}.rpmsave`, "utf8")).toBe("SVC_FROM=me\n");
    }, 600_000);

    it("the image runs read-only as an ordinary user", async () => {
      const image = `localhost/svc-packages-${process.pid}`;
      const volume = `svc-packages-${process.pid}`;
      const archive = join(fixture.folder, "base.tar");
      const podman = (...words: string[]): Promise<string> => run("podman", ...words);
      // The home that the package left there is of no use to the image.
      await run("tar", "-cf", archive, "--exclude=./var/lib/svc", "-C", root, ".");
      const base = (await podman("import", archive)).trim();
      rmSync(archive);
      const context = join(fixture.folder, "context");
      mkdirSync(context);
      const [name = ""] = readdirSync(archives).filter((each) => each.endsWith(".tar.gz") && !each.includes("9.9.9"));
      copyFileSync(join(archives, name), join(context, name));
      try {
        const file = join(ROOT, "deploy", "image", "Containerfile");
        await podman("build", "--build-arg", `BASE=${base}`, "-t", image, "-f", file, context);
        const flags = ["--rm", "--read-only", "--cap-drop", "all", "--network", "none", "-v", `${volume}:/var/lib/svc`];
        await podman("run", ...flags, image, "init", "first", "--chain-id", "packaged-1");
        const home = await podman(
          "run",
          ...flags,
          "--entrypoint",
          "sh",
          image,
          "-c",
          "id -u; ls -d /var/lib/svc/config/*",
        );
        expect(home).toMatch(/^1000\n/);
        expect(home).toContain("/var/lib/svc/config/genesis.json\n");
        expect(await podman("run", ...flags, image, "version")).toMatch(/^v\d/);
        // As the chart starts the provider, which misses a cluster here.
        const provider = podman("run", ...flags, "--env", "SVC_CLUSTER_ORCH=true", image, "provider", "run");
        await expect(provider).rejects.toThrow(/Error: .*from/);
      } finally {
        await podman("volume", "rm", "--force", volume);
        await podman("rmi", "--force", image, base);
      }
    }, 600_000);
  }),
);
