import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { startNetServer } from "../../src/cli/localnet/processes/net-server.ts";
import { execFileSync } from "../support/bounded.ts";
import { Fixture } from "../support/index.ts";
import { changeByte, newKey, PLATFORM, shell, TestReleases, type Told, treeOf } from "../support/release.ts";

/** The installer with releases whose program is a short script, on this machine. test/e2e/release.test.ts installs the program itself. */

const IS_ROOT = process.getuid?.() === 0;
const fixture = new Fixture();
let count = 0;

/** A network with its releases, and a user's empty home. */
async function network(): Promise<{ releases: TestReleases; home: string; net: string }> {
  count += 1;
  const releases = new TestReleases(join(fixture.folder, `net-${count}`));
  const files = { version: "", chainId: "svc-1", rpcNodes: [], trustedBlock: () => undefined, chainInfo: "{}" };
  const server = await startNetServer(0, { ...files, releases: releases.folder });
  fixture.defer(() => server.close());
  return { releases, home: fixture.tempHome(`user-${count}`), net: server.url };
}

interface Wish {
  readonly net: string;
  readonly home: string;
  readonly words?: string;
  readonly path?: string;
}

const USUAL = "/usr/local/bin:/usr/bin:/bin";
const asEnv = ({ net, home, path = USUAL }: Wish) => ({ HOME: home, SVC_NET: net, PATH: path, TMPDIR: fixture.folder });
const install = (wish: Wish): Promise<Told> =>
  shell(`curl -fsS "$SVC_NET/install.sh" | sh -s -- ${wish.words ?? ""}`, asEnv(wish));
const told = async (home: string) => (await shell(`${home}/bin/svc version`, { PATH: USUAL })).out.trim();

/** An OpenSSL that cannot check signatures with ed25519. */
const OLD_OPENSSL = { openssl: "echo OpenSSL 1.1.1", curl: undefined };
const NEEDED =
  "uname grep sort head readlink mkdir rmdir rm mv ln mktemp cut cat sha256sum tar gzip wget sh printf".split(" ");

