import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NodeApi, RpcClient } from "../../src/client/index.ts";
import { type CliChain, cliChainOf } from "../cli/chain.ts";
import { bundle, pageSize } from "../support/bundles.ts";
import { Fixture, ROOT } from "../support/index.ts";
import { compileExamples, installedProject, linkedProject, packPackage, runExample } from "../support/package.ts";
import { atNight, IS_NIGHT } from "../support/runs.ts";

/** Examples that need a provider with containers; `examples.test.ts` runs them. */
const WITH_PROVIDER = ["deploy", "lease"];
/** Modules for other examples or a page. */
const MODULES = ["signer", "browser", "light-page", "deploy-page"];
/** Entry points for pages too, and entry points for Node.js alone. */
const OPEN = [
  "svc",
  "svc/wire",
  "svc/crypto",
  "svc/sdl",
  "svc/light",
  "svc/market",
  "svc/gateway",
  "svc/deploy",
  "svc/proto/svc/market/v1beta1/tx",
];
const CLOSED = ["svc/keyring", "svc/testing"];
const ENTRIES = [...OPEN, ...CLOSED];
/** A bundler resolves the types as a page does. */
const CONSUMERS = [...(IS_NIGHT ? (["bundler"] as const) : []), "page", "node"] as const;

/** Height and hash of the first block, as a user gets them from somebody. */
async function trustedBlock(node: string): Promise<readonly string[]> {
  const { hash } = await new NodeApi(new RpcClient(node)).block(1n);
  return ["1", hash];
}

