import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../test/cli/chain.ts";

const chain = await cliChain("alice", "bob");
const { alice = "", bob = "" } = chain.addresses;
afterAll(() => chain.stop());

const send = (...flags: string[]): string[] => ["tx", "bank", "send", "alice", bob, "5utoken", ...flags];
const FEES = ["--fees", "5000utoken"];

async function balance(address: string): Promise<bigint> {
  return BigInt((await chain.query("bank", "balances", address, "--denom", "utoken")).amount);
}

async function sequence(): Promise<number> {
  return Number((await chain.query("account", alice)).sequence);
}

describe("tx bank send", () => {
  test("waits for the block in mode block", async () => {
    const before = await balance(bob);
    const result = await chain.tx("bank", "send", "alice", bob, "5utoken");
    expect(result).toMatchObject({ code: 0, codespace: "", tx: null, timestamp: "", gas_wanted: "200000" });
    expect(Number(result.height)).toBeGreaterThan(0);
    expect(result.logs[0].events.map(({ type }: { type: string }) => type)).toEqual(["message", "transfer"]);
    expect(JSON.parse(result.raw_log)).toHaveLength(1);
    expect(await balance(bob)).toBe(before + 5n);
    const found = await chain.query("tx", result.txhash);
    expect(found).toMatchObject({ txhash: result.txhash, height: result.height });
    expect(found.tx).toMatchObject({ "@type": "/sdk.tx.v1beta1.Tx" });
    expect(found.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test.each([
    ["sync", "[]"],
    ["async", ""],
  ])("returns at once in mode %s", async (mode, rawLog) => {
    const next = await sequence();
    const { code, out, err } = await chain.run(send("-y", "-b", mode, ...FEES));
    const { txhash, ...result } = JSON.parse(out);
    const wait = `not in a block yet; wait for it with: svc query wait-tx ${txhash}\n`;
    expect({ code, err }).toEqual({ code: 0, err: wait });
    expect(txhash).toMatch(/^[0-9A-F]{64}$/);
    expect(result).toEqual({
      height: "0",
      codespace: "",
      code: 0,
      data: "",
      raw_log: rawLog,
      logs: [],
      info: "",
      gas_wanted: "0",
      gas_used: "0",
      tx: null,
      timestamp: "",
      events: [],
    });
    await expect.poll(sequence).toBe(next + 1);
  });

  test("prints YAML when asked", async () => {
    const { out } = await chain.run(send("-y", "-b", "block", "-o", "text", ...FEES));
    expect(out.split("\n")[0]).toBe("code: 0");
    expect(out).toContain('\nraw_log: \'[{"events":');
  });

  test("takes an address for the key, and its sender from the first argument", async () => {
    const result = await chain.tx("bank", "send", alice, bob, "1utoken", "--from", "bob");
    expect(result.code).toBe(0);
  });

  test("with amino-json signatures", async () => {
    expect((await chain.tx("bank", "send", "alice", bob, "1utoken", "--sign-mode", "amino-json")).code).toBe(0);
  });

  test("with simulated gas and a price of gas", async () => {
    const flags = ["--gas", "auto", "--gas-adjustment", "1.5", "--gas-prices", "0.0025utoken"];
    const { code, out, err } = await chain.run(send("-y", "-b", "block", ...flags));
    expect(code).toBe(0);
    const estimate = /^gas estimate: (\d+)\n$/.exec(err)?.[1];
    const result = JSON.parse(out);
    expect(result.gas_wanted).toBe(estimate);
    expect(Number(result.gas_used) * 1.6).toBeGreaterThan(Number(estimate));
    expect(Number(result.gas_used) * 1.4).toBeLessThan(Number(estimate));
  });

  test("a refusal is reported with code, exit code and remedy", async () => {
    const { code, out, err } = await chain.run(send("-y"));
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ code: 13, codespace: "sdk" });
    expect(err).toContain("Error: transaction failed with code 13 of sdk: insufficient fees");
    expect(err).toContain("Hint: raise --fees or --gas-prices");
  });

  test("a failure in the block is reported in mode block", async () => {
    const argv = ["tx", "bank", "send", "alice", bob, "9999999999999utoken", "-y", "-b", "block", ...FEES];
    const { code, out } = await chain.run(argv);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ code: 5, codespace: "sdk" });
    expect(JSON.parse(out).raw_log).toMatch(/^failed to execute message; message index: 0: .*: insufficient funds$/);
  });

  test.each([
    ["-s", "999", 32],
    ["-a", "77", 4],
  ])("online %s overrides the chain's answer", async (flag, value, expected) => {
    const { code, out } = await chain.run(send("-y", flag, value, ...FEES));
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ codespace: "sdk", code: expected });
  });
});