/** A folder with the programs that the installer needs, and others: of this machine, or the text of a script. */
function programs(others: Readonly<Record<string, string | undefined>>): string {
  count += 1;
  const folder = fixture.tempHome(`programs-${count}`);
  const own = NEEDED.map((name) => [name, undefined] as const);
  for (const [name, text] of [...own, ...Object.entries(others)]) {
    const path = join(folder, name);
    if (text === undefined)
      symlinkSync(
        execFileSync("sh", ["-c", `command -v ${name}`])
          .toString()
          .trim(),
        path,
      );
    else writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return folder;
}

afterAll(() => fixture.close());

describe("install.sh", () => {
  it("installs the published version into ~/bin, once, and says how it comes into the PATH", async () => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.3");
    const first = await install({ net, home });
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toContain(`svc v1.2.3 is installed in ${home}/bin\n`);
    expect(first.out).toContain(`export PATH="${home}/bin:$PATH"`);
    expect(await told(home)).toBe("v1.2.3");
    const again = await install({ net, home, path: `${home}/bin:${USUAL}` });
    expect(again).toEqual({ code: 0, out: `svc v1.2.3 is installed in ${home}/bin\n`, err: "" });
  });

  it("puts a newer version in place by one link and keeps the one before, also with wget and another --prefix", async () => {
    const { releases, home, net } = await network();
    const prefix = join(home, "opt");
    const wish = { net, home, words: `--prefix ${prefix} --net ${net}/`, path: programs({ openssl: undefined }) };
    releases.addTrial("v1.2.3");
    const script = `sh ${releases.folder}/install.sh ${wish.words}`;
    expect(await shell(script, asEnv(wish))).toMatchObject({ code: 0, err: "" });
    releases.addTrial("v1.10.0");
    expect(await shell(script, asEnv(wish))).toMatchObject({ code: 0, err: "" });
    expect(await told(prefix)).toBe("v1.10.0");
    const links = treeOf(prefix).filter((line) => line.includes(" -> "));
    const store = join(prefix, "lib", "svc");
    expect(links).toEqual([
      `${prefix}/bin/svc -> ${store}/current/bin/svc`,
      `${store}/current -> v1.10.0`,
      `${store}/previous -> v1.2.3`,
    ]);
    expect(existsSync(join(store, "v1.2.3", "bin", "svc"))).toBe(true);
  });

  it("has ssh-keygen check the signature where OpenSSL is older than 3", async () => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.3");
    const path = programs({ ...OLD_OPENSSL, "ssh-keygen": undefined });
    expect(await shell(`sh ${releases.folder}/install.sh`, asEnv({ net, home, path }))).toMatchObject({ code: 0 });
    expect(await told(home)).toBe("v1.2.3");
  });

  it("installs an older version if it is named, or with --force", async () => {
    const { releases, home, net } = await network();
    for (const version of ["v1.0.0", "v1.1.0", "v1.2.0"]) releases.addTrial(version);
    await install({ net, home });
    expect((await install({ net, home, words: "--version v1.1.0" })).code).toBe(0);
    expect(await told(home)).toBe("v1.1.0");
    releases.publish("v1.0.0");
    expect((await install({ net, home, words: "--force" })).code).toBe(0);
    expect(await told(home)).toBe("v1.0.0");
  });

  it("mends an installation whose files are gone, also when its folder is named in another way", async () => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.3");
    const wish = { net, home, words: `--prefix ${home}` };
    expect((await install(wish)).code).toBe(0);
    for (const gone of ["bin/svc", "lib/svc/v1.2.3"]) {
      rmSync(join(home, gone), { recursive: true });
      expect(await install(wish)).toMatchObject({ code: 0, err: "" });
      expect(await told(home)).toBe("v1.2.3");
    }
    releases.addTrial("v1.2.4");
    symlinkSync(home, `${home}-link`);
    expect((await install({ ...wish, words: `--prefix ${home}-link/` })).code).toBe(0);
    expect(await told(home)).toBe("v1.2.4");
  });

  it.each(["000", "077"])("gives its files the same modes with umask %s", async (mask) => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.3");
    const line = `umask ${mask}; sh ${releases.folder}/install.sh >&2; find . -mindepth 1 ! -type l ! -perm 755 ! -perm 644`;
    expect(await shell(`cd ${home}; ${line}`, asEnv({ net, home }))).toMatchObject({ code: 0, out: "" });
  });

  it("removes what an installer that was killed left behind, and does nothing when it was cut itself", async () => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.3");
    const script = join(releases.folder, "install.sh");
    const whole = readFileSync(script, "utf8");
    for (const part of [0.3, 0.6, 0.99]) {
      writeFileSync(script, whole.slice(0, Math.floor(whole.length * part)));
      await install({ net, home });
      expect(treeOf(home)).toEqual([]);
    }
    writeFileSync(script, whole);
    const remains = join(home, ".local", "lib", "svc", ".incoming.999999999");
    mkdirSync(remains, { recursive: true });
    expect((await install({ net, home })).code).toBe(0);
    expect(existsSync(remains)).toBe(false);
  });
});

interface Refusal {
  readonly name: string;
  readonly says: RegExp;
  readonly change?: (releases: TestReleases, home: string) => void;
  readonly words?: string;
  readonly path?: () => string;
}

/** A folder with a program that hides the one of this machine. */
function withProgram(name: string, text: string): () => string {
  return () => {
    count += 1;
    const folder = fixture.tempHome(`with-${name}-${count}`);
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
    return `${folder}:${USUAL}`;
  };
}

const sums = (releases: TestReleases) => releases.pathOf("v1.3.0", "SHA256SUMS");

