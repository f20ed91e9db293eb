import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorText, readFileText, SvcError } from "../../util/index.ts";
import { parseNet, parseVersion, releaseErrors } from "../../util/servers/index.ts";
import type { Flags } from "../command/flags.ts";
import { NET_FLAG } from "../command/global-flags.ts";
import { bringFile } from "./release.ts";

/** Versions beside one another, as install.sh lays them out; the links `current` and `previous` name two. */
export interface Installation {
  readonly store: string;
  /** The version that `current` names. */
  readonly version: string;
  /** The key that signs releases, PEM. */
  readonly publicKey: string;
}

const MAX_TRIAL_MS = 20_000;
/** Name of the folder of a change, before the id of its process. */
const WORK = ".incoming.";
/** Bytes of a file that the installer writes beside the versions. */
const MAX_TEXT_BYTES = 16 * 1024;

/** The folder that the running program was unpacked into: `<folder>/lib/dist/svc.cjs`. */
function ownFolder(): string {
  return dirname(dirname(dirname(fileURLToPath(import.meta.url))));
}

/** The public key beside the program; undefined in a checkout. */
export function ownKey(folder = ownFolder()): string | undefined {
  return contentOf(join(folder, "lib", "release.pub"));
}

/** The installation that the running program belongs to. Throws `release/9`. */
export function ownInstallation(folder = ownFolder()): Installation {
  const [store, publicKey] = [dirname(folder), ownKey(folder)];
  const version = targetOf(join(store, "current"));
  if (publicKey === undefined || version === undefined || !/^v\d/.test(basename(folder)))
    throw releaseErrors.notInstalled(folder);
  return { store, version: parseVersion(version), publicKey };
}

/** The network of a command: the flag, its variable, else where the program came from; undefined if none is known. */
export function knownNet(flags: Flags, folder = ownFolder()): string | undefined {
  const net = flags.optional(NET_FLAG.name) ?? contentOf(join(dirname(folder), "net"))?.trim();
  return net === undefined ? undefined : parseNet(net);
}

/** The network of a command. Throws `release/2` if none is known. */
export function netOf(flags: Flags): string {
  const net = knownNet(flags);
  if (net === undefined) throw releaseErrors.noNetwork();
  return net;
}

/** Unpacks an archive with its modes into a folder, with the program of the machine. */
export function unpack(archive: string, folder: string): void {
  execFileSync("tar", ["-xzopf", archive, "-C", folder], { stdio: ["ignore", "ignore", "pipe"] });
}

/** Puts a version of a network in the place of the current one. If it fails, the current one stays. */
export async function installVersion(place: Installation, net: string, version: string): Promise<void> {
  const { store, publicKey } = place;
  await changing(store, version, async (work) => {
    if (!runs(join(store, version), version)) {
      const name = `svc-${version.slice(1)}-${process.platform}-${process.arch}`;
      await bringFile({ net, version, publicKey }, `${name}.tar.gz`, join(work, "archive"));
      unpack(join(work, "archive"), work);
      if (!runs(join(work, name), version)) throw releaseErrors.unusable(version);
      if (existsSync(join(store, version))) renameSync(join(store, version), join(work, "replaced"));
      renameSync(join(work, name), join(store, version));
    }
    writeFileSync(join(work, "net"), `${net}\n`);
    chmodSync(join(work, "net"), 0o644);
    renameSync(join(work, "net"), join(store, "net"));
    switchTo(store, version);
    removeUnused(store);
  });
}

/** Makes a change with a folder of its own. Throws `release/13` while another process, also install.sh, makes one. */
async function changing(store: string, version: string, change: (work: string) => Promise<void>): Promise<void> {
  const work = join(store, `${WORK}${process.pid}`);
  try {
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { mode: 0o700 });
    for (const name of readdirSync(store).filter((each) => each.startsWith(WORK))) {
      const other = join(store, name);
      if (other === work) continue;
      if (existsSync(join("/proc", name.slice(WORK.length)))) throw releaseErrors.changing(other);
      rmSync(other, { recursive: true, force: true });
    }
    await change(work);
  } catch (error) {
    throw error instanceof SvcError ? error : releaseErrors.notWritten(`${version}: ${errorText(error)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Returns to the version before, and tells it. Throws `release/10`. */
export async function rollBack({ store }: Installation): Promise<string> {
  const before = targetOf(join(store, "previous"));
  if (before === undefined || before === targetOf(join(store, "current"))) throw releaseErrors.noneBefore();
  await changing(store, before, async () => {
    if (!runs(join(store, parseVersion(before)), before)) throw releaseErrors.unusable(before);
    switchTo(store, before);
  });
  return before;
}

function switchTo(store: string, version: string): void {
  const current = targetOf(join(store, "current"));
  if (current !== undefined && version !== current) point(join(store, "previous"), current);
  point(join(store, "current"), version);
}

/** A link gets its new target at one moment. */
function point(link: string, target: string): void {
  const temporary = `${link}.${process.pid}`;
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, link);
}

/** Whether the program of a folder runs here, and is of a version. */
function runs(folder: string, version: string): boolean {
  try {
    const options: { encoding: "utf8"; timeout: number } = { encoding: "utf8", timeout: MAX_TRIAL_MS };
    return execFileSync(join(folder, "bin", "svc"), ["version"], options).trim() === version;
  } catch {
    return false;
  }
}

/** Removes versions other than the current one and the one before. One that a process runs stays: its files are read later. */
function removeUnused(store: string): void {
  const links = ["current", "previous"].map((name) => targetOf(join(store, name)));
  const running = readdirSync("/proc").map((pid) => targetOf(join("/proc", pid, "exe")) ?? "");
  for (const name of readdirSync(store)) {
    const folder = join(store, name);
    const isUsed = links.includes(name) || running.some((program) => program.startsWith(`${folder}/`));
    if (/^v\d/.test(name) && !isUsed && !isBusy(folder)) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a process of another user, whose program /proc hides, runs a version: most kernels open no program for writing while it runs. */
function isBusy(folder: string): boolean {
  try {
    closeSync(openSync(join(folder, "lib", "node"), "r+"));
    return false;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT");
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

function contentOf(path: string): string | undefined {
  return existsSync(path) ? readFileText(path, { maxBytes: MAX_TEXT_BYTES }) : undefined;
}
