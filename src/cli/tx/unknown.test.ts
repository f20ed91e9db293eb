import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../../test/cli/run.ts";
import keyVectors from "../../../test/vectors/keys.json" with { type: "json" };

const root = mkdtempSync(join(tmpdir(), "svc-unknown-"));
afterAll(() => rmSync(root, { recursive: true }));
const [owner] = keyVectors.keys;
const FLAGS = ["--profile", "cosmos", "--keyring-dir", root, "--keyring-backend", "test"];
const NUMBERS = ["--offline", "-a", "12", "-s", "34", "--chain-id", "vec-1"];
const STRANGE = { "@type": "/osmosis.gamm.v1beta1.MsgJoinPool", value: "CgVhbGljZRAB" };
const WARNING = "/osmosis.gamm.v1beta1.MsgJoinPool is not known: it is passed on as bytes";
const PROPOSAL = { deposit: "1uatom", title: "t", summary: "s", metadata: "" };
const fee = { amount: [], gas_limit: "200000", payer: "", granter: "" };

let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(root, `tx-${files}.json`);
  writeFileSync(path, text);
  return path;
}

function unsigned(messages: readonly object[] = [STRANGE]): string {
  const body = { messages, memo: "", timeout_height: "0", extension_options: [], non_critical_extension_options: [] };
  return JSON.stringify({ body, auth_info: { signer_infos: [], fee }, signatures: [] });
}

beforeAll(async () => {
  const argv = ["keys", "add", "k0", "--recover", ...FLAGS];
  expect((await runCli(argv, { input: `${owner?.mnemonic}\n` })).code).toBe(0);
});

describe("messages of types that are not known", () => {
  const exec = { "@type": "/cosmos.authz.v1beta1.MsgExec", grantee: owner?.address, msgs: [STRANGE] };

  test.each([
    ["alone", STRANGE],
    ["in a message that is known", exec],
  ])("%s go from JSON to bytes and back with a warning", async (_, message) => {
    const text = unsigned([message]);
    const encoded = await runCli(["tx", "encode", file(text)]);
    expect(encoded).toMatchObject({ code: 0, err: expect.stringContaining("is not known") });
    const decoded = await runCli(["tx", "decode", encoded.out.trim()]);
    expect(decoded).toMatchObject({ code: 0, err: expect.stringContaining("is not known") });
    expect(decoded.out).toBe(`${text}\n`);
  });

  test("are signed in mode direct when the user allows it", async () => {
    const sign = ["tx", "sign", file(unsigned()), "--from", "k0", ...FLAGS, ...NUMBERS];
    const refused = await runCli(sign);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("add --allow-unknown");
    const signed = await runCli([...sign, "--allow-unknown"]);
    expect(signed).toMatchObject({ code: 0, err: expect.stringContaining(WARNING) });
    expect(JSON.parse(signed.out).body.messages).toEqual([STRANGE]);
    const amino = await runCli([...sign, "--allow-unknown", "--sign-mode", "amino-json"]);
    expect(amino.code).not.toBe(0);
    expect(amino.err).toContain("amino JSON cannot sign a message of type /osmosis.gamm.v1beta1.MsgJoinPool");
  });

  test("have their signatures checked against the keys that signed", async () => {
    const sign = ["tx", "sign", file(unsigned()), "--from", "k0", ...FLAGS, ...NUMBERS, "--allow-unknown"];
    const signed = file((await runCli(sign)).out);
    const check = (numbers: readonly string[]) => runCli(["tx", "validate-signatures", signed, ...FLAGS, ...numbers]);
    const good = await check(NUMBERS);
    expect(good).toMatchObject({ code: 0, err: expect.stringContaining(WARNING) });
    expect(good.out).toContain("\t\t\t[OK]");
    const bad = await check([...NUMBERS.slice(0, -1), "vec-2"]);
    expect(bad.code).toBe(1);
    expect(bad.out).toContain("signature is not valid for account number 12, sequence 34 and chain vec-2");
  });

  test("are named before they are broadcast, and refused unsigned", async () => {
    const answer = await runCli(["tx", "broadcast", file(unsigned()), "--node", "tcp://127.0.0.1:1", ...FLAGS]);
    expect(answer).toMatchObject({ code: 1, err: expect.stringContaining(WARNING) });
    expect(answer.err).toContain("the transaction is not signed");
  });

  test("are named when a proposal has them", async () => {
    const path = file(JSON.stringify({ ...PROPOSAL, messages: [STRANGE] }));
    const from = ["--from", owner?.address ?? "", "--generate-only", "--gas", "200000"];
    const made = await runCli(["tx", "gov", "submit-proposal", path, ...from, ...FLAGS, "--chain-id", "vec-1"]);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining(WARNING) });
    expect(JSON.parse(made.out).body.messages[0].messages).toEqual([STRANGE]);
  });

  test.each([
    ["in a proposal", ["gov", "submit-proposal"], JSON.stringify({ ...PROPOSAL, messages: [STRANGE] })],
    ["for another account", ["authz", "exec"], unsigned()],
  ])("are signed %s only when the user allows it", async (_, words, text) => {
    const argv = ["tx", ...words, file(text), "--from", "k0", ...FLAGS, ...NUMBERS, "--gas", "200000", "-y"];
    const refused = await runCli(argv);
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("add --allow-unknown") });
    const signed = await runCli([...argv, "--allow-unknown"]);
    expect(signed.code).toBe(0);
    expect(JSON.parse(signed.out).signatures).toHaveLength(1);
  });
});
