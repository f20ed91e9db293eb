import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../../test/cli/chain.ts";

const chain = await cliChain("alice", "bob", "carol");
const { alice = "", bob = "", carol = "" } = chain.addresses;
afterAll(() => chain.stop());

const FEES = ["--fees", "5000utoken"];
let count = 0;

function file(text: string): string {
  count += 1;
  const path = join(chain.home, `document-${count}.json`);
  writeFileSync(path, text);
  return path;
}

/** Runs a command that succeeds and keeps its output in a file. */
async function printed(...argv: string[]): Promise<string> {
  const { code, out, err } = await chain.run(argv);
  if (code !== 0) throw new Error(`svc ${argv.join(" ")}: ${err}`);
  return file(out);
}

const generate = (from: string, ...flags: string[]) =>
  printed("tx", "bank", "send", from, bob, "5utoken", "--generate-only", ...FEES, ...flags);
const sign = (path: string, from: string, ...flags: string[]) => printed("tx", "sign", path, "--from", from, ...flags);
const broadcast = (path: string) => chain.run(["tx", "broadcast", path, "-b", "block"]);
const validate = (path: string) => chain.run(["tx", "validate-signatures", path]);

test("a transaction in a file: signed, checked, simulated and sent", async () => {
  const unsigned = await generate(alice);
  const missing = await validate(unsigned);
  expect(missing).toMatchObject({ code: 1, out: `Signers:\n  0: ${alice}\n\nSignatures:\n\n` });
  expect(missing.err).toContain("1 of 1 signatures are missing");
  const gas = JSON.parse((await chain.run(["tx", "simulate", unsigned])).out).gas_info.gas_used;
  const signed = await sign(unsigned, "alice");
  expect(await validate(signed)).toEqual({
    code: 0,
    out: `Signers:\n  0: ${alice}\n\nSignatures:\n  0: ${alice}\t\t\t[OK]\n\n`,
    err: "",
  });
  const sent = await broadcast(signed);
  expect(sent.code).toBe(0);
  const used = JSON.parse(sent.out).gas_used;
  expect(Math.abs(Number(used) - Number(gas))).toBeLessThan(Number(used) / 2);
  // The account's sequence has moved on.
  const again = await validate(signed);
  expect(again.code).toBe(1);
  expect(again.out).toMatch(/\[ERROR: sequence is \d+, the account's is \d+\]/);
  const repeated = await broadcast(signed);
  expect(repeated.code).toBe(1);
});

test("from standard input", async () => {
  const { out } = await chain.run(["tx", "sign", "-", "--from", "alice"], {
    input: (await chain.run(["tx", "bank", "send", alice, bob, "1utoken", "--generate-only", ...FEES])).out,
  });
  const sent = await chain.run(["tx", "broadcast", "-", "-b", "block"], { input: out });
  expect(JSON.parse(sent.out)).toMatchObject({ code: 0 });
});

test("a signature for another chain or by another key is reported", async () => {
  const signed = await sign(await generate(alice), "alice", "-a", "77", "-s", "1");
  const ran = await validate(signed);
  expect(ran.code).toBe(1);
  expect(ran.out).toContain("[ERROR: ");
  const wrong = await chain.run(["tx", "sign", await generate(alice), "--from", "alice", "--chain-id", "other-1"]);
  expect(wrong.err).toContain("the node serves cli-test-1, --chain-id says other-1");
});

test("gas is not estimated at a node of another chain", async () => {
  const send = ["tx", "bank", "send", alice, bob, "1utoken", "--chain-id", "other-1"];
  for (const flags of [["--dry-run"], ["--generate-only", "--gas", "auto"]]) {
    const { code, out, err } = await chain.run([...send, ...flags]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("the node serves cli-test-1, --chain-id says other-1");
  }
});

describe("flags of every tx command", () => {
  const COMMON = ["--from", "alice", "-y", "--sign-mode", "direct", "-a", "1", "-s", "1", "--broadcast-mode", "block"];

  test("are taken by commands that do not need them", async () => {
    const signed = await sign(await generate(alice), "alice");
    const { out } = await chain.run(["tx", "encode", signed]);
    expect(await chain.run(["tx", "encode", signed, ...COMMON, "--offline"])).toEqual({ code: 0, out, err: "" });
    const decoded = await chain.run(["tx", "decode", out.trim(), ...COMMON]);
    expect(decoded).toEqual(await chain.run(["tx", "decode", out.trim()]));
    expect((await chain.run(["tx", "broadcast", signed, ...COMMON])).code).toBe(0);
  });

  test("that a transaction in a file has settled are reported as having no effect", async () => {
    const unsigned = await generate(alice);
    const { code, out, err } = await chain.run(["tx", "encode", unsigned, "--fees", "1utoken", "--memo", "x"]);
    expect(code).toBe(0);
    expect(out).toBe((await chain.run(["tx", "encode", unsigned])).out);
    expect(err).toBe(
      "--fees changes nothing: the file holds the whole transaction\n--memo changes nothing: the file holds the whole transaction\n",
    );
  });

  test.each(["sign", "encode", "broadcast"])("--generate-only of tx %s prints it without signatures", async (name) => {
    const unsigned = (await chain.run(["tx", "bank", "send", alice, bob, "5utoken", "--generate-only", ...FEES])).out;
    const signed = await sign(file(unsigned), "alice");
    const ran = await chain.run(["tx", name, signed, "--from", "alice", "--generate-only"]);
    expect(ran).toEqual({ code: 0, out: unsigned, err: "" });
  });

  test("--generate-only and --dry-run of tx sign-batch do so for each line, or for the one of --append", async () => {
    const unsigned = (await chain.run(["tx", "bank", "send", alice, bob, "5utoken", "--generate-only", ...FEES])).out;
    const batch = ["tx", "sign-batch", file(unsigned + unsigned), "--from", "alice"];
    expect(await chain.run([...batch, "--generate-only"])).toEqual({ code: 0, out: unsigned + unsigned, err: "" });
    const { out } = await chain.run([...batch, "--generate-only", "--append"]);
    expect(JSON.parse(out)).toMatchObject({ body: { messages: [{}, {}] }, signatures: [] });
    const { err } = await chain.run([...batch, "--dry-run"]);
    expect(err).toMatch(/^(gas estimate: \d+)\n\1\n$/);
  });

  test.each(["sign", "broadcast"])("--dry-run of tx %s tells the gas and sends nothing", async (name) => {
    const signed = await sign(await generate(alice), "alice");
    const before = (await chain.query("account", alice)).sequence;
    const once = await chain.run(["tx", name, signed, "--from", "alice", "--dry-run"]);
    expect({ code: once.code, out: once.out }).toEqual({ code: 0, out: "" });
    const gas = Number(/^gas estimate: (\d+)\n$/.exec(once.err)?.[1]);
    const twice = await chain.run(["tx", name, signed, "--from", "alice", "--dry-run", "--gas-adjustment", "2"]);
    expect(twice.err).toBe(`gas estimate: ${2 * gas}\n`);
    expect((await chain.query("account", alice)).sequence).toBe(before);
    const offline = await chain.run(["tx", name, signed, "--from", "alice", "--dry-run", "--offline"]);
    expect(offline.code).toBe(2);
    expect(offline.err).toContain("--dry-run needs a node");
  });
});

describe("somebody else pays the fee", () => {
  test("both sign in turn, in either order", async () => {
    for (const [first, second] of [
      ["alice", "carol"],
      ["carol", "alice"],
    ] as const) {
      const unsigned = await generate(alice, "--fee-payer", carol);
      const half = await sign(unsigned, first, "--sign-mode", "amino-json");
      expect((await validate(half)).code).toBe(1);
      const signed = await sign(half, second, "--sign-mode", "amino-json");
      expect((await validate(signed)).code).toBe(0);
      const before = await balance(carol);
      expect((await broadcast(signed)).code).toBe(0);
      expect(await balance(carol)).toBe(before - 5000n);
    }
  });

  test("one command cannot sign for both", async () => {
    const { code, out, err } = await chain.run([
      ...["tx", "bank", "send", "alice", bob, "5utoken", "-y", ...FEES],
      ...["--fee-payer", carol],
    ]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`--fee-payer: ${carol} must sign as well as ${alice}`);
    const own = await chain.tx("bank", "send", "alice", bob, "5utoken", "--fee-payer", alice);
    expect(own.code).toBe(0);
  });

  test("mode direct, in which signatures cover each other", async () => {
    const unsigned = await generate(alice, "--fee-payer", carol);
    const { code, err } = await chain.run(["tx", "sign", unsigned, "--from", "alice"]);
    expect(code).toBe(2);
    expect(err).toContain("use --sign-mode amino-json");
  });

  test("a granter stands in the fee, under both names of the flag", async () => {
    for (const flag of ["--fee-granter", "--fee-account"]) {
      const tx = JSON.parse((await chain.run(["tx", "decode", await encoded(flag)])).out);
      expect(tx.auth_info.fee).toMatchObject({ granter: carol, payer: "" });
    }
    const { code, err } = await chain.run([
      ...["tx", "bank", "send", alice, bob, "1utoken", "--generate-only"],
      ...["--fee-granter", "svc1x"],
    ]);
    expect(code).toBe(2);
    expect(err).toContain("--fee-granter:");
  });
});

async function encoded(flag: string): Promise<string> {
  return (await chain.run(["tx", "encode", await generate(alice, flag, carol)])).out.trim();
}

async function balance(address: string): Promise<bigint> {
  return BigInt((await chain.query("bank", "balances", address, "--denom", "utoken")).amount);
}

describe("a multisig", () => {
  let team = "";
  beforeAll(async () => {
    const add = ["keys", "add", "team", "--multisig", "alice,bob,carol", "--multisig-threshold", "2", "-o", "json"];
    team = JSON.parse((await chain.run(add)).out).address;
    await chain.tx("bank", "send", "alice", team, "1000000utoken");
  });

  test.each([
    ["alice", "carol"],
    ["carol", "bob"],
  ])("signed by %s and %s", async (first, second) => {
    const unsigned = await generate(team);
    const shares = [
      await sign(unsigned, first, "--multisig", "team"),
      await sign(unsigned, second, "--multisig", team),
    ];
    const signed = await printed("tx", "multisign", unsigned, "team", ...shares);
    expect((await validate(signed)).code).toBe(0);
    const sent = await broadcast(signed);
    expect(JSON.parse(sent.out)).toMatchObject({ code: 0 });
  });

  test("a batch, each with the next sequence", async () => {
    const line = async (amount: string) =>
      (await chain.run(["tx", "bank", "send", team, bob, amount, "--generate-only", ...FEES])).out;
    const batch = file((await line("1utoken")) + (await line("2utoken")));
    const shares = await Promise.all(
      ["alice", "bob"].map((from) => printed("tx", "sign-batch", batch, "--from", from, "--multisig", "team")),
    );
    const { out } = await chain.run(["tx", "multisign-batch", batch, "team", ...shares]);
    for (const text of out.trimEnd().split("\n")) expect((await broadcast(file(text))).code).toBe(0);
  });
});

test("a batch of one account, and joined to one transaction", async () => {
  const line = (amount: string) =>
    chain.run(["tx", "bank", "send", bob, carol, amount, "--generate-only", ...FEES]).then(({ out }) => out);
  const batch = file((await line("1utoken")) + (await line("2utoken")));
  const { out } = await chain.run(["tx", "sign-batch", batch, "--from", "bob"]);
  for (const text of out.trimEnd().split("\n")) expect((await broadcast(file(text))).code).toBe(0);
  const joined = await printed("tx", "sign-batch", batch, "--from", "bob", "--append");
  const sent = JSON.parse((await broadcast(joined)).out);
  expect(sent.code).toBe(0);
  expect(sent.logs).toHaveLength(2);
  expect(sent.gas_wanted).toBe("400000");
});