describe("the packed package", () => {
  const fixture = new Fixture();
  let tarball: string;
  let project: string;
  beforeAll(async () => {
    tarball = await packPackage(fixture.folder);
    project = await linkedProject(fixture, tarball);
  });
  afterAll(() => fixture.close());

  it("cannot be published, and needs nothing of a checkout", () => {
    const manifest = JSON.parse(readFileSync(join(project, "node_modules", "svc", "package.json"), "utf8"));
    expect(manifest.private).toBe(true);
    expect(Object.keys(manifest)).not.toContain("scripts");
    const files = readdirSync(join(project, "node_modules", "svc"), { recursive: true, encoding: "utf8" });
    expect(files.filter((name) => /\.test\.|(^|\/)(src|test)\//.test(name))).toEqual([]);
  });

  // The examples that run below were compiled for the last.
  it.each(CONSUMERS)("types the examples for a %s", (consumer) => compileExamples(project, consumer));

  it("brings the command", async () => {
    const svc = (...args: string[]) => promisify(execFile)(join(project, "node_modules/svc/dist/svc.cjs"), args);
    expect((await svc("version")).stdout).toMatch(/^v\d+\.\d+\.\d+\n$/);
    expect((await svc("keys", "mnemonic")).stdout.split(" ")).toHaveLength(24);
  });

  atNight(() =>
    it("is installed by npm, and runs", async (context) => {
      const { path, fault } = await installedProject(fixture, tarball);
      // Only a registry that cannot be reached excuses it, and that never where tests must prove something.
      if (
        fault !== undefined &&
        process.env.CI !== "true" &&
        /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(fault)
      ) {
        context.skip(`npm cannot reach its registry: ${fault}`);
      }
      expect(fault).toBeUndefined();
      const svc = (...args: string[]) => promisify(execFile)(join(path, "node_modules", ".bin", "svc"), args);
      expect((await svc("version")).stdout).toMatch(/^v\d+\.\d+\.\d+\n$/);
      await svc("init", "node", "--home", join(path, "home"), "--chain-id", "installed-1");
      expect((await svc("validate-genesis", "--home", join(path, "home"))).stdout).toContain("valid");
      const all = ENTRIES.map((name) => `import("${name}")`).join(", ");
      const code = `const all = await Promise.all([${all}]); console.log(all.every((each) => Object.keys(each).length > 0));`;
      const ran = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { cwd: path });
      expect(ran.stdout).toBe("true\n");
    }),
  );

  it("leads nowhere but to its entry points", async () => {
    const inside = `import("svc/dist/lib/client/index.js").catch(({ code }) => console.log(code))`;
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", inside], { cwd: project });
    expect(stdout).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  });

  describe("bundled for pages", () => {
    it.each(OPEN)("%s is whole without Node.js", async (specifier) => {
      // A development server leaves everything in; a bundle of what is used has a part of it.
      const whole = { project, platform: "browser", treeShaking: false } as const;
      const { modules } = await bundle(`export * from "${specifier}"`, whole);
      const foreign = /^node:|node_modules\/(ws|pino|secp256k1|lmdb|fastify)\//;
      expect(modules.filter((path) => foreign.test(path))).toEqual([]);
    });

    it.each(CLOSED)("%s is refused", async (specifier) => {
      const made = bundle(`export * from "${specifier}"`, { project, platform: "browser" });
      await expect(made).rejects.toThrow(`Could not resolve "${specifier}"`);
    });

    it("is what is used and no more", async () => {
      const foreign = /svc\/dist\/lib\/(keyring|store|runtime|modules|app|engine|node|provider|cli|client|testing)\//;
      for (const platform of ["browser", "node"] as const) {
        const code = 'import { sdlHash } from "svc/sdl"; console.log(sdlHash("x"));';
        const { modules, size } = await bundle(code, { project, platform });
        expect(modules).toContainEqual(expect.stringContaining("svc/dist/lib/sdl/load.js"));
        expect(modules.filter((path) => foreign.test(path))).toEqual([]);
        expect(
          modules.filter((path) => /node_modules\/(lmdb|fastify|ws|pino|commander|dockerode)\//.test(path)),
        ).toEqual([]);
        expect(size).toBeLessThan(300_000);
      }
    });

    it.each([
      ['import { parseCoin } from "svc/wire"; console.log(parseCoin("1utoken"));', 2_000],
      ['import { isAddress } from "svc/wire"; console.log(isAddress("svc1"));', 15_000],
      ['import { ChainClient } from "svc"; console.log(ChainClient);', 130_000],
      ['import { ChainClient, sendTx } from "svc"; console.log(ChainClient, sendTx);', 450_000],
    ])("stays small: %s", async (code, limit) => {
      expect((await bundle(code, { project, platform: "browser" })).size).toBeLessThan(limit);
    });
  });

  it("reads the marketplace in a page for 37 kB", async () => {
    const code = 'import { marketReader } from "svc/market"; console.log(marketReader);';
    expect(await pageSize(code, project)).toBeLessThan(37_000);
  });

  describe("with a node", () => {
    let chain: CliChain;
    const address = (name: string): string => chain.addresses[name] ?? "";
    const file = join(ROOT, "examples", "web.yaml");
    const run = (name: string, ...args: string[]): Promise<string> =>
      runExample(project, name, args, { SVC_NODE: chain.node, SVC_HOME: chain.home });
    /** An example, its arguments and its output, in this order: later examples see the effects of earlier ones. */
    const runs: readonly (readonly [
      name: string,
      args: () => readonly string[] | Promise<readonly string[]>,
      output: RegExp,
    ])[] = [
      ["balances", () => [address("bob")], /^5000stake\n1000000000000utoken\n$/],
      ["send", () => ["alice", address("bob")], /^[0-9A-F]{64} in block \d+\n$/],
      ["balances", () => [address("bob")], /^5000stake\n1000001000000utoken\n$/],
      ["rpc", () => [], /^chain cli-test-1 at height \d+\n1 transfers\n[0-9A-F]{64} in block \d+\n$/],
      ["watch", () => [address("bob"), "1"], /^1000000utoken from svc1\w+ in block \d+\n$/],
      [
        "follow",
        async () => [(await chain.query("block")).block.header.height],
        /^block \d+ [0-9A-F]{8}: svc1\w+ -> svc1\w+ 5000utoken\n/,
      ],
      [
        "light",
        async () => [...(await trustedBlock(chain.node)), address("bob")],
        /^\d+utoken, verified at height \d+\n$/,
      ],
      ["keys", () => [fixture.tempHome("keyring")], /^-----BEGIN TENDERMINT PRIVATE KEY-----\nthe same account\n$/],
      ["offline", () => ["alice", address("bob")], /^[0-9A-F]{64} in block \d+\n$/],
      ["sdl", () => [file], /^hash [0-9a-f]{64}\ngroup anywhere: at most 1000 utoken per block\n$/],
      ["order", () => [file, "alice"], /^order 1\/1 of group anywhere\nclosed after block \d+\n$/],
      ["market", () => [address("alice")], /^0 active\n$/],
      ["test-chain", () => [], /^in block 2, \d+ gas; bob has 5utoken more\n$/],
      ["test-node", () => [], /^code 0 on test-1\n$/],
    ];

    beforeAll(async () => {
      chain = await cliChainOf(["alice", "bob"], { blockInterval: "500ms", hurry: true });
    });
    afterAll(() => chain?.stop());

    it("runs every example", () => {
      const names = readdirSync(join(ROOT, "docs", "examples")).map((name) => name.replace(".ts", ""));
      const tried = [...new Set(runs.map(([name]) => name)), ...WITH_PROVIDER, ...MODULES];
      expect(tried.sort()).toEqual(names.sort());
    });

    it.each(runs)("%s", async (name, args, output) => {
      expect(await run(name, ...(await args()))).toMatch(output);
    });
  });
});
