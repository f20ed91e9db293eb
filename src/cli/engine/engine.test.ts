import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { installedProgram, TESTED_VERSION } from "../../engine/index.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-engine-"));
  vi.stubEnv("PATH", `${join(root, "bin")}:/usr/bin:/bin`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

function program(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

const engine = (path: string, version: string) => program(path, `echo ${version}`);

/** A Go that writes its environment to a file, and builds a program that prints a version. */
function fakeGo(version: string, built: string = TESTED_VERSION): string {
  const build = `printf '#!/bin/sh\\necho ${built}\\n' > "$GOBIN/cometbft"; chmod 755 "$GOBIN/cometbft"`;
  return program(
    join(root, "bin", "go"),
    `[ "$1" = env ] && echo ${version} && exit\necho "$@" > ${root}/args\nenv > ${root}/env\necho downloading >&2\n${build}`,
  );
}

const run = (...words: string[]) => runCli(["engine", ...words, "--home", join(root, "home")]);

test("without an engine, the sentence names the command that installs it; exit code 3", async () => {
  expect(await run("show")).toEqual({
    code: 3,
    out: "",
    err:
      "Error: there is no cometbft in PATH and none in the home: svc runs CometBFT 0.38.22 or a later release of its 0.38 line\n" +
      "Hint: run svc engine install, or name a program with --cometbft\n",
  });
});

test("the given program goes before PATH, and PATH before the home", async () => {
  const home = engine(installedProgram(join(root, "home")), "0.38.24");
  const told = async (...words: string[]) => JSON.parse((await run("show", "-o", "json", ...words)).out);
  expect(await told()).toEqual({ path: home, version: "0.38.24" });
  const inPath = engine(join(root, "bin", "cometbft"), "0.38.23");
  expect(await told()).toEqual({ path: inPath, version: "0.38.23" });
  const given = engine(join(root, "mine"), "0.38.22");
  expect(await told("--cometbft", given)).toEqual({ path: given, version: "0.38.22" });
});

test("a program of another line is passed over", async () => {
  const other = engine(join(root, "bin", "cometbft"), "1.0.1");
  expect(await run("show")).toMatchObject({ code: 3, err: expect.stringContaining(`${other} is 1.0.1: svc runs`) });
  const home = engine(installedProgram(join(root, "home")), TESTED_VERSION);
  expect(await run("show")).toMatchObject({ code: 0, out: `CometBFT ${TESTED_VERSION} at ${home}\n` });
});

test.each(["0.38.21", "0.37.9", "0.380.22", "nonsense", ""])(
  "a given program of version %j is refused",
  async (text) => {
    const given = engine(join(root, "mine"), text);
    expect(await run("show", "--cometbft", given)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`${given} is `),
    });
  },
);

test("a given path without a program is refused", async () => {
  expect(await run("show", "--cometbft", "/nowhere/cometbft")).toMatchObject({
    code: 3,
    err: expect.stringContaining("/nowhere/cometbft is no program"),
  });
});

test("install builds the tested release into the home, checked against Go's database, and once", async () => {
  fakeGo("go1.22.11");
  vi.stubEnv("GOSUMDB", "off");
  vi.stubEnv("GOPRIVATE", "*");
  const target = installedProgram(join(root, "home"));
  const first = await run("install", "-o", "json");
  expect(first).toEqual({
    code: 0,
    out: `${JSON.stringify({ path: target, version: TESTED_VERSION })}\n`,
    err: "downloading\n",
  });
  expect(readFileSync(join(root, "args"), "utf8")).toContain(`cometbft/cmd/cometbft@v${TESTED_VERSION}`);
  const env = readFileSync(join(root, "env"), "utf8").split("\n");
  for (const line of ["GOSUMDB=sum.golang.org", "GOPRIVATE=none", "GOTOOLCHAIN=local"]) expect(env).toContain(line);
  rmSync(join(root, "bin", "go"));
  expect(await run("install")).toEqual({ code: 0, out: `CometBFT ${TESTED_VERSION} at ${target}\n`, err: "" });
});

test("install needs a new enough Go, and says which", async () => {
  const go = fakeGo("go1.19.8");
  const { code, err } = await run("install", "--go", go);
  expect({ code, err }).toEqual({
    code: 3,
    err: expect.stringContaining(`${go} is go1.19.8: building CometBFT needs Go 1.22.11 or newer`),
  });
});

test("a build that fails leaves nothing", async () => {
  fakeGo("go1.26.0", "1.0.0");
  const { code, err } = await run("install");
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("CometBFT could not be built") });
  expect(existsSync(installedProgram(join(root, "home")))).toBe(false);
});
