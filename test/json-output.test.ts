import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OUTPUT_FORMATS } from "../src/cli/command/global-flags.ts";
import type { CommandSpec } from "../src/cli/command/spec.ts";
import { ROOT } from "../src/cli/root.ts";
import { type FixedChain, fixedChain } from "./cli/fixed-chain.ts";
import { runCli } from "./cli/run.ts";

/** Holds that `-o json` prints JSON wherever a command prints a result. */

const FOLDER = join(import.meta.dirname, "..");

/** Commands whose standard output is no result that JSON could hold, by the reason. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  "runs until it is stopped; --log_format is the form of its log": ["start", "provider run"],
  "prints what the tenant's program prints": ["provider lease-shell", "deploy shell"],
  "prints a script for a shell": ["completion bash", "completion zsh", "completion fish"],
  "prints a text that other commands and programs read": ["keys export", "tx encode"],
  "prints nothing": [
    ...["keys delete", "keys rename", "keys import", "keys import-hex", "config set", "config trust"],
    "snapshots delete",
  ],
  "changes the genesis file and prints nothing": ["add-genesis-account"],
  "writes files, and names them on standard error": ["gentx", "testnet", "snapshots dump"],
  "says what it removed on standard error": ["unsafe-reset-all", "tendermint unsafe-reset-all"],
  "describes the node on standard error, in JSON, as the reference tool does": ["init", "collect-gentxs"],
};

const ADDRESS = "svc1z4eqld03t9z6gu5svrx2h7r9gk8fg4w3yqyrc2";
const SDL = join(FOLDER, "examples", "web.yaml");

/** Command lines; ALICE is an address, SIGNED and UNSIGNED are files. */
const ROWS: readonly string[] = [
  "keys add other --dry-run",
  "keys list",
  "keys list --list-names",
  "keys show alice",
  "keys migrate",
  "keys list-key-types",
  "keys parse 00",
  "keys mnemonic",
  "sdl validate SDL",
  "sdl hash SDL",
  "sdl manifest SDL",
  "version --long",
  "help topics",
  "help money",
  "config",
  "config node",
  "config get node",
  "config view",
  `debug addr ${ADDRESS}`,
  `debug pubkey ${"02".padEnd(66, "1")}`,
  "debug raw-bytes 72 101",
  "validate-genesis",
  "tendermint show-node-id",
  "tendermint show-validator",
  "tendermint show-address",
  "tendermint version",
  "snapshots list",
  "provider cluster install --dry-run",
  "tx bank send ALICE ALICE 1utoken --generate-only",
  "tx sign UNSIGNED --from alice",
  "tx sign-batch UNSIGNED --from alice",
  "tx validate-signatures SIGNED",
  "tx decode ENCODED",
  "tx simulate UNSIGNED --from alice",
  "tx broadcast SIGNED",
  "tx gov draft-proposal",
  "tx bank send alice ALICE 1utoken -y",
];

