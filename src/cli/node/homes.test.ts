import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { NODE_SETTINGS, nodeConfig, readNodeConfig } from "../../node/index.ts";
import { resolveFlags } from "../command/flags.ts";
import { GLOBAL_FLAGS } from "../command/global-flags.ts";
import { engineKeys, nodeSettings, readSettingsFiles } from "./settings-files.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-homes-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const svc = (...words: string[]) => runCli([...words, "--home", home], { env: { SVC_KEYRING_BACKEND: "test" } });
const file = (name: string) => join(home, "config", name);
const flagsOf = (given: Readonly<Record<string, string>> = {}) =>
  resolveFlags([...GLOBAL_FLAGS, ...Object.values(NODE_SETTINGS)], new Map(Object.entries({ home, ...given })), {});

describe("the settings in the home of a node", () => {
  test("are written with what they do, and say what the defaults say", async () => {
    expect(await svc("init", "mine")).toMatchObject({ code: 0 });
    const [engine, app] = ["config.toml", "app.toml"].map((name) => readFileSync(file(name), "utf8"));
    expect(engine).toContain('# where JSON-RPC listens\nladdr = "tcp://localhost:26657"\n');
    expect(engine).toContain('moniker = "mine"\n');
    expect(engine).toContain("[rpc]\n");
    expect(engine).toContain("max_open_connections = 900\n");
    expect(app).toContain('minimum-gas-prices = "0.0025utoken"\n');
    expect(app).toContain("[grpc]\n");
    expect(app).toContain("enable = true\n");
    expect(statSync(file("config.toml")).mode & 0o777).toBe(0o600);
    const found = readSettingsFiles(home);
    expect([...found.keys()].sort()).toEqual(
      Object.values(NODE_SETTINGS)
        .map(({ name }) => name as string)
        .sort(),
    );
    expect(readNodeConfig(nodeSettings(flagsOf()))).toEqual({ ...nodeConfig({}), moniker: "mine" });
    // The client's file changes nothing until a line is uncommented.
    expect(readFileSync(file("client.toml"), "utf8")).toContain('# node = "tcp://localhost:26657"\n');
    expect(await svc("config", "node")).toMatchObject({ code: 0 });
  });

  test("have a genesis file by which wallets show amounts in TOKEN", async () => {
    await svc("init", "mine");
    const { app_state } = JSON.parse(readFileSync(file("genesis.json"), "utf8"));
    const [metadata, ...others] = app_state.bank.denom_metadata;
    expect(others).toEqual([]);
    expect(metadata).toMatchObject({ base: "utoken", display: "TOKEN", symbol: "TOKEN" });
    expect(metadata.denom_units).toMatchObject([
      { denom: "utoken", exponent: 0 },
      { denom: "TOKEN", exponent: 6 },
    ]);
    expect(await svc("validate-genesis")).toMatchObject({ code: 0 });
  });

  test("apply to the node, and a flag overrides them", async () => {
    expect(readSettingsFiles(home).size).toBe(0);
    await svc("init", "mine");
    const rpc = '[rpc]\ncors_allowed_origins = ["https://a.example", "https://b.example"]\nmax_body_bytes = 5\n';
    writeFileSync(file("config.toml"), `moniker = "other"\n${rpc}`);
    writeFileSync(file("app.toml"), "halt-height = 7\n[api]\nenable = true\n");
    expect(readNodeConfig(nodeSettings(flagsOf()))).toMatchObject({
      moniker: "other",
      haltHeight: 7n,
      rpc: { corsOrigins: ["https://a.example", "https://b.example"], maxBodyBytes: 5 },
      rest: { port: 1317 },
    });
    expect(readNodeConfig(nodeSettings(flagsOf({ "halt-height": "9" }))).haltHeight).toBe(9n);
  });

  test("of CometBFT are passed on unchanged", async () => {
    await svc("init", "mine");
    const text =
      '[cometbft]\nlog_level = "info"\n[cometbft.p2p]\nmax_num_inbound_peers = 7\nunconditional_peer_ids = ["a"]\n';
    writeFileSync(file("config.toml"), `moniker = "other"\n${text}`);
    const passedOn = { log_level: "info", "p2p.max_num_inbound_peers": 7, "p2p.unconditional_peer_ids": ["a"] };
    expect(engineKeys(home)).toEqual(passedOn);
    expect(readNodeConfig(nodeSettings(flagsOf()), engineKeys(home))).toMatchObject({
      moniker: "other",
      engine: { others: passedOn },
    });
  });

  test.each([
    ["config.toml", "[cometbft.p2p]\nx = 1.5\n", /"cometbft.p2p.x" is not a string, an integer/],
    ["config.toml", "[cometbft.p2p]\n'a b' = 1\n", /unknown key "cometbft.p2p.a b"/],
    ["config.toml", "[cometbft.a.b]\nc = 1\n", /"cometbft.a.b" is not a string, an integer/],
    ["config.toml", "[rpc]\nladr = 1\n", /unknown key "rpc.ladr"/],
    ["app.toml", "minimum_gas_prices = 1\n", /did you mean "minimum-gas-prices"/],
    ["app.toml", "[rpc]\nladdr = 1\n", /unknown key/],
    ["app.toml", "halt-height = 1.5\n", /not a string, an integer/],
    ["app.toml", "halt-height = \n", /app\.toml:1/],
    ["app.toml", "halt-height = 'x'\n", /halt-height in .*a whole number/],
    ["config.toml", "block_interval = '1ms'\n", /block-interval in/],
  ])("%s with %j ends the start in one sentence", async (name, text, fault) => {
    await svc("init", "mine");
    writeFileSync(file(name), text);
    const { code, err } = await svc("start");
    expect(err).toMatch(fault);
    expect(code).not.toBe(0);
  });

  test("that exist stay as they are", async () => {
    await svc("init", "mine");
    writeFileSync(file("app.toml"), "halt-height = 3\n");
    await svc("init", "mine", "--overwrite");
    expect(readFileSync(file("app.toml"), "utf8")).toBe("halt-height = 3\n");
  });
});

