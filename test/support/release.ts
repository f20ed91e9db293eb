import { execFile } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { installer, publicText, type ReleaseKey, signFolder, signList } from "../../tools/release/sign.mjs";
import { execFileSync } from "./bounded.ts";
import { ROOT } from "./build.ts";

/** The platform of this machine, as releases name it. */
export const PLATFORM = `${process.platform}-${process.arch}`;

/** A key for releases. */
export function newKey(): ReleaseKey {
  return { privateKey: generateKeyPairSync("ed25519").privateKey, isTest: false };
}

/** The files of a network with releases, signed by a key of the test. */
export class TestReleases {
  readonly folder: string;
  readonly #key: ReleaseKey;
  readonly publicKey: string;

  constructor(folder: string) {
    this.folder = folder;
    this.#key = newKey();
    this.publicKey = publicText(this.#key);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "install.sh"), installer(join(ROOT, "tools", "release", "install.sh"), this.#key));
  }

  /** File with the private key, for `npm run release`. */
  writeKey(path: string): string {
    writeFileSync(path, this.#key.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    return path;
  }

  pathOf(version: string, file: string): string {
    return join(this.folder, "releases", version, file);
  }

  archiveOf(version: string): string {
    return this.pathOf(version, `svc-${version.slice(1)}-${PLATFORM}.tar.gz`);
  }

  /** Makes a release whose program tells a version, and publishes it. */
  addTrial(version: string, told = version): void {
    const program = `#!/bin/sh\necho ${told}\n`;
    this.#add(version, (top) => {
      mkdirSync(join(top, "bin"), { recursive: true });
      writeFileSync(join(top, "bin", "svc"), program);
      chmodSync(join(top, "bin", "svc"), 0o755);
      mkdirSync(join(top, "lib"));
      writeFileSync(join(top, "lib", "release.pub"), this.publicKey);
    });
  }

  /** Makes a release of the program of an archive, which tells another version, and publishes it. */
  addNext(version: string, archive: string, own: string): void {
    this.#add(version, (top) => {
      mkdirSync(top);
      execFileSync("tar", ["-xzf", archive, "-C", top, "--strip-components=1"]);
      const dist = join(top, "lib", "dist");
      for (const name of readdirSync(dist)) {
        const path = join(dist, name);
        // V8's code of another text is of no use.
        if (name.endsWith(".cache")) rmSync(path);
        else if (name.endsWith(".cjs"))
          writeFileSync(path, readFileSync(path, "latin1").replaceAll(own, version), "latin1");
      }
    });
  }

  #add(version: string, fill: (top: string) => void): void {
    const archive = this.archiveOf(version);
    const top = archive.slice(0, -".tar.gz".length);
    mkdirSync(dirname(archive), { recursive: true });
    fill(top);
    execFileSync("tar", ["-c", "-I", "gzip -1", "-f", archive, "-C", dirname(top), basename(top)]);
    rmSync(top, { recursive: true });
    this.sign(version);
    this.publish(version);
  }

  sign(version: string, key = this.#key): void {
    signFolder(dirname(this.archiveOf(version)), key);
  }

  /** Signs a given list of files. */
  signText(version: string, sums: string): void {
    signList(dirname(this.archiveOf(version)), sums, this.#key);
  }

  publish(version: string): void {
    writeFileSync(join(this.folder, "version.txt"), `${version}\n`);
  }
}

/**
 * Makes the release of the present sources. The short form is for this machine alone, without packages of distributions and
 * CometBFT, compressed quickly, and from the npm package of this test run if there is one.
 */
export async function makeRelease(folder: string, key: string, isWhole = false): Promise<void> {
  const made = process.env.SVC_TEST_PACKAGE;
  const from = made === undefined ? [] : ["--package", made];
  const short = ["--platform", PLATFORM, "--no-engine", "--level", "4", ...from];
  const words = [join(ROOT, "tools", "release.mjs"), folder, "--key", key, ...(isWhole ? [] : short)];
  await promisify(execFile)(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
}

/** Changes one byte in the middle of a file. */
export function changeByte(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

/** All paths below a folder with the targets of links, as lines. */
export function treeOf(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const line = (path: string, isLink: boolean) => (isLink ? `${path} -> ${readlinkSync(path)}` : path);
  return entries.map((each) => line(join(each.parentPath, each.name), each.isSymbolicLink())).sort();
}

/** Fills a folder with programs of this machine and the libraries that they need, so that it can be the root of a process. */
export function fillRoot(root: string, programs: readonly string[], libraries: readonly string[] = []): void {
  for (const name of ["bin", "dev", "proc", "tmp", "root"]) mkdirSync(join(root, name), { recursive: true });
  const put = (from: string, path: string) => {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) copyFileSync(from, target);
  };
  for (const program of programs) {
    const path = execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim();
    put(path, join("bin", program));
    for (const [library] of librariesOf(path)) put(library, library);
  }
  const known = execFileSync("ldconfig", ["-p"], { encoding: "utf8" });
  for (const library of libraries) {
    const [, path = ""] =
      new RegExp(`^\\s*${library.replaceAll(/[.+]/g, "\\$&")} \\(libc6,.*=> (.*)$`, "m").exec(known) ?? [];
    put(path, path);
  }
  for (const [name, minor] of [
    ["null", "3"],
    ["urandom", "9"],
  ] as const)
    execFileSync("mknod", ["-m", "666", join(root, "dev", name), "c", "1", minor]);
}

function librariesOf(program: string): readonly RegExpMatchArray[] {
  const told = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...told.matchAll(/\/\S+(?= \(0x)/g)];
}

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a line of a shell to its end. */
export function shell(line: string, env: Readonly<Record<string, string>>, words = ["sh", "-c"]): Promise<Told> {
  const [program = "", ...args] = [...words, line];
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 }, (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, out, err });
    });
  });
}