/** Commands that need a provider, a database or a multisig: the test that reads their JSON. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  "test/golden.test.ts": ["status"],
  "test/e2e/release.test.ts": ["self update", "self rollback"],
  "src/cli/engine/engine.test.ts": ["engine install", "engine show"],
  "src/cli/node/snapshots.test.ts": ["snapshots export", "snapshots load", "snapshots restore", "rollback", "export"],
  "src/cli/tx/files/multisign.test.ts": ["tx multisign", "tx multisign-batch"],
  "src/cli/provider/operate/operate.test.ts": ["provider orders", "provider why", "provider drain"],
  "src/cli/provider/examine/examine.test.ts": ["provider check", "provider verify"],
  "src/cli/provider/client/provider-client.test.ts": [
    ...["send-manifest", "get-manifest", "lease-status", "service-status", "lease-logs", "lease-events"],
    ...["lease-restart", "migrate-hostnames", "migrate-endpoints", "status"],
  ].map((word) => `provider ${word}`),
  "test/browser/console-command.test.ts": ["console"],
  "test/e2e/localnet.test.ts": ["localnet", "faucet", "deploy restart"],
  "test/e2e/deploy.test.ts": ["deploy", "deploy update", "deploy close", "deploy ps", "deploy logs"],
  "test/e2e/provider-state.test.ts": ["provider purge", "provider evict"],
};

async function commandsOf(spec: CommandSpec, words: readonly string[] = []): Promise<[string, CommandSpec][]> {
  const children = (await spec.commands?.()) ?? [];
  const below = await Promise.all(children.map((child) => commandsOf(child, [...words, child.name])));
  return [...(spec.load === undefined ? [] : [[words.join(" "), spec] as [string, CommandSpec]]), ...below.flat()];
}

const commands = new Map(await commandsOf(ROOT));
const without = new Set(Object.values(WITHOUT).flat());
const elsewhere = Object.entries(ELSEWHERE);
/** Generated from the protos, with one printer each: golden files hold the queries, every test with a chain the others. */
const isGenerated = (words: string): boolean =>
  words.startsWith("query ") || (words.startsWith("tx ") && !words.startsWith("tx gov draft"));
const isTyped = (words: string): boolean =>
  ROWS.some((row) => `${row} `.startsWith(`${words} `)) || elsewhere.some(([, known]) => known.includes(words));

describe("every command", () => {
  test("has --output, or a reason why not", () => {
    const lacking = [...commands].filter(([words, { flags = [] }]) => {
      const format = flags.find(({ name }) => name === "output");
      return format?.choices?.join() !== OUTPUT_FORMATS.join() && !without.has(words);
    });
    expect(lacking.map(([words]) => words)).toEqual([]);
  });

  test("has a row, or a test that reads its JSON", () => {
    const missing = [...commands.keys()].filter((words) => !without.has(words) && !isGenerated(words));
    expect(missing.filter((words) => !isTyped(words))).toEqual([]);
  });

  test("of the lists exists", () => {
    const listed = [...without, ...elsewhere.flatMap(([, words]) => words)];
    expect(listed.filter((words) => !commands.has(words))).toEqual([]);
  });

  test.each(elsewhere)("%s reads the JSON of its commands", (file, words) => {
    const text = readFileSync(join(FOLDER, file), "utf8");
    expect(text).toMatch(/JSON\.parse/);
    expect(words.filter((each) => !text.includes(each.split(" ").at(-1) ?? ""))).toEqual([]);
  });
});

describe("svc -o json", () => {
  let chain: FixedChain;
  const places = new Map([["SDL", SDL]]);

  beforeAll(async () => {
    chain = await fixedChain("alice");
    const { alice = "" } = chain.addresses;
    places.set("ALICE", alice);
    const unsigned = await chain.run(["tx", "bank", "send", alice, alice, "1utoken", "--generate-only"]);
    places.set("UNSIGNED", chain.file("unsigned.json", unsigned.out));
    const signed = await chain.run(["tx", "sign", places.get("UNSIGNED") ?? "", "--from", "alice"]);
    places.set("SIGNED", chain.file("signed.json", signed.out));
    places.set("ENCODED", (await chain.run(["tx", "encode", places.get("SIGNED") ?? ""])).out.trim());
  });
  afterAll(() => chain.stop());

  test.each(ROWS)("svc %s", async (row) => {
    const argv = row.split(" ").map((word) => places.get(word) ?? word);
    const { code, out } = await chain.run([...argv, "-o", "json"]);
    chain.blocks(1);
    expect(code).toBe(0);
    expect(() => JSON.parse(out)).not.toThrow();
  });

  test("text that scripts read stays as it is where no format is given", async () => {
    expect((await runCli(["debug", "raw-bytes", "72"])).out).toBe("48\n");
    expect((await chain.run(["tendermint", "show-node-id"])).out).toMatch(/^[0-9a-f]{40}\n$/);
    expect((await chain.run(["keys", "list-key-types"])).out).toBe("secp256k1\n");
  });
});
