import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spawnSync } from "../support/bounded.ts";
import { buildOnce, MAIN } from "../support/build.ts";
import { Fixture, runSvc } from "../support/index.ts";

const PHRASE = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/** Faults that only the built program can have: it runs from V8's code, and loads packages on demand. */
describe("the built program", () => {
  const fixture = new Fixture();
  afterAll(() => fixture.close());

  it("loads packages on demand", async () => {
    const home = fixture.tempHome("built");
    const test = { home, env: { SVC_KEYRING_BACKEND: "test" } };
    const added = await runSvc(["keys", "add", "me", "--recover", "-o", "json"], { ...test, input: `${PHRASE}\n` });
    const { address } = JSON.parse(added.stdout);
    const words = ["tx", "cert", "create", "client", "--from", address, "--generate-only", "--chain-id", "x-1"];
    const made = await runSvc(words, { ...test, input: "long enough\nlong enough\n" });
    expect(made, made.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("MsgCreateCertificate") });
    const engine = join(fixture.folder, "none.sock");
    const run = await runSvc([
      "localnet",
      "--cluster-engine",
      engine,
      "--port-offset",
      "3200",
      "--home",
      `${home}-net`,
    ]);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("none.sock") });
    expect(run.stderr).not.toContain("import");
  });

  it("has no import of its own in its code: V8's kept code could not do it", async () => {
    await buildOnce();
    const codes = programFiles().map((name) => readFileSync(join(dirname(MAIN), name), "latin1"));
    // A method may have this name.
    expect(codes.flatMap((code) => code.match(/(?<![\w$.])import\((?![\w$,]*\)\{).{0,40}/g) ?? [])).toEqual([]);
    expect(codes.some((code) => code.includes('require("node-hid")'))).toBe(true);
  });

  it("is read as it was written: one byte for each character", async () => {
    await buildOnce();
    const codes = programFiles().map((name) => readFileSync(join(dirname(MAIN), name)));
    expect(codes.filter((code) => code.some((byte) => byte > 127))).toEqual([]);
  });

  describe("loads for a short command no more than it uses", () => {
    const home = fixture.tempHome("short");
    const unsigned = join(home, "unsigned.json");
    const signed = ["tx", "sign", unsigned, "--offline", "-a", "1", "-s", "0", "--chain-id", "x-1", "--from", "me"];
    const transfer = ["tx", "bank", "send", "me", "me", "1utoken", "--offline", "--generate-only", "--chain-id", "x-1"];
    beforeAll(async () => {
      const test = { home, env: { SVC_KEYRING_BACKEND: "test" } };
      await runSvc(["keys", "add", "me"], test);
      const address = (await runSvc(["keys", "show", "me", "-a"], test)).stdout.trim();
      const made = await runSvc(
        transfer.map((word) => (word === "me" ? address : word)),
        test,
      );
      writeFileSync(unsigned, made.stdout);
    });

    /** Files, Node.js modules and packages that a command loads, recorded by a module that is loaded first. */
    function loadedBy(args: readonly string[]): { files: string[]; builtins: string[]; packages: string[] } {
      const [witness, report] = [join(home, "witness.cjs"), join(home, "report.json")];
      writeFileSync(witness, WITNESS);
      const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_TEST_REPORT: report, PATH: process.env.PATH };
      const { status } = spawnSync(process.execPath, ["-r", witness, MAIN, ...args], { env, stdio: "ignore" });
      expect(status).toBe(0);
      return JSON.parse(readFileSync(report, "utf8"));
    }

    it.each([
      ["version", ["version"], [], []],
      ["keys list", ["keys", "list"], ["main"], []],
      ["tx sign --offline", signed, ["main"], ["node-gyp-build", "secp256k1"]],
    ])("%s", (_, args, files, packages) => {
      const loaded = loadedBy(args);
      const read = loaded.files
        .map((path) => relative(dirname(MAIN), path))
        .filter((path) => /^\w+-\w+\.cjs$/.test(path));
      expect(read.map((path) => path.replace(/-.*/, ""))).toEqual(files);
      expect([...new Set(loaded.packages)].sort()).toEqual(packages);
      expect(loaded.builtins.filter((name) => HEAVY.includes(name))).toEqual([]);
    });

    it("and the file that all read is small", () => {
      const [main = ""] = programFiles();
      expect(readFileSync(join(dirname(MAIN), main)).length).toBeLessThan(700_000);
    });
  });
});

/** Modules of Node.js that take their time, and that no short command needs. */
const HEAVY = [
  "net",
  "http",
  "https",
  "tls",
  "dns",
  "child_process",
  "worker_threads",
  "readline",
  "module",
  "fs/promises",
];

/** Tells at the end what the process read and loaded. */
const WITNESS = `
const fs = require("node:fs");
const { readFileSync } = fs;
const files = [];
fs.readFileSync = (path, ...rest) => (files.push(String(path)), readFileSync(path, ...rest));
process.on("exit", () => {
  const builtins = process.moduleLoadList.map((name) => name.replace("NativeModule ", ""));
  const packages = Object.keys(require.cache).flatMap((path) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(path)?.[1] ?? []);
  fs.writeFileSync(process.env.SVC_TEST_REPORT, JSON.stringify({ files, builtins, packages }));
});
`;

/** The files of the program, the one of everyday commands first. */
function programFiles(): string[] {
  return readFileSync(join(dirname(MAIN), ".built"), "utf8")
    .split("\n")
    .filter((name) => /-.*\.cjs$/.test(name));
}