const REFUSALS: readonly Refusal[] = [
  {
    name: "an archive with other bytes",
    says: /is not the file that was signed: its SHA-256 differs/,
    change: (releases) => changeByte(releases.archiveOf("v1.3.0")),
  },
  {
    name: "an archive that was cut",
    says: /is not the file that was signed/,
    change: (releases) => truncateSync(releases.archiveOf("v1.3.0"), 100),
  },
  {
    name: "a list of files with other bytes",
    says: /the signature of v1.3.0 at .* is wrong/,
    change: (releases) => changeByte(sums(releases)),
  },
  {
    name: "a signature with other bytes",
    says: /the signature of v1.3.0 at .* is wrong/,
    change: (releases) => changeByte(`${sums(releases)}.sig`),
  },
  {
    name: "an empty signature",
    says: /the signature of v1.3.0 at .* is wrong/,
    change: (releases) => writeFileSync(`${sums(releases)}.sig`, ""),
  },
  {
    name: "a signature of another key",
    says: /the signature of v1.3.0 at .* is wrong/,
    change: (releases) => releases.sign("v1.3.0", newKey()),
  },
  {
    name: "a release of other contents under a new number",
    says: /holds v1.0.0/,
    change: (releases) => releases.addTrial("v1.3.0", "v1.0.0"),
  },
  {
    name: "a release without this platform",
    says: /has no archive for/,
    change: (releases) => {
      releases.signText("v1.3.0", readFileSync(sums(releases), "utf8").replaceAll(PLATFORM, "linux-vax"));
    },
  },
  {
    name: "a published version that is older than the installed one",
    says: /the network offers v1.1.0, which is older than the installed v1.2.0\nHint: .*--version v1.1.0/,
    change: (releases) => releases.publish("v1.1.0"),
  },
  {
    name: "a published version of no form",
    says: /is no version/,
    change: (releases) => writeFileSync(join(releases.folder, "version.txt"), "../../etc\n"),
  },
  {
    name: "a published version of a program for terminals",
    says: /^Error: what http:\S+ holds is no version\n/,
    change: (releases) => writeFileSync(join(releases.folder, "version.txt"), "\u001b]0;mine\u0007\n"),
  },
  { name: "a version of two lines", says: /is no version/, words: "--version 'v1.3.0\n/../v1.3.0'" },
  ...["version.txt", "releases/v1.3.0/SHA256SUMS"].map(
    (file): Refusal => ({
      name: `a ${file} without end`,
      says: /could not be brought to \S+ \(at most 64 KiB\)/,
      change: (releases) => writeFileSync(join(releases.folder, file), "v1.3.0\n".repeat(100_000)),
    }),
  ),
  {
    name: "another installer at work",
    says: /another installation in .* is going on, by the process 1\n/,
    change: (_, home) => mkdirSync(join(home, ".local", "lib", "svc", ".incoming.1")),
  },
  {
    name: "an ssh-keygen that checks no signatures",
    says: /nothing here can check the signature of the release/,
    path: () => programs({ ...OLD_OPENSSL, "ssh-keygen": "echo unknown option -- Y" }),
  },
  {
    name: "a folder in the place of the command, also with --force",
    says: /bin\/svc is a folder/,
    words: "--force --prefix $HOME/other",
    change: (_, home) => mkdirSync(join(home, "other", "bin", "svc"), { recursive: true }),
  },
  { name: "a version that is not there", says: /could not be brought to/, words: "--version v9.9.9" },
  {
    name: "another machine",
    says: /there is no svc for Linux on riscv64/,
    path: withProgram("uname", '[ "$1" = -s ] && echo Linux || echo riscv64'),
  },
  { name: "another system", says: /there is no svc for FreeBSD/, path: withProgram("uname", "echo FreeBSD") },
  {
    name: "an OpenSSL without ed25519, and no ssh-keygen",
    says: /nothing here can check the signature of the release\nHint: install OpenSSL 3, or ssh-keygen/,
    path: () => programs(OLD_OPENSSL),
  },
  ...["a list of files", "a signature"].map(
    (what): Refusal => ({
      name: `${what} with other bytes, checked by ssh-keygen`,
      says: /the signature of v1.3.0 at .* is wrong/,
      path: () => programs({ ...OLD_OPENSSL, "ssh-keygen": undefined }),
      change: (releases) => changeByte(`${sums(releases)}${what === "a signature" ? ".sshsig" : ""}`),
    }),
  ),
  {
    name: "a signature of another key, checked by ssh-keygen",
    says: /the signature of v1.3.0 at .* is wrong/,
    path: () => programs({ ...OLD_OPENSSL, "ssh-keygen": undefined }),
    change: (releases) => releases.sign("v1.3.0", newKey()),
  },
  {
    name: "a command of others in its place",
    says: /bin\/svc was not made by this script/,
    words: "",
    change: (_, home) => {
      mkdirSync(join(home, "other", "bin"), { recursive: true });
      writeFileSync(join(home, "other", "bin", "svc"), "mine\n");
    },
  },
];

