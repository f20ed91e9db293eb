import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import keyVectors from "../../../test/vectors/keys.json" with { type: "json" };
import txVectors from "../../../test/vectors/tx-sdk042.json" with { type: "json" };
import { ROOT } from "../root.ts";
import { resolveCommand } from "./words/normalize.ts";

const root = mkdtempSync(join(tmpdir(), "svc-profile-"));
afterAll(() => rmSync(root, { recursive: true }));
const home = join(root, "home");
const COSMOS = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_PROFILE: "cosmos" };

/** Runs a command that has to succeed, and returns its output. */
async function svc(words: readonly string[], env: Record<string, string> = {}, input = ""): Promise<string> {
  const { code, out, err } = await runCli(words, { env: { ...COSMOS, ...env }, input });
  if (code !== 0) throw new Error(`svc ${words.join(" ")}: ${err}`);
  return out;
}

const phrase = (name: string): string => keyVectors.keys.find((key) => key.name === name)?.mnemonic ?? "";

beforeAll(async () => {
  for (const name of ["k0", "k5"]) await svc(["keys", "add", name, "--recover"], {}, `${phrase(name)}\n`);
});

describe("keys of another chain", () => {
  const plain = keyVectors.keys.filter(({ name }) => name === "k0" || name === "k5");

  test.each(plain)("$name has the recorded addresses", async ({ name, ...key }) => {
    expect(await svc(["keys", "show", name, "-a"])).toBe(`${key.address}\n`);
    expect(await svc(["keys", "show", name, "-p"])).toBe(`${key.pubkey}\n`);
    expect(await svc(["keys", "show", name, "-a", "--bech", "val"])).toBe(`${key.valoper}\n`);
    expect(await svc(["keys", "show", name, "-p", "--bech", "val"])).toBe(`${key.valoperpub}\n`);
    expect(await svc(["keys", "show", name, "-a", "--bech", "cons"])).toBe(`${key.valcons}\n`);
    expect(await svc(["keys", "show", key.address, "-a"])).toBe(`${key.address}\n`);
  });

  test("the same key has our address without the profile", async () => {
    const ours = await svc(["keys", "show", "k0", "-a", "--profile", "svc"]);
    expect(ours).toMatch(/^svc1/);
    const { code, err } = await runCli(["keys", "show", ours.trim(), "-a"], { env: COSMOS });
    expect(code).toBe(1);
    expect(err).toContain("cosmos");
  });

  test("a profile of the file has its own prefix and derivation path", async () => {
    const other = join(root, "other");
    const inOther = { SVC_HOME: other, SVC_PROFILE: "" };
    for (const [key, value] of [
      ["bech32-prefix", "cosmos"],
      ["coin-type", "60"],
      ["denom", "uvec"],
      ["namespace", "cosmos"],
    ] as const) {
      await svc(["config", "set", key, value, "--profile", "hub"], inOther);
    }
    const k3 = keyVectors.keys.find(({ flags }) => "--coin-type" in flags);
    const add = ["keys", "add", "k3", "--recover", "-o", "json"];
    const hub = JSON.parse(await svc([...add, "--profile", "hub", "--dry-run"], inOther, `${k3?.mnemonic}\n`));
    expect(hub.address).toBe(k3?.address);
    await svc(["config", "set", "profile", "hub"], inOther);
    expect(JSON.parse(await svc(add, inOther, `${k3?.mnemonic}\n`)).address).toBe(k3?.address);
    const again = [...add, "--coin-type", "118", "--dry-run"];
    expect(JSON.parse(await svc(again, inOther, `${k3?.mnemonic}\n`)).address).not.toBe(k3?.address);
  });
});

