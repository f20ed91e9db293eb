import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import { GLOBAL_FLAGS, TX_FLAGS } from "../command/global-flags.ts";
import { KEYS_COMMANDS } from "../keys/commands.ts";
import { withChange } from "./edit.ts";
import { CONFIG_KEYS, configFault, findConfigKey } from "./keys.ts";

const root = mkdtempSync(join(tmpdir(), "svc-config-"));
afterAll(() => rmSync(root, { recursive: true }));
const home = join(root, "home");
const path = join(home, "config", "client.toml");
beforeEach(() => rmSync(home, { recursive: true, force: true }));

const svc = (line: string, env: Record<string, string> = {}) =>
  runCli(line.split(" "), { env: { SVC_HOME: home, ...env } });

function write(...lines: string[]): void {
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(path, `${lines.join("\n")}\n`);
}

describe("svc config", () => {
  test("shows the defaults, and makes no file", async () => {
    const { code, out, err } = await svc("config");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^\{\n\t"chain-id": "",\n\t"keyring-backend": "os",\n\t"output": "text",\n\t"node": /);
    expect(JSON.parse(out)).toEqual({
      "chain-id": "",
      "keyring-backend": "os",
      output: "text",
      node: "tcp://localhost:26657",
      "broadcast-mode": "sync",
      profile: "svc",
      "bech32-prefix": "svc",
      "coin-type": "118",
      denom: "utoken",
      namespace: "sdk",
      "amino-names": "current",
      "trust-height": "",
      "trust-hash": "",
      "trust-period": "",
      witnesses: "",
    });
    await svc("keys parse 00");
    expect(existsSync(home)).toBe(false);
  });

  test.each([["config chain-id svc-1"], ["config set chain-id svc-1"]])(
    "svc %s writes a private file",
    async (line) => {
      expect(await svc(line)).toEqual({ code: 0, out: "", err: "" });
      expect(readFileSync(path, "utf8")).toBe('chain-id = "svc-1"\n');
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(statSync(join(home, "config")).mode & 0o777).toBe(0o700);
      expect(readdirSync(join(home, "config"))).toEqual(["client.toml"]);
      expect((await svc("config chain-id")).out).toBe("svc-1\n");
      expect((await svc("config get chain-id")).out).toBe("svc-1\n");
    },
  );

  test("shows where each value comes from", async () => {
    write('node = "tcp://file:1"', 'chain-id = "file-1"', 'output = ""');
    const { out } = await svc("config view --chain-id flag-1", { SVC_KEYRING_BACKEND: "test" });
    const rows = out.split("\n").map((row) => row.replaceAll(/ +/g, " "));
    expect(rows).toEqual([
      'chain-id = "flag-1" # --chain-id',
      'keyring-backend = "test" # SVC_KEYRING_BACKEND',
      'output = "text" # default',
      'node = "tcp://file:1" # client.toml',
      'broadcast-mode = "sync" # default',
      'profile = "svc" # default',
      'bech32-prefix = "svc" # profile svc',
      'coin-type = "118" # profile svc',
      'denom = "utoken" # profile svc',
      'namespace = "sdk" # profile svc',
      'amino-names = "current" # profile svc',
      'trust-height = "" # default',
      'trust-hash = "" # default',
      'trust-period = "" # default',
      'witnesses = "" # default',
      "",
    ]);
    const json = JSON.parse((await svc("config view -o json")).out);
    expect(json.node).toEqual({ value: "tcp://file:1", source: "client.toml" });
  });

  test("changes one line and leaves the others as they are", async () => {
    write("# mine", 'node = "tcp://a:1" # first', "", "[profiles.hub]", 'node="tcp://b:1"', "", "[profiles.x]");
    await svc("config set node tcp://c:1");
    await svc("config set node tcp://d:1 --profile hub");
    await svc("config set coin-type 330 --profile x");
    await svc("config set output json");
    await svc("config set bech32-prefix osmo --profile new");
    expect(readFileSync(path, "utf8").split("\n")).toEqual([
      "# mine",
      'node = "tcp://c:1"',
      'output = "json"',
      "",
      "[profiles.hub]",
      'node = "tcp://d:1"',
      "",
      "[profiles.x]",
      "coin-type = 330",
      "",
      "[profiles.new]",
      'bech32-prefix = "osmo"',
      "",
    ]);
  });

  test("an empty value counts as not set", async () => {
    write('node = "tcp://a:1"');
    expect((await runCli(["config", "set", "node", ""], { env: { SVC_HOME: home } })).code).toBe(0);
    expect((await svc("config node")).out).toBe("tcp://localhost:26657\n");
  });

  test("repairs the value that it sets", async () => {
    write('output = "yaml"');
    expect((await svc("config set output json")).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe('output = "json"\n');
  });

  test("what is written in another form is left to its author", async () => {
    write('profiles.hub.node = "tcp://a:1"');
    const before = readFileSync(path, "utf8");
    const { code, err } = await svc("config set node tcp://b:1 --profile hub");
    expect(code).toBe(1);
    expect(err).toContain("client.toml");
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("text with quotes and backslashes reads back", () => {
    const key = findConfigKey("chain-id");
    if (key === undefined) throw new Error("no key");
    expect(withChange("", { key, value: 'a"b\\c', profile: undefined })).toBe('chain-id = "a\\"b\\\\c"\n');
  });
});

describe("keys of client.toml", () => {
  test.each(CONFIG_KEYS.filter(({ default: text = "" }) => text !== ""))("$name takes its own default", (key) =>
    expect(configFault(key, key.default ?? "")).toBeUndefined(),
  );

  test("that stand for flags have a flag of their name", () => {
    const keys = KEYS_COMMANDS.flatMap(({ flags }) => flags ?? []);
    const names = new Set([...GLOBAL_FLAGS, ...TX_FLAGS, ...keys].map(({ name }) => name));
    expect(CONFIG_KEYS.filter(({ name, isFlag }) => isFlag && !names.has(name))).toEqual([]);
  });
});

describe("settings of client.toml", () => {
  test("stand below flags and variables and above defaults", async () => {
    write('output = "json"');
    const isJson = async (line: string, env = {}) => (await svc(line, env)).out.startsWith("{");
    expect(await isJson("keys parse 00")).toBe(true);
    expect(await isJson("keys parse 00 -o text")).toBe(false);
    expect(await isJson("keys parse 00", { SVC_OUTPUT: "text" })).toBe(false);
  });

  test("reach every command", async () => {
    write('node = "tcp://127.0.0.1:1"', 'keyring-backend = "test"', 'chain-id = "file-1"');
    expect((await svc("status")).err).toContain("http://127.0.0.1:1");
    expect((await svc("query bank total")).err).toContain("http://127.0.0.1:1");
    expect((await svc("keys add a")).code).toBe(0);
    expect(existsSync(join(home, "keyring-test"))).toBe(true);
    const { out } = await svc("tx bank send a a 1utoken --offline -a 1 -s 1 -y");
    expect(out).toBe("");
  });

  test("are found in the home of the command line", async () => {
    write('output = "json"');
    expect((await runCli(["keys", "parse", "00", "--home", home])).out).toMatch(/^\{/);
    expect((await runCli(["keys", "--home", join(root, "none"), "parse", "00"])).out).not.toMatch(/^\{/);
  });

  test("may be one of the reference tool, with keys of its own", async () => {
    write(
      'output = "json"',
      'keyring-default-keyname = ""',
      'grpc-address = "localhost:9090"',
      "grpc-insecure = false",
    );
    expect((await svc("keys parse 00")).out).toMatch(/^\{/);
    await svc("config set denom uatom");
    expect(readFileSync(path, "utf8")).toContain('grpc-address = "localhost:9090"');
  });

  test.each([
    [['nod = "x"'], ':1: unknown key "nod"', 'did you mean "node"?'],
    [["", 'gas = "auto"'], ':2: unknown key "gas"', "its keys are chain-id, keyring-backend"],
    [['output = "yaml"'], ':1: output: "yaml" is not one of text, json', "correct or remove the line"],
    [["output = 5"], ':1: the value of "output" is not a text in quotes', "correct or remove the line"],
    [['node = "tcp://a:99999"'], ':1: node: "tcp://a:99999" is not a node address', "correct or remove the line"],
    [['coin-type = "x"'], ':1: coin-type: "x" is not a whole number', "correct or remove the line"],
    [["coin-type = -1"], ':1: coin-type: "-1" is not a whole number', "correct or remove the line"],
    [['bech32-prefix = "Big"'], ':1: bech32-prefix: "Big" is not a prefix', "correct or remove the line"],
    [['namespace = "x"'], ':1: namespace: "x" is not one of sdk, cosmos', "correct or remove the line"],
    [['chain-id = "a b"'], ':1: chain-id: "a b" is not a chain id', "correct or remove the line"],
    [["node ="], "client.toml:1:7: ", "write lines such as"],
    [["node = tcp"], "client.toml:1:8: ", "write lines such as"],
    [['node = "a"', 'node = "b"'], "client.toml:2:", "write lines such as"],
    [['profiles = "hub"'], ':1: "profiles" is not a table', "correct or remove the line"],
    [["[profiles]", 'hub = "x"'], ': profile "hub" is not a table', "correct or remove the line"],
    [["[profiles.hub]", 'nodee = "x"'], ':2: unknown key "nodee"', 'did you mean "node"?'],
    [["[profiles.hub]", 'profile = "x"'], 'the key "profile" cannot be inside a profile', "correct or remove the line"],
    [["[node]", 'x = "y"'], 'the value of "node" is not a text', "correct or remove the line"],
  ])("%j is refused, whatever the command", async (lines, text, hint) => {
    write(...lines);
    for (const line of ["keys parse 00", "config", "config set denom utoken"]) {
      const { code, out, err } = await svc(line);
      expect({ line, code, out }).toEqual({ line, code: 1, out: "" });
      expect(err).toContain(text);
      expect(err).toContain(`Hint: ${hint}`);
      expect(err).toContain(path);
    }
    expect((await svc("version")).code).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
  });

  test("files that are not text, or have no end, are refused", async () => {
    write("x");
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0]));
    expect((await svc("keys parse 00")).err).toContain("is not UTF-8 text");
    writeFileSync(path, `# ${"x".repeat(2 ** 20)}\n`);
    expect((await svc("keys parse 00")).err).toContain("is larger than");
    rmSync(path);
    mkdirSync(path);
    expect((await svc("keys parse 00")).err).toContain("cannot read the configuration file");
  });
});
