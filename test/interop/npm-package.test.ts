import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, ROOT } from "../support/index.ts";
import { packPackage } from "../support/package.ts";
import { environment } from "../support/run-svc.ts";
import { atNight, IS_NIGHT } from "../support/runs.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The npm package as its users find it: what is inside, how it is installed, and what their tools say about it. */

const run = promisify(execFile);
const built = await buildPeer("package-checks");

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Packages below the node_modules of a folder, as `name@version`. */
function packagesBelow(folder: string): string[] {
  const modules = join(folder, "node_modules");
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith("."));
  const scoped = (name: string): string[] => readdirSync(join(modules, name)).map((each) => join(name, each));
  return names
    .flatMap((name) => (name.startsWith("@") ? scoped(name) : [name]))
    .flatMap((name) => {
      const place = join(modules, name);
      const { version } = manifestOf(place);
      return [`${name}@${version}`, ...packagesBelow(place)];
    });
}

const { packages: locked }: { packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(join(ROOT, "package-lock.json"), "utf8"),
);

/** A package of the lockfile as `name@version`. */
function lockedAt(path: string): string {
  const { name = path.split("node_modules/").at(-1), version } = locked[path] ?? {};
  return `${name}@${version}`;
}

/** Packages of the lockfile for some platforms alone. */
function native(): string[] {
  return Object.keys(locked)
    .filter((path) => locked[path]?.os !== undefined || locked[path]?.cpu !== undefined)
    .map(lockedAt);
}