describe("transactions of another chain", async () => {
  const known = await Promise.all(
    txVectors.cases.map(async (each) => {
      const { path, unknown } = await resolveCommand(ROOT, each.args);
      return { ...each, isKnown: unknown === undefined && path.at(-1)?.load !== undefined };
    }),
  );
  const cases = known.filter(({ isKnown }) => isKnown);

  test("there are some", () => expect(cases.length).toBeGreaterThanOrEqual(3));

  // The recorded tool is older than today's names of messages.
  beforeAll(() => svc(["config", "set", "amino-names", "older", "--profile", "cosmos"]));

  test.each(cases)("$name is byte for byte the recorded one, unsigned and in both sign modes", async (each) => {
    const chain = ["--chain-id", txVectors.chain_id];
    const unsigned = await svc([...each.args, "--generate-only", ...chain]);
    expect(unsigned).toBe(each.unsigned_stdout);
    const file = join(root, `${each.name}.json`);
    writeFileSync(file, unsigned);
    const numbers = ["-a", String(each.account_number), "-s", String(each.sequence)];
    const sign = ["tx", "sign", file, "--from", each.signer, "--offline", ...numbers, ...chain];
    expect(await svc(sign)).toBe(each.direct.signed_stdout);
    expect(await svc([...sign, "--sign-mode", "amino-json"])).toBe(each["amino-json"].signed_stdout);
  });

  test("a transaction made offline is the one that was generated and signed", async () => {
    const [each] = cases;
    const args = ["k0", ...(each?.args ?? []).slice(4)];
    const offline = ["--offline", "-y", "-a", "12", "-s", "34", "--chain-id", txVectors.chain_id];
    expect(await svc(["tx", "bank", "send", ...args, ...offline])).toBe(each?.direct.signed_stdout);
  });

  test("addresses of our chain are refused", async () => {
    const ours = (await svc(["keys", "show", "k5", "-a", "--profile", "svc"])).trim();
    const { code, err } = await runCli(["tx", "bank", "send", "k0", ours, "1uatom", "--offline"], { env: COSMOS });
    expect(code).toBe(2);
    expect(err).toContain("expected cosmos");
  });

  test("hints name its denomination", async () => {
    const [k0 = ""] = keyVectors.keys.map(({ address }) => address);
    const { err } = await runCli(["tx", "bank", "send", "k0", k0, "0uatom"], { env: COSMOS });
    expect(err).toContain("5000uatom");
  });
});

describe("queries of another chain", () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { id, params } = JSON.parse(body);
      asked.push(params.path);
      const result = { response: { code: 0, value: "", height: "5", log: "", codespace: "" } };
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test("ask under its names, and take its addresses", async () => {
    const node = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [k0 = ""] = keyVectors.keys.map(({ address }) => address);
    await svc(["query", "bank", "balances", k0, "--node", node]);
    await svc(["query", "bank", "spendable-balances", k0, "--node", node]);
    await svc(["query", "bank", "total", "--node", node, "--profile", "svc"]);
    expect(asked).toEqual([
      "/cosmos.bank.v1beta1.Query/AllBalances",
      "/cosmos.bank.v1beta1.Query/SpendableBalances",
      "/sdk.bank.v1beta1.Query/TotalSupply",
    ]);
  });
});

describe("which profile holds", () => {
  const dir = join(root, "which");
  const view = async (env: Record<string, string>, ...flags: string[]) =>
    JSON.parse(await svc(["config", ...flags], { SVC_HOME: dir, SVC_PROFILE: "", ...env }));

  test("keys above the tables are of the network that the file names", async () => {
    mkdirSync(join(dir, "config"), { recursive: true });
    const lines = ['chain-id = "ours-1"', 'node = "tcp://ours:1"', 'keyring-backend = "test"', 'denom = "ucoin"'];
    writeFileSync(join(dir, "config", "client.toml"), `${lines.join("\n")}\n[profiles.hub]\nnode = "tcp://hub:1"\n`);
    const own = { "chain-id": "ours-1", node: "tcp://ours:1", denom: "ucoin", "bech32-prefix": "svc" };
    expect(await view({})).toMatchObject({ profile: "svc", ...own });
    expect(await view({ SVC_PROFILE: "svc" })).toMatchObject({ profile: "svc", ...own });
    const other = { "chain-id": "", denom: "uatom", "bech32-prefix": "cosmos", "keyring-backend": "test" };
    expect(await view({ SVC_PROFILE: "cosmos" })).toMatchObject({ node: "tcp://localhost:26657", ...other });
    expect(await view({}, "--profile", "hub")).toMatchObject({ node: "tcp://hub:1", denom: "utoken" });
    await svc(["config", "set", "profile", "cosmos"], { SVC_HOME: dir, SVC_PROFILE: "" });
    expect(await view({})).toMatchObject({ "chain-id": "ours-1", "bech32-prefix": "cosmos", denom: "ucoin" });
    expect(await view({ SVC_PROFILE: "hub" }, "--profile", "svc")).toMatchObject({ profile: "svc", "chain-id": "" });
  });

  test.each([
    [["--profile", "cosmo"], {}, '--profile: there is no profile "cosmo"', 'did you mean "cosmos"?'],
    [[], { SVC_PROFILE: "x" }, 'SVC_PROFILE: there is no profile "x"', "choose svc or cosmos"],
  ])("%j %j is refused", async (flags, env, text, hint) => {
    const { code, out, err } = await runCli(["keys", "parse", "00", ...flags], { env });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(text);
    expect(err).toContain(hint);
  });
});
