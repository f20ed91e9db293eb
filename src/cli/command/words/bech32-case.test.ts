import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../../test/cli/run.ts";
import keyVectors from "../../../../test/vectors/keys.json" with { type: "json" };
import { encodeAddress } from "../../../wire/index.ts";
import type { CommandSpec } from "../spec.ts";
import { lowerAddresses } from "./bech32-case.ts";

const address = encodeAddress(new Uint8Array(20).fill(7));
const operator = encodeAddress(new Uint8Array(20).fill(7), "valoper", "cosmos");
const SPEC: CommandSpec = { name: "x", summary: "x", flags: [{ name: "memo", value: "<text>", summary: "text" }] };

const lowered = async (words: readonly string[], spec = SPEC) =>
  (await lowerAddresses(spec, { args: words, flags: new Map() })).args;

describe("addresses in capitals", () => {
  test.each([
    address,
    operator,
    `order/${address}/1/1/1`,
    `${address}/7`,
    `transfer.recipient='${address}'&x.y=${operator}`,
    `${address},${operator}`,
  ])("%s", async (text) => {
    const capitals = text.replace(address, address.toUpperCase()).replace(operator, operator.toUpperCase());
    expect(await lowered([capitals])).toEqual([text]);
  });

  test.each([
    ["mixed", address.slice(0, -1) + address.slice(-1).toUpperCase()],
    ["of another checksum", `${address.slice(0, -1)}${address.endsWith("q") ? "p" : "q"}`.toUpperCase()],
    ["a hash", "AB1".repeat(21)],
    ["part of a name", `${address.toUpperCase()}.json`],
  ])("%s stay", async (_, text) => {
    expect(await lowered([text])).toEqual([text]);
  });

  test("texts for people and words for another program stay", async () => {
    const capitals = address.toUpperCase();
    const flags = new Map<string, string | readonly string[]>([
      ["memo", capitals],
      ["to", capitals],
      ["ids", [capitals, "x"]],
    ]);
    const line = await lowerAddresses(SPEC, { args: [], flags });
    expect([...line.flags]).toEqual([
      ["memo", capitals],
      ["to", address],
      ["ids", [address, "x"]],
    ]);
    expect(await lowered([capitals], { ...SPEC, passThrough: true })).toEqual([capitals]);
  });
});

describe("commands take them", () => {
  let home: string;
  const [key = { name: "", mnemonic: "" }] = keyVectors.keys;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "svc-capitals-"));
    await svc(["keys", "add", "alice", "--recover"], `${key.mnemonic}\n`);
  });
  afterAll(() => rm(home, { recursive: true }));
  const svc = (args: readonly string[], input = "") =>
    runCli([...args, "--home", home, "--keyring-backend", "test"], { input });

  test("of keys, senders and receivers alike", async () => {
    const alice = (await svc(["keys", "show", "alice", "-a"])).out.trim();
    const capitals = alice.toUpperCase();
    expect((await svc(["keys", "show", capitals, "-a"])).out.trim()).toBe(alice);
    const send = (from: string, to: string) => svc(["tx", "bank", "send", from, to, "5utoken", "--generate-only"]);
    expect(await send(capitals, capitals)).toEqual(await send(alice, alice));
    const stake = (...flags: string[]) =>
      svc(["tx", "authz", "revoke", ...flags, "/x.MsgY", "--generate-only", "--from", alice]);
    expect(await stake(capitals)).toEqual(await stake(alice));
    for (const words of [
      ["debug", "addr"],
      ["keys", "parse"],
    ])
      expect(await svc([...words, capitals])).toEqual(await svc([...words, alice]));
  });

  test("mixed ones are refused", async () => {
    const mixed = address.slice(0, 3).toUpperCase() + address.slice(3);
    const { code, err } = await runCli(["query", "account", mixed], { env: { SVC_HOME: home } });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("invalid Bech32 prefix") });
  });
});