describe("unsafe-reset-all", () => {
  test("forgets the chain, and touches neither keys nor genesis file", async () => {
    expect((await svc("unsafe-reset-all")).err).toContain("is not the home of a node");
    await svc("init", "mine");
    const kept = ["genesis.json", "node_key.json", "priv_validator_key.json", "config.toml", "app.toml"];
    const before = kept.map((name) => readFileSync(file(name), "utf8"));
    const vote = join(home, "data", "priv_validator_state.json");
    writeFileSync(vote, '{"height":"9","round":0,"step":3}');
    expect(await svc("unsafe-reset-all")).toMatchObject({ code: 0, out: "" });
    expect(JSON.parse(readFileSync(vote, "utf8"))).toMatchObject({ height: "0" });
    expect(existsSync(join(home, "data", "chain"))).toBe(false);
    expect(kept.map((name) => readFileSync(file(name), "utf8"))).toEqual(before);
    expect(await svc("comet", "unsafe-reset-all")).toMatchObject({ code: 0 });
  });
});

describe("testnet", () => {
  const testnet = (...words: string[]) => svc("testnet", "-o", join(home, "net"), "--chain-id", "net-1", ...words);

  test("writes the home of a chain with one validator", async () => {
    const each = join(home, "net", "node0", "svc");
    expect(await testnet("--starting-ip-address", "10.0.0.8")).toMatchObject({
      code: 0,
      err: [
        "Successfully initialized 1 node directory",
        "Copy each home to its machine, and start the node there:",
        `10.0.0.8         svc start --home ${each}\n`,
      ].join("\n"),
    });
    const genesis = JSON.parse(readFileSync(join(each, "config", "genesis.json"), "utf8"));
    expect(genesis).toMatchObject({ chain_id: "net-1", validators: [] });
    const memos = genesis.app_state.genutil.gen_txs.map((tx: { body: { memo: string } }) => tx.body.memo);
    expect(memos.map((memo: string) => memo.split("@")[1])).toEqual(["10.0.0.8:26656"]);
    const seed = join(each, "key_seed.json");
    expect(JSON.parse(readFileSync(seed, "utf8")).secret.split(" ")).toHaveLength(24);
    expect(statSync(seed).mode & 0o777).toBe(0o600);
    expect((await runCli(["validate-genesis", "--home", each])).code).toBe(0);
    expect(readdirSync(join(home, "net", "gentxs"))).toHaveLength(1);
    const again = await svc("testnet", "--output-dir", join(home, "net"), "--chain-id", "net-1", "--v", "1");
    expect(again.err).toContain("genesis.json file already exists");
  });

  test("writes nothing where one of its homes is already there", async () => {
    const words = ["testnet", "--output-dir", join(home, "net"), "--v", "2"];
    await runCli(["init", "other", "--home", join(home, "net", "node1", "svc")]);
    const path = join(home, "net", "node1", "svc", "config", "genesis.json");
    expect(await runCli(words)).toMatchObject({
      code: 1,
      err: `Error: genesis.json file already exists: ${path}\nHint: give another --output-dir, or remove the folders of its nodes\n`,
    });
    expect(readdirSync(join(home, "net"))).toEqual(["node1"]);
  });

  test("writes homes for several machines, which name each other", async () => {
    expect(await testnet("--v", "3", "--starting-ip-address", "10.0.0.254", "--node-dir-prefix", "x")).toMatchObject({
      code: 2,
      err: expect.stringContaining("10.0.0 has no address for node 2 after 10.0.0.254"),
    });
    const { code, err } = await testnet("--v", "3", "--starting-ip-address", "10.0.0.8");
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("initialized 3 node directories") });
    const homes = [0, 1, 2].map((i) => join(home, "net", `node${i}`, "svc"));
    for (const [i, each] of homes.entries())
      expect(err).toMatch(new RegExp(`^10.0.0.${8 + i} +svc start --engine cometbft --home ${each}$`, "m"));
    const files = homes.map((each) => readFileSync(join(each, "config", "genesis.json"), "utf8"));
    expect(new Set(files).size).toBe(1);
    const { genutil, bank } = JSON.parse(files[0] ?? "").app_state;
    expect([genutil.gen_txs.length, bank.balances.length]).toEqual([3, 3]);
    const ids = await Promise.all(
      homes.map(async (each) => (await runCli(["tendermint", "show-node-id", "--home", each])).out.trim()),
    );
    const settings = readSettingsFiles(homes[1] ?? "");
    expect(settings.get("p2p.persistent_peers")).toBe(`${ids[0]}@10.0.0.8:26656,${ids[2]}@10.0.0.10:26656`);
    expect(settings.get("p2p.laddr")).toBe("tcp://0.0.0.0:26656");
    expect(engineKeys(homes[1] ?? "")).toEqual({ "p2p.addr_book_strict": false });
  });

  test("writes homes for one machine, whose ports differ", async () => {
    const { code, err } = await testnet("--v", "2", "--single-machine", "--port-offset", "50");
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("Start each node:\nsvc start") });
    const [first, second] = [0, 1].map((i) => readSettingsFiles(join(home, "net", `node${i}`, "svc")));
    expect(second?.get("p2p.persistent_peers")).toMatch(/^[0-9a-f]{40}@127\.0\.0\.1:26706$/);
    const listeners = [...(first ?? [])].filter(([, value]) => /^tcp:\/\/.*:\d+$/.test(value));
    expect(listeners.map(([name]) => name).sort()).toEqual([
      ...["api.address", "grpc.address", "instrumentation.prometheus-listen-addr", "p2p.laddr", "rpc.laddr"],
    ]);
    for (const [name, place] of listeners) {
      const port = Number(/^tcp:\/\/127\.0\.0\.1:(\d+)$/.exec(place)?.[1]);
      expect(second?.get(name)).toBe(`tcp://127.0.0.1:${port + 10}`);
    }
    const keys = { "p2p.addr_book_strict": false, "p2p.allow_duplicate_ip": true };
    expect(engineKeys(join(home, "net", "node1", "svc"))).toEqual(keys);
  });

  test.each([
    [["--v", "0"], /0 is not above zero/],
    [["--v", "101"], /101 is more than 100/],
    [["--port-offset", "100"], /--port-offset needs --single-machine/],
    [["--port-offset", "40000", "--single-host"], /--port-offset: 40000 is above 30000/],
    [["--starting-ip-address", "10.0.0"], /10\.0\.0 is not an IPv4 address/],
    [["--node-dir-prefix", "../x"], /takes letters, digits/],
  ])("%j is refused, and nothing is written", async (words, text) => {
    expect((await testnet(...words)).err).toMatch(text);
    expect(existsSync(join(home, "net"))).toBe(false);
  });
});