describe("install.sh changes nothing and says why", () => {
  it.each(REFUSALS)("with $name", async ({ name, says, change, words = "", path }) => {
    const { releases, home, net } = await network();
    releases.addTrial("v1.2.0");
    expect((await install({ net, home })).code).toBe(0);
    releases.addTrial("v1.3.0");
    change?.(releases, home);
    const before = treeOf(home);
    const prefix = name.startsWith("a command of others") ? `--prefix ${join(home, "other")}` : words;
    const { code, err } = await install({ net, home, words: prefix, ...(path === undefined ? {} : { path: path() }) });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(says) });
    expect(treeOf(home)).toEqual(before);
    expect(await told(home)).toBe("v1.2.0");
  });

  it.each([
    ["without a network", "", /the network is not named\nHint: set SVC_NET/],
    ["with a network that is no address", "ftp://x", /ftp:\/\/x is no address of a network/],
    [
      "with a network that does not answer",
      "http://127.0.0.1:1",
      /could not be brought to .*\nHint: is the network reachable/,
    ],
  ])("%s", async (_, other, says) => {
    const { releases, home } = await network();
    const script = `sh ${releases.folder}/install.sh`;
    const { code, err } = await shell(script, asEnv({ net: other, home }));
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(says) });
    expect(treeOf(home)).toEqual([]);
  });

  it("with words that it does not know", async () => {
    const { releases, home, net } = await network();
    for (const words of ["--all", "--prefix", "now"]) {
      const { code, err } = await shell(`sh ${releases.folder}/install.sh ${words}`, asEnv({ net, home }));
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("Usage: sh install.sh") });
    }
  });

  it("when the connection breaks off in the middle of the archive", async () => {
    const { releases, home } = await network();
    releases.addTrial("v1.2.3");
    const server = createServer(({ url = "" }, response) => {
      const bytes = readFileSync(join(releases.folder, url));
      response.writeHead(200, { "content-length": bytes.length });
      if (!url.endsWith(".tar.gz")) response.end(bytes);
      else response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    fixture.defer(() => server.close());
    const address = server.address();
    const net = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
    const { code, err } = await install({ net, home });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/tar\.gz could not be brought to/) });
    // Folders of its own may stay, without contents.
    expect(treeOf(home).filter((line) => !/\/\.local(\/lib)?$/.test(line))).toEqual([]);
  });

  describe.runIf(IS_ROOT)("on a disk", () => {
    it.each([
      ["that is full", "size=40k", "", /could not be brought to .*\nHint: .*room on the disk/],
      ["that is read-only", "size=1m", "mount -o remount,ro $HOME/.local;", /cannot (write|make)/],
    ])("%s", async (_, options, further, says) => {
      const { releases, home, net } = await network();
      releases.addTrial("v1.2.3");
      writeFileSync(releases.pathOf("v1.2.3", "more"), "");
      mkdirSync(join(home, ".local"));
      const archive = releases.archiveOf("v1.2.3");
      writeFileSync(archive, Buffer.concat([readFileSync(archive), Buffer.alloc(200_000)]));
      releases.sign("v1.2.3");
      const mounted = `mount -t tmpfs -o ${options} none $HOME/.local; ${further} sh ${releases.folder}/install.sh; code=$?; find $HOME/.local -mindepth 1 -type f; exit $code`;
      const { code, out, err } = await shell(mounted, asEnv({ net, home }), ["unshare", "--mount", "sh", "-c"]);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(says) });
      expect(out.replace(/^bringing.*\n/, "")).toBe("");
      expect(existsSync(join(home, "bin", "svc"))).toBe(false);
    });
  });
});