describe("the confirmation", () => {
  const unsigned = (text: string) => JSON.parse(text.split("\n")[0] ?? "");

  test("it is an error if nobody is there to answer", async () => {
    const before = await sequence();
    const { code, out, err } = await chain.run(send(...FEES), { input: "" });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/\nError: standard input ended where an answer was expected\nHint: .* or use -y\n$/);
    expect(await sequence()).toBe(before);
  });

  test.each(["n\n", "yes\n", "\n", "nope\n"])("anything but y cancels: %j", async (input) => {
    const before = await sequence();
    const { code, out, err } = await chain.run(send(...FEES), { input });
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(unsigned(err)).toMatchObject({
      body: { messages: [{ "@type": "/sdk.bank.v1beta1.MsgSend", from_address: alice, to_address: bob }] },
      auth_info: { signer_infos: [], fee: { amount: [{ denom: "utoken", amount: "5000" }], gas_limit: "200000" } },
      signatures: [],
    });
    expect(err).toMatch(/\n\ncancelled transaction\n$/);
    expect(await sequence()).toBe(before);
  });

  test.each(["y\n", "Y\n"])("%j goes on", async (input) => {
    const { code, out } = await chain.run(send("-b", "block", ...FEES), { input });
    expect(code).toBe(0);
    expect(JSON.parse(out).code).toBe(0);
  });

  test("shows what a memo hides", async () => {
    const { err } = await chain.run(send("--memo", "a\u202eb\u001b[2J", ...FEES), { input: "n\n" });
    expect(err).toContain('"memo":"a\\u202eb\\u001b[2J"');
  });

  test("a terminal sees the question after the JSON and an empty line", async () => {
    const { err } = await chain.run(send(...FEES), { input: "n\n", isTTY: true });
    const lines = err.split("\n").slice(1);
    expect(lines).toEqual(["", "confirm transaction before signing and broadcasting [y/N]: cancelled transaction", ""]);
  });
});

describe("transactions that are not sent", () => {
  test("--generate-only prints the unsigned transaction and needs no keyring", async () => {
    const argv = ["tx", "bank", "send", alice, bob, "5utoken", "--generate-only", "--home", "/nonexistent", ...FEES];
    const { code, out, err } = await chain.run(argv, { env: { SVC_NODE: "tcp://127.0.0.1:1" } });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(JSON.parse(out).signatures).toEqual([]);
    expect(out.endsWith("}\n")).toBe(true);
  });

  test("it goes through sign, encode, decode and broadcast", async () => {
    const unsigned = join(chain.home, "unsigned.json");
    const signed = join(chain.home, "signed.json");
    const argv = ["tx", "bank", "send", alice, bob, "5utoken", "--generate-only", ...FEES];
    writeFileSync(unsigned, (await chain.run(argv)).out);
    const simulated = await chain.run(["tx", "simulate", unsigned]);
    expect(Number(JSON.parse(simulated.out).gas_info.gas_used)).toBeGreaterThan(1000);
    expect(await chain.run(["tx", "broadcast", unsigned])).toMatchObject({ code: 1, out: "" });
    await chain.run(["tx", "sign", unsigned, "--from", "alice", "--output-document", signed]);
    const encoded = await chain.run(["tx", "encode", signed]);
    const decoded = await chain.run(["tx", "decode", encoded.out.trim()]);
    const { code, out } = await chain.run(["tx", "broadcast", "-", "-b", "block"], { input: decoded.out });
    expect(code).toBe(0);
    expect(JSON.parse(out).code).toBe(0);
    const again = await chain.run(["tx", "broadcast", signed]);
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out).codespace).toBe("sdk");
  });

  test("--offline prints the signed transaction, which another machine broadcasts", async () => {
    const numbers = ["-a", (await chain.query("account", alice)).account_number, "-s", String(await sequence())];
    const argv = send("--offline", "-y", "--chain-id", "cli-test-1", ...numbers, ...FEES);
    const { code, out, err } = await chain.run(argv, { env: { SVC_NODE: "tcp://127.0.0.1:1" } });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const sent = await chain.run(["tx", "broadcast", "-", "-b", "block"], { input: out });
    expect(JSON.parse(sent.out).code).toBe(0);
  });

  test.each(["alice", "address"])("--dry-run tells the gas for a %s and sends nothing", async (kind) => {
    const before = await sequence();
    const from = kind === "alice" ? "alice" : alice;
    const { code, out, err } = await chain.run(["tx", "bank", "send", from, bob, "5utoken", "--dry-run"]);
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^gas estimate: \d+\n$/);
    expect(await sequence()).toBe(before);
  });
});

