import { execFileSync, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { engineErrors } from "../errors.ts";

/** The release of the engine that tests run, and that `svc engine install` builds. */
export const TESTED_VERSION = "0.38.26";
/** Earlier releases of the line have a published flaw in block synchronisation. */
const LOWEST_PATCH = 22;
const LINE = /^0\.38\.(\d+)/;
const PACKAGE = "github.com/cometbft/cometbft/cmd/cometbft";
const LOWEST_GO = [1, 22, 11] as const;
const MAX_ANSWER_MS = 20_000;

/** A program of CometBFT. */
export interface EngineProgram {
  readonly path: string;
  readonly version: string;
}

export interface FindRequest {
  /** The path that the operator names; undefined = search. */
  readonly given: string | undefined;
  readonly home: string;
  /** Directories of programs, in the form of `PATH`. */
  readonly path: string;
}

/** Path of the program that `svc engine install` builds. */
export function installedProgram(home: string): string {
  return join(home, "cometbft", "bin", "cometbft");
}

/** The engine's program: the given one, else the first usable one of `PATH` and of the home. Throws `engine/8`. */
export function findProgram({ given, home, path }: FindRequest): EngineProgram {
  const places = given === undefined ? [...inPath("cometbft", path), installedProgram(home)] : [given];
  const found = places.filter((place) => isProgram(place)).map((place) => ({ path: place, version: versionOf(place) }));
  const usable = found.find(({ version }) => isUsable(version));
  if (usable !== undefined) return usable;
  const [other] = found;
  throw engineErrors.noProgram(other === undefined ? absence(given) : `${other.path} is ${other.version}`);
}

function absence(given: string | undefined): string {
  return given === undefined ? "there is no cometbft in PATH and none in the home" : `${given} is no program`;
}

function inPath(name: string, path: string): string[] {
  return path
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isUsable(version: string): boolean {
  const [, patch] = LINE.exec(version) ?? [];
  return patch !== undefined && Number(patch) >= LOWEST_PATCH;
}

function versionOf(program: string): string {
  return answerOf(program, ["version"]).replace(/^v/, "") || "of an unknown version";
}

/** The first line that a program prints; empty if it fails. */
function answerOf(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    const out = execFileSync(program, args, { env, stdio, timeout: MAX_ANSWER_MS, encoding: "utf8" });
    return out.trim().split("\n")[0] ?? "";
  } catch {
    return "";
  }
}

export interface InstallRequest {
  readonly home: string;
  /** Path of the Go program; undefined = the one of `PATH`, or of /usr/local/go. */
  readonly go: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Receives what Go prints. */
  readonly report: (text: string) => void;
}

/** Whether the home has the tested release. */
export function isInstalled(home: string): boolean {
  const target = installedProgram(home);
  return existsSync(target) && versionOf(target) === TESTED_VERSION;
}

/** Moves a program into the home, on the same file system, if it is usable. Throws `engine/10`. */
export function adoptProgram(home: string, program: string): EngineProgram {
  const version = versionOf(program);
  if (!isUsable(version)) throw engineErrors.notBuilt(`the new program is ${version}`);
  const target = installedProgram(home);
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  renameSync(program, target);
  return { path: target, version };
}

/** Builds the tested release with Go into the home, unless it is there. Throws `engine/9` or `engine/10`. */
export async function installProgram(request: InstallRequest): Promise<EngineProgram> {
  if (isInstalled(request.home)) return { path: installedProgram(request.home), version: TESTED_VERSION };
  const go = findGo(request);
  const bin = join(request.home, "cometbft", "bin");
  const work = join(bin, `build-${process.pid}`);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  try {
    const args = ["install", "-ldflags=-s -w", `${PACKAGE}@v${TESTED_VERSION}`];
    const code = await runGo(go, args, { ...request, env: { ...checkedModules(request.env), GOBIN: work } });
    const built = join(work, "cometbft");
    if (code !== 0 || !isProgram(built)) throw engineErrors.notBuilt(`${go} install ended with ${code}`);
    return adoptProgram(request.home, built);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The environment of a build: no other toolchain is downloaded, and every module is compared with Go's checksum database.
 * Go reads its own settings file in place of an empty variable, so no variable is empty.
 */
function checkedModules(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unchecked = { GONOSUMDB: "none", GOPRIVATE: "none", GOINSECURE: "none" };
  return {
    ...env,
    ...unchecked,
    GOSUMDB: "sum.golang.org",
    GOFLAGS: "-trimpath",
    GOTOOLCHAIN: "local",
    CGO_ENABLED: "0",
  };
}

function findGo({ go, env }: InstallRequest): string {
  const places = go === undefined ? [...inPath("go", env.PATH ?? ""), "/usr/local/go/bin/go"] : [go];
  const found = places
    .filter((place) => isProgram(place))
    .map((place) => ({ place, version: answerOf(place, ["env", "GOVERSION"], checkedModules(env)) }));
  const usable = found.find(({ version }) => isNewEnough(version));
  if (usable !== undefined) return usable.place;
  const [other] = found;
  throw engineErrors.noGo(other === undefined ? undefined : `${other.place} is ${other.version || "no Go"}`);
}

function isNewEnough(version: string): boolean {
  const found = /^go(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(version)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (found === undefined) return false;
  const differs = LOWEST_GO.findIndex((part, i) => part !== found[i]);
  return differs < 0 || (found[differs] ?? 0) > (LOWEST_GO[differs] ?? 0);
}

function runGo(go: string, args: readonly string[], { env, report }: InstallRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(go, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", report);
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
}
