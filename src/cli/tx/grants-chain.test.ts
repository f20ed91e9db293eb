import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliChain, cliChain } from "../../../test/cli/chain.ts";
import { ROOT } from "../../../test/support/build.ts";

const PAID = ["--fees", "5000utoken", "-b", "block", "-y"];
let chain: CliChain;
const address = (name: string): string => chain.addresses[name] ?? "";
const balance = async (name: string): Promise<bigint> =>
  BigInt((await chain.query("bank", "balances", address(name), "--denom", "utoken")).amount);

beforeAll(async () => {
  chain = await cliChain("alice", "bob", "carol");
});

afterAll(() => chain.stop());

test("an allowance pays the fee of a command with --fee-granter", async () => {
  await chain.tx("feegrant", "grant", "alice", address("bob"), "--spend-limit", "9000utoken");
  const before = await balance("bob");
  const words = ["bank", "send", "bob", address("carol"), "1utoken", "--fees", "5000utoken"];
  await chain.tx(...words, "--fee-granter", address("alice"));
  expect(await balance("bob")).toBe(before - 1n);
  const { allowance } = await chain.query("feegrant", "grant", address("alice"), address("bob"));
  expect(JSON.stringify(allowance)).toContain("4000");
  const { code, err } = await chain.run(["tx", ...words, "--fee-granter", address("alice"), "-y"]);
  expect(code).not.toBe(0);
  expect(err).toContain("fee limit exceeded");
  await chain.tx("feegrant", "prune", "--from", "carol");
  await chain.tx("feegrant", "revoke", "alice", address("bob"));
});

test("a grant lets another account send a file of messages", async () => {
  await chain.tx("authz", "grant", address("bob"), "send", "--spend-limit", "10utoken", "--from", "alice");
  const unsigned = await chain.run([
    "tx",
    "bank",
    "send",
    address("alice"),
    address("carol"),
    "4utoken",
    "--generate-only",
  ]);
  expect(unsigned.code).toBe(0);
  const before = await balance("carol");
  const file = `${chain.home}/unsigned.json`;
  writeFileSync(file, unsigned.out);
  await chain.tx("authz", "exec", file, "--from", "bob");
  expect(await balance("carol")).toBe(before + 4n);
  const { grants } = await chain.query("authz", "grants", address("alice"), address("bob"));
  expect(JSON.stringify(grants)).toContain('"6"');
  await chain.tx("authz", "revoke", address("bob"), "/cosmos.bank.v1beta1.MsgSend", "--from", "alice");
});

test("a grant pays for another account's deployment, up to its limit", async () => {
  const file = `${chain.home}/web.yaml`;
  copyFileSync(join(ROOT, "examples", "web.yaml"), file);
  await chain.tx("cert", "create", "client", "--from", "bob");
  await chain.tx("authz", "grant", address("bob"), "deposit", "--spend-limit", "6000000utoken", "--from", "alice");
  const [alice, bob] = [await balance("alice"), await balance("bob")];
  const create = ["deployment", "create", file, "--depositor", address("alice"), "--from", "bob", "--gas", "auto"];
  await chain.tx(...create, "--deposit", "5000000utoken", "--dseq", "77");
  expect([await balance("alice"), (await balance("bob")) <= bob]).toEqual([alice - 5_000_000n, true]);
  const { grants } = await chain.query("authz", "grants", address("alice"), address("bob"));
  expect(JSON.stringify(grants)).toContain('"1000000"');
  const beyond = await chain.run(["tx", ...create, "--deposit", "5000000utoken", "--dseq", "78", "-y"]);
  expect(beyond).toMatchObject({ code: 1, err: expect.stringContaining("spend limit") });
  // One more of the grant, carried out by its holder; a closed deployment gives all of it back to the granter.
  const more = ["deployment", "deposit", "1000000utoken", "--owner", address("bob"), "--dseq", "77", "--from"];
  const unsigned = await chain.run(["tx", ...more, address("alice"), "--generate-only"]);
  writeFileSync(`${chain.home}/more.json`, unsigned.out);
  await chain.tx("authz", "exec", `${chain.home}/more.json`, "--from", "bob");
  expect(await balance("alice")).toBe(alice - 6_000_000n);
  expect((await chain.query("authz", "grants", address("alice"), address("bob"))).grants).toEqual([]);
  const again = await chain.run(["tx", "authz", "exec", `${chain.home}/more.json`, "--from", "bob", ...PAID]);
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("authorization not found") });
  await chain.tx("deployment", "close", "--dseq", "77", "--from", "bob");
  expect(await balance("alice")).toBe(alice);
  const two = ["tx", "authz", "grant", address("bob"), "deposit", "--spend-limit", "1utoken,2uusd", "--from", "alice"];
  expect(await chain.run(two)).toMatchObject({ code: 2, err: expect.stringContaining("one denomination") });
  const none = ["tx", "authz", "grant", address("bob"), "deposit", "--from", "alice"];
  expect(await chain.run(none)).toMatchObject({ code: 2, err: expect.stringContaining("--spend-limit is not set") });
});