describe("refusals before anything is signed", () => {
  test("an account that the chain does not know", async () => {
    await chain.run(["keys", "add", "poor"]);
    const { code, err } = await chain.run(["tx", "bank", "send", "poor", bob, "5utoken", ...FEES], { input: "y\n" });
    expect(code).toBe(1);
    expect(err).toMatch(/^Error: .*account svc1\w+ not found: key not found\nHint: the chain has no account svc1/);
  });

  test.each([
    ["another chain", send("--chain-id", "other-1", ...FEES), 1, "wrong chain"],
    ["a node that is away", send("--node", "tcp://127.0.0.1:1"), 1, "cannot reach the node at http://127.0.0.1:1"],
    [
      "fees and prices",
      send("--fees", "1utoken", "--gas-prices", "1utoken"),
      2,
      "cannot provide both fees and gas prices",
    ],
    ["a wrong fee", send("--fees", "1a"), 2, "--fees: invalid coin"],
    ["a wrong gas", send("--gas", "abc"), 2, "--gas: gas must be either integer or auto"],
    ["a wrong adjustment", send("--gas-adjustment", "-1"), 2, "--gas-adjustment"],
    ["a wrong mode", send("-b", "foo"), 2, "--broadcast-mode takes sync, async, block"],
    ["a wrong sign mode", send("--sign-mode", "textual"), 2, "--sign-mode takes direct, amino-json"],
    ["offline without numbers", send("--offline"), 2, "--account-number"],
    ["offline simulation", send("--offline", "--dry-run"), 2, "--dry-run needs a node"],
    ["two ends", send("--generate-only", "--dry-run"), 2, "cannot be used together"],
    [
      "a name with --generate-only",
      send("--generate-only"),
      2,
      "must provide a valid Bech32 address in generate-only mode",
    ],
    ["a device that does not hold the key", send("--ledger"), 2, '--ledger: key "alice" is not on a hardware device'],
    ["nothing to send", ["tx", "bank", "send", "alice", bob, "0utoken"], 2, "<amount>"],
    ["a wrong address", ["tx", "bank", "send", "alice", "svc1bad", "1utoken"], 2, "<to-address>"],
    ["an unknown key", ["tx", "bank", "send", "nobody", bob, "1utoken"], 1, "nobody is not a valid name or address"],
    ["too few words", ["tx", "bank", "send", "alice"], 2, "missing required argument 'to-address'"],
    ["too many words", send("more"), 2, "too many arguments"],
    ["an unknown flag", send("--feees", "1utoken"), 2, "unknown option '--feees'"],
  ])("%s", async (_, argv, code, text) => {
    const ran = await chain.run(argv, { input: "y\n" });
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toMatch(/^Error: /);
    expect(ran.err).toContain(text);
    expect(ran.err).not.toContain("    at ");
  });
});
