import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNetServer } from "../../src/cli/localnet/processes/net-server.ts";
import { TESTED_VERSION } from "../../src/engine/index.ts";
import { Fixture, ROOT } from "../support/index.ts";
import {
  changeByte,
  fillRoot,
  makeRelease,
  PLATFORM,
  shell,
  TestReleases,
  type Told,
  treeOf,
} from "../support/release.ts";
import { atNight, IS_NIGHT } from "../support/runs.ts";

const run = promisify(execFile);
const { version, dependencies }: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, "package.json"), "utf8"),
);
/** Two whole releases, with other platforms emulated, on a machine with much else to do. */
const MAKING_MS = 1_800_000;
const MAX_ARCHIVE_BYTES = 60_000_000;
const NEXT = "v99.0.0";
/** Files of a whole release that the short form leaves out. */
const WHOLE = [
  `cometbft-${TESTED_VERSION}-linux-arm64.tar.gz`,
  `cometbft-${TESTED_VERSION}-linux-x64.tar.gz`,
  `svc-${version}-1.aarch64.rpm`,
  `svc-${version}-1.x86_64.rpm`,
  `svc-${version}-linux-arm64.tar.gz`,
  `svc-${version}-linux-x64.tar.gz`,
  `svc_${version}_amd64.deb`,
  `svc_${version}_arm64.deb`,
];
const USUAL = "/usr/local/bin:/usr/bin:/bin";