/** Files named by a script of the package that the checkout's installation has, and the package has not. */
function leftOut(name: string, modules: string): string[] {
  const text = readFileSync(join(modules, name), "utf8");
  // Comments name types, as `@type {import("./types")}`.
  const named = [...text.matchAll(/(?:require\(|from\s*|(?<!@\w+ \{)import\()\s*["'](\.[^"']+)["']/g)].map(
    ([, to = ""]) => to,
  );
  const places = (to: string, base: string) =>
    ["", ".js", ".cjs", ".mjs", ".json", "/index.js"].map((ending) => join(base, name, "..", `${to}${ending}`));
  const isThere = (to: string, base: string): boolean => places(to, base).some((path) => existsSync(path));
  return named
    .filter((to) => isThere(to, join(ROOT, "node_modules")) && !isThere(to, modules))
    .map((to) => `${name}: ${to}`);
}

describe("the npm package", () => {
  const fixture = new Fixture();
  const unpacked = join(fixture.folder, "unpacked");
  const prefix = fixture.tempHome("prefix");
  let tarball = "";
  let listed: string[] = [];
  beforeAll(async () => {
    tarball = await packPackage(fixture.folder);
    mkdirSync(unpacked);
    await run("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
    const bill = [join(ROOT, "tools", "release", "bill.mjs"), tarball];
    const { stdout } = await run(process.execPath, bill, { maxBuffer: 2 ** 26 });
    const { components }: { components: readonly { name: string; version: string }[] } = JSON.parse(stdout);
    listed = components.map(({ name, version }) => `${name}@${version}`).sort();
  });
  afterAll(() => fixture.close());

  it("contains the packages that its list of components names, and their licences, except native parts", () => {
    const all = native();
    const { inside }: { inside: readonly string[] } = JSON.parse(readFileSync(join(unpacked, "dist", ".plan"), "utf8"));
    const beside = packagesBelow(unpacked);
    expect([...beside, ...inside.map(lockedAt)].filter((name) => !listed.includes(name))).toEqual([]);
    const others = listed.filter((name) => !all.includes(name) && !beside.includes(name));
    expect(others.map((name) => name.replace(/@[^@]*$/, ""))).toEqual(expect.arrayContaining(["fastify", "preact"]));
    const licences = `\n${readFileSync(join(unpacked, "THIRD-PARTY-LICENSES.txt"), "utf8")}`;
    expect(listed.length).toBeGreaterThan(150);
    expect(others.filter((name) => !licences.includes(`\n${name.replace(/@(?=[^@]*$)/, " ")} (`))).toEqual([]);
  });

  it("leaves out what readers of other packages need, and nothing that a file of theirs loads", () => {
    const modules = join(unpacked, "node_modules");
    const entries = readdirSync(modules, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((each) => each.isFile())
      .map((each) => relative(modules, join(each.parentPath, each.name)));
    expect(files.filter((name) => /\.map$|\/README\.md$/i.test(name))).toEqual([]);
    expect(files.some((name) => /\/LICENSE(\.md)?$/.test(name))).toBe(true);
    const scripts = files.filter((name) => /\.[cm]?js$/.test(name));
    expect(scripts.length).toBeGreaterThan(1_000);
    expect(scripts.flatMap((name) => leftOut(name, modules))).toEqual([]);
  });

  it("has the types of the packages that its declarations name, and of no others", () => {
    const files = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: "utf8" });
    const lib = join(unpacked, "dist", "lib");
    const declarations = files(lib).filter((name) => name.endsWith(".d.ts"));
    const named = declarations.flatMap((name) =>
      [...readFileSync(join(lib, name), "utf8").matchAll(/(?:from |import\()"((?:@[\w-]+\/)?[\w-]+)[/"]/g)].map(
        ([, to]) => to,
      ),
    );
    const typed = files(join(unpacked, "node_modules"))
      .filter((name) => /\.[cm]?ts$/.test(name))
      .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0]);
    expect(new Set(typed)).toEqual(new Set(named));
  });

  it("has guides, examples, man pages and a page for its users", () => {
    for (const file of [
      "docs/guides/tenant.md",
      "examples/web.yaml",
      "man/man1/svc-deploy.1",
      "CHANGELOG.md",
      "LICENSE",
    ])
      expect(existsSync(join(unpacked, file)), file).toBe(true);
    expect(readFileSync(join(unpacked, "README.md"), "utf8")).toBe(readFileSync(join(ROOT, "docs/npm.md"), "utf8"));
  });

  atNight(() =>
    it.runIf(process.platform === "linux")(
      "is installed for all users of a machine without a network or a warning, with its native parts, and uninstalled",
      async () => {
        const npm = (...words: string[]) =>
          run("npm", [...words, "--global", "--prefix", prefix], { env: environment({}), maxBuffer: 2 ** 26 });
        const flags = ["--offline", "--no-audit", "--no-fund", "--no-update-notifier"];
        expect((await npm("install", tarball, ...flags)).stderr).toBe("");
        const all = native();
        const { version } = manifestOf(unpacked);
        const place = join(prefix, "lib", "node_modules");
        const brought = packagesBelow(join(place, "svc")).filter((name) => !all.includes(name));
        expect(brought.sort()).toEqual(packagesBelow(unpacked).sort());
        const { stdout } = await npm("ls", "--all", "--json");
        expect(JSON.parse(stdout).problems ?? []).toEqual([]);
        const opens = `const { open } = require("lmdb");
          open({ path: process.argv[1] }).close();
          for (const name of ["@napi-rs/keyring", "msgpackr-extract", "secp256k1/bindings"]) require(name)`;
        await run(process.execPath, ["-e", opens, join(prefix, "data")], { cwd: join(place, "svc") });
        const command = join(prefix, "bin", "svc");
        expect((await run(command, ["version"])).stdout).toBe(`v${version}\n`);
        expect((await run(command, ["keys", "mnemonic"])).stdout.split(" ")).toHaveLength(24);
        await npm("uninstall", "svc");
        expect(existsSync(command)).toBe(false);
      },
    ),
  );

  it.skipIf(!(built instanceof Peer))("has nothing that publint or attw find fault with", async () => {
    if (!(built instanceof Peer)) return;
    // They check what the package itself offers, and would read all files of the others inside.
    const own = join(fixture.folder, "own.tgz");
    await run("tar", ["-czf", own, "--transform=s,^[.],package,", "--exclude=./node_modules", "-C", unpacked, "."]);
    const { code, out } = await inFolder(built.binary, "publint", ["run", own, "--strict"]);
    expect(code, out).toBe(0);
    // Programs in CommonJS and old compilers take the package by `import()` alone.
    const asked = IS_NIGHT ? [] : ["--entrypoints", ".", "light", "gateway"];
    const types = await inFolder(built.binary, "attw", [own, "--profile", "esm-only", "--format", "ascii", ...asked]);
    expect(types.code, types.out).toBe(0);
  });
});

async function inFolder(folder: string, name: string, args: string[]): Promise<{ code: number; out: string }> {
  return run(join(folder, name), args, { maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, out: error.stdout }),
  );
}