describe("a release", () => {
  const fixture = new Fixture();
  const releases = new TestReleases(join(fixture.folder, "net"));
  const second = join(fixture.folder, "second");
  const files = dirname(releases.archiveOf(`v${version}`));
  const bill = `svc-${version}.cdx.json`;
  let net = "";
  beforeAll(async () => {
    const key = releases.writeKey(join(fixture.folder, "key.pem"));
    for (const folder of IS_NIGHT ? [releases.folder, second] : [releases.folder])
      await makeRelease(folder, key, IS_NIGHT);
    const published = { version: "", chainId: "svc-1", rpcNodes: [], trustedBlock: () => undefined, chainInfo: "{}" };
    const server = await startNetServer(0, { ...published, releases: releases.folder });
    fixture.defer(() => server.close());
    net = server.url;
  }, MAKING_MS);
  afterAll(() => fixture.close());

  /** A line of a user without Node.js in the PATH. */
  const type = (home: string, line: string): Promise<Told> =>
    shell(line, { HOME: home, SVC_NET: net, PATH: `${home}/bin:${USUAL}`, TMPDIR: fixture.folder });
  const INSTALL = `curl -fsS "$SVC_NET/install.sh" | sh`;

  it("is what a network serves: version, installer, package, archive, list of contents, sums and their signature", () => {
    expect(readdirSync(releases.folder).sort()).toEqual(["install.sh", "releases", "version.txt"]);
    expect(readFileSync(join(releases.folder, "version.txt"), "utf8")).toBe(`v${version}\n`);
    const made = IS_NIGHT ? WHOLE : [`svc-${version}-${PLATFORM}.tar.gz`];
    const signed = ["install.sh", bill, `svc-${version}.tgz`, ...made].sort();
    expect(readdirSync(files).sort()).toEqual(["SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sshsig", ...signed]);
    const sums = readFileSync(join(files, "SHA256SUMS"), "utf8").trim().split("\n");
    expect(sums.map((line) => line.split("  ")[1])).toEqual(signed);
    const archives = signed.filter((name) => /^svc-.*-linux-/.test(name));
    for (const name of archives) expect(statSync(join(files, name)).size, name).toBeLessThan(MAX_ARCHIVE_BYTES);
  });

  it("shows a changed byte in each of its files", async () => {
    const copy = join(fixture.folder, "changed");
    cpSync(files, copy, { recursive: true });
    writeFileSync(join(copy, "release.pub"), releases.publicKey);
    const [, key = ""] = /^ssh_key='(.*)'$/m.exec(readFileSync(join(files, "install.sh"), "utf8")) ?? [];
    writeFileSync(join(copy, "keys"), `svc ${key}\n`);
    const verify = [
      "openssl pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig",
      "ssh-keygen -Y verify -f keys -I svc -n svc-release -s SHA256SUMS.sshsig <SHA256SUMS",
      "sha256sum -c --quiet SHA256SUMS",
    ].join(" && ");
    const check = () => shell(`cd ${copy} && ${verify} || exit 1`, { PATH: USUAL });
    expect(await check()).toMatchObject({ code: 0 });
    for (const name of readdirSync(files)) {
      changeByte(join(copy, name));
      expect({ name, code: (await check()).code }).toEqual({ name, code: 1 });
      changeByte(join(copy, name));
    }
  });

  it("lists every package that it needs, and none for building", () => {
    const { components, metadata } = JSON.parse(readFileSync(join(files, bill), "utf8"));
    const listed: string[] = components.map(
      (each: { name: string; version: string }) => `${each.name}@${each.version}`,
    );
    for (const [name, exact] of Object.entries(dependencies)) expect(listed).toContain(`${name}@${exact}`);
    expect(listed.filter((name) => /^(vitest|typescript|esbuild|@biomejs)/.test(name))).toEqual([]);
    expect(metadata.component).toMatchObject({ name: "svc", version });
  });

  atNight(() =>
    it("is the same, byte for byte, when it is made again", () => {
      const [one, other] = [files, join(second, "releases", `v${version}`)].map((folder) => join(folder, "SHA256SUMS"));
      expect(readFileSync(other ?? "", "utf8")).toBe(readFileSync(one ?? "", "utf8"));
    }),
  );

  it.runIf(process.getuid?.() === 0)("is installed where there is no Node.js, and runs there", async () => {
    const root = fixture.tempHome("root");
    const needed = ["uname", "grep", "sort", "head", "readlink", "mkdir", "rmdir", "rm", "mv", "ln", "mktemp", "cut"];
    const libraries = ["libstdc++.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libgcc_s.so.1"];
    fillRoot(root, [...needed, "sh", "sha256sum", "openssl", "tar", "gzip", "curl"], libraries);
    const inside = [
      "unshare",
      "--mount",
      "sh",
      "-c",
      `mount -t proc proc ${root}/proc && exec /usr/sbin/chroot ${root} /bin/sh -c "$0"`,
    ];
    const there = (line: string) => shell(line, { HOME: "/root", SVC_NET: net, PATH: "/root/bin:/bin" }, inside);
    expect(await there("node --version")).toMatchObject({ code: 127, err: expect.stringContaining("node: not found") });
    expect(await there(INSTALL)).toMatchObject({ code: 0, err: "", out: expect.stringContaining("in /root/bin\n") });
    expect(await there("svc version")).toEqual({ code: 0, out: `v${version}\n`, err: "" });
    const made = await there("svc keys add me --keyring-backend test -o json");
    expect(JSON.parse(made.out)).toMatchObject({ name: "me", type: "local" });
    expect((await there("svc query bank balances x --node tcp://127.0.0.1:1")).err).toContain("Error: ");
    expect((await there("svc sdl validate /root/.local/lib/svc/current/examples/web.yaml")).code).toBe(0);
  });

  describe("that was installed", () => {
    const home = fixture.tempHome("user");
    const store = join(home, ".local", "lib", "svc");
    beforeAll(async () => {
      expect(await type(home, INSTALL)).toMatchObject({ code: 0, err: "" });
      releases.addNext(NEXT, releases.archiveOf(`v${version}`), `v${version}`);
    });

    it("tells a newer version when it is asked", async () => {
      expect((await type(home, "svc version --check")).out).toBe(
        `${NEXT} is newer than this v${version}: run svc self update\n`,
      );
      const answer = JSON.parse((await type(home, "svc version --check -o json")).out);
      expect(answer).toEqual({ version: `v${version}`, latest: NEXT, newer: true });
      const none = await type(home, `svc version --check --net http://127.0.0.1:1`);
      expect(none).toMatchObject({ code: 1, err: expect.stringContaining("a file of the network cannot be read") });
    });

    it("stays unchanged when an update is refused", async () => {
      const refused = async (words: string, says: RegExp) => {
        const before = treeOf(home);
        const { code, err } = await type(home, `svc self update ${words}`);
        expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(says) });
        expect(treeOf(home)).toEqual(before);
      };
      changeByte(releases.archiveOf(NEXT));
      await refused("", /not the file that was signed/);
      changeByte(releases.archiveOf(NEXT));
      for (const name of ["SHA256SUMS", "SHA256SUMS.sig"]) {
        changeByte(releases.pathOf(NEXT, name));
        await refused("", /the signature of the release is wrong/);
        changeByte(releases.pathOf(NEXT, name));
      }
      await refused("--version v98.0.0", /answers 404/);
      await refused("--version 1", /it is no version/);
      await refused("--net ftp://x", /it is no address of a network/);
      releases.publish("v0.0.1");
      await refused("", /v0.0.1 of .* is older than the installed v.*: the network offers an older version/);
      releases.publish(NEXT);
    });

    it("updates itself, and returns to the version before", async () => {
      const updated = await type(home, "svc self update");
      expect(updated).toEqual({ code: 0, out: `svc ${NEXT} is in the place of v${version}\n`, err: "" });
      expect((await type(home, "svc version")).out).toBe(`${NEXT}\n`);
      const again = await type(home, "svc self update -o json");
      expect(JSON.parse(again.out)).toEqual({ version: NEXT, before: NEXT });
      const back = await type(home, "svc self rollback -o json");
      expect(JSON.parse(back.out)).toEqual({ version: `v${version}`, before: NEXT });
      expect((await type(home, "svc version")).out).toBe(`v${version}\n`);
      expect(readdirSync(store).sort()).toEqual(["current", "net", "previous", `v${version}`, NEXT].sort());
    });

    it("keeps the files of a version that a process runs, and no others than the last two", async () => {
      const running = execFile(join(store, `v${version}`, "lib", "node"), ["-e", "setTimeout(() => {}, 600_000)"]);
      fixture.defer(() => running.kill("SIGKILL"));
      releases.addTrial("v99.1.0");
      expect((await type(home, `svc self update --version ${NEXT}`)).code).toBe(0);
      expect((await type(home, "svc self update")).code).toBe(0);
      expect(readdirSync(store)).toEqual(expect.arrayContaining([`v${version}`, NEXT, "v99.1.0"]));
    });

    it("takes CometBFT from the network, and refuses another program than the signed one", async () => {
      const [own, name] = [`v${version}`, `cometbft-${TESTED_VERSION}-${PLATFORM}`];
      const program = join(fixture.tempHome("engine"), name, "cometbft");
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(program, `#!/bin/sh\necho ${TESTED_VERSION}\n`, { mode: 0o755 });
      const archive = releases.pathOf(own, `${name}.tar.gz`);
      await run("tar", ["-czf", archive, "-C", dirname(dirname(program)), name]);
      releases.sign(own);
      const line = `${join(store, own, "bin", "svc")} engine install --net ${net} -o json`;
      changeByte(archive);
      const refused = await type(home, line);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("not the file that was signed") });
      expect(existsSync(join(home, ".svc", "cometbft", "bin", "cometbft"))).toBe(false);
      changeByte(archive);
      const target = join(home, ".svc", "cometbft", "bin", "cometbft");
      expect(JSON.parse((await type(home, line)).out)).toEqual({ path: target, version: TESTED_VERSION });
      expect(readdirSync(join(home, ".svc", "cometbft"))).toEqual(["bin"]);
      rmSync(archive);
      rmSync(target);
      releases.sign(own);
      const go = join(fixture.tempHome("go"), "go");
      writeFileSync(go, '#!/bin/sh\n[ "$1" = env ] && echo go1.26.0 && exit\nexit 1\n', { mode: 0o755 });
      const built = await type(home, `PATH=${dirname(go)}:$PATH ${line}`);
      expect(built.err).toContain(`${own} has no file ${name}.tar.gz`);
      expect(built.err).toMatch(/so Go builds it:\n.*CometBFT could not be built/s);
    });

    it("goes with its two places", async () => {
      mkdirSync(join(home, ".svc"), { recursive: true });
      expect((await type(home, "rm -r ~/.local/lib/svc ~/bin/svc")).code).toBe(0);
      expect(existsSync(join(home, ".svc"))).toBe(true);
    });
  });

  it("is not brought up to date from a checkout", async () => {
    const { code, stderr } = await run(join(ROOT, "svc"), ["self", "update", "--net", net]).catch((error) => error);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("not put in place by install.sh") });
  });
});
