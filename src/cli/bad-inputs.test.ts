import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCli } from "../../test/cli/run.ts";

/** Nothing listens here. */
const NODE = "tcp://127.0.0.1:1";
const root = mkdtempSync(join(tmpdir(), "svc-bad-"));
afterAll(() => rmSync(root, { recursive: true }));
const home = join(root, "home");
mkdirSync(home, { mode: 0o700 });

const env = { SVC_HOME: home, SVC_KEYRING_BACKEND: "test", SVC_NODE: NODE };
const A = JSON.parse((await runCli(["keys", "add", "a", "-o", "json"], { env })).out).address;
const B = JSON.parse((await runCli(["keys", "add", "b", "-o", "json"], { env })).out).address;
const wrongSum = `${A.slice(0, -1)}${A.endsWith("q") ? "p" : "q"}`;

function file(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

const unsigned = (await runCli(["tx", "bank", "send", A, B, "1utoken", "--generate-only"], { env })).out;
const tx = file("unsigned.json", unsigned);
const edited = (name: string, from: string, to: string) => file(`${name}.json`, unsigned.replace(from, to));
const provider = file("provider.yaml", "host: https://provider.example.com:8443\n");
const sdl = join(import.meta.dirname, "../../examples/web.yaml");
const secret = file("secret.pem", "not a key");
const SIGN = ["--from", "a", "--offline", "--chain-id", "x-1", "-a", "1", "-s", "1"];

/** Everything below a directory with its content, to see that nothing changed. */
function snapshot(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(dir, name);
      const stat = statSync(path);
      return `${name} ${stat.mode.toString(8)} ${stat.isFile() ? readFileSync(path, "base64") : ""}`;
    });
}

type Row = readonly [argv: readonly string[], code: 1 | 2, text: string, input?: string];

const ROWS: readonly Row[] = [
  // Words and flags
  [["frobnicate"], 2, 'unknown command "frobnicate" for "svc"'],
  [["query", "bnk"], 2, 'did you mean "bank"?'],
  [["tx", "bank", "sned", A], 2, 'did you mean "send"?'],
  [["keys", "add"], 2, "missing required argument 'name'"],
  [["keys", "list", "extra"], 2, "too many arguments"],
  [["keys", "list", "--frm", "a"], 2, "unknown option '--frm'"],
  [["keys", "list", "--home"], 2, "argument missing"],
  [["keys", "list", "-o", "yaml"], 2, '--output takes text, json, not "yaml"'],
  [["keys", "list", "--keyring-backend", "vault"], 2, "--keyring-backend takes os, file"],
  [["keys", "list", "--log_level", "loud"], 2, "--log_level takes trace, debug"],
  [["keys", "list", "--log_format", "xml"], 2, "--log_format takes plain, json"],
  [["status", "--node", "http://"], 1, "invalid node address"],
  [["status", "--node", "http://user:pw@h"], 1, "invalid node address"],
  [["status", "--node", "127.0.0.1:99999"], 1, "invalid node address"],
  [["status"], 1, "cannot reach the node at http://127.0.0.1:1: connection refused"],
  [["status", "--node", "no-such-host.invalid:26657"], 1, "cannot reach the node at http://no-such-host.invalid:26657"],
  // Keys
  [["keys", "add", "../x"], 1, "invalid key name"],
  [["keys", "add", "a/b"], 1, "invalid key name"],
  [["keys", "add", ""], 1, "invalid key name"],
  [["keys", "add", "x".repeat(300)], 1, "invalid key name"],
  [["keys", "add", "n", "--recover"], 1, "invalid mnemonic", "abandon abandon\n"],
  [["keys", "add", "n", "--recover"], 1, "standard input ended"],
  [["keys", "add", "n", "--recover", "--source", join(root, "none")], 1, "ENOENT"],
  [["keys", "add", "n", "--source", tx], 2, "--source is used together with --recover"],
  [["keys", "add", "n", "--algo", "ed25519"], 2, 'provided algorithm "ed25519" is not supported'],
  [["keys", "add", "n", "--hd-path", "nonsense"], 1, "doesn't contain '/' separators"],
  [["keys", "add", "n", "--index", "-1"], 2, '--index takes a whole number, not "-1"'],
  [["keys", "add", "n", "--pubkey", "{"], 2, "--pubkey:"],
  [["keys", "add", "n", "--pubkey", A], 1, "expected svcpub"],
  [["keys", "add", "n", "--multisig", "a,nobody"], 1, "nobody is not a valid name or address"],
  [["keys", "add", "n", "--multisig", "a,b", "--multisig-threshold", "3"], 1, "threshold k of n multisignature: 2 < 3"],
  [["keys", "add", "n", "--ledger"], 1, "hardware wallets are not supported yet"],
  [["keys", "add", "a"], 1, "aborted", "n\n"],
  [["keys", "show", "nobody"], 1, "nobody is not a valid name or address"],
  [["keys", "show", wrongSum], 1, "checksum"],
  [["keys", "show", "a", "-a", "-p"], 2, "cannot use both --address and --pubkey at once"],
  [["keys", "show", "a", "-a", "-o", "json"], 2, "cannot use --output with --address or --pubkey"],
  [["keys", "show", "a", "--bech", "xyz"], 2, "--bech takes acc, val, cons"],
  [["keys", "delete", "nobody"], 1, "key not found"],
  [["keys", "rename", "nobody", "x"], 1, "key not found"],
  [["keys", "rename", "a", "b", "-y"], 1, "already exists"],
  [["keys", "rename", "a", "../b", "-y"], 1, "invalid key name"],
  [["keys", "export", "a"], 1, "password must be at least 8 characters", "short\n"],
  [["keys", "export", "a", "--unsafe"], 2, "the flags unsafe and unarmored-hex must be used together"],
  [["keys", "export", "nobody"], 1, "key not found", "long enough\n"],
  [["keys", "import", "n", join(root, "none")], 1, "ENOENT"],
  [["keys", "import", "n", secret], 1, `key file ${secret}`, "long enough\n"],
  [["keys", "parse", "nonsense"], 1, "couldn't find valid bech32 nor hex data"],
  [["keys", "list", "--keyring-backend", "kwallet"], 1, "keyring backend not available"],
  [
    ["keys", "add", "n", "--keyring-backend", "file", "--keyring-passphrase-file", join(root, "none")],
    1,
    "does not exist",
  ],
  // Queries
  [["query", "bank", "balances"], 2, "missing required argument 'address'"],
  [["query", "bank", "balances", "a"], 2, '<address>: invalid Bech32 prefix in "a"; expected svc'],
  [["query", "bank", "balances", A.toUpperCase()], 2, "<address>:"],
  [["query", "bank", "balances", wrongSum], 2, "checksum"],
  [["query", "bank", "balances", "svcvaloper1qyqszqgpqyqszqgpqyqszqgpqyqszqgpsl4x70"], 2, "<address>:"],
  [["query", "bank", "balances", A, "--limit", "1001"], 2, "at most 1000 rows"],
  [["query", "bank", "balances", A, "--page", "2", "--offset", "1"], 2, "--page and --offset"],
  [["query", "bank", "balances", A, "--height", "1.5"], 2, "--height takes a whole number"],
  [["query", "tx", "12"], 1, "no transaction hash of 64 hex digits"],
  [["query", "block", "0"], 2, "<height>"],
  [["query", "txs"], 2, "required flag --events"],
  [["query", "txs", "--events", "a", "--query", "b"], 2, "cannot be used together"],
  [["query", "market", "order", "get", "order/x/1/1/1"], 2, "no account address"],
  [["query", "market", "order", "get", `order/${A}/1/1`], 2, "it should have 4 parts"],
  [["query", "market", "order", "get", `order/${A}/0/1/1`], 2, "no number from 1"],
  [["query", "market", "bid", "list", "--dseq", "x"], 2, '--dseq: "x" is no whole number'],
  [["query", "market", "bid", "list", "--oseq", "4294967296"], 2, "no whole number from 0 to 4294967295"],
  [["query", "cert", "list", "--owner", "x"], 2, "--owner: invalid Bech32 prefix"],
  // Transactions
  [["tx", "bank", "send", "a", B, "1"], 2, "<amount>: invalid coin"],
  [["tx", "bank", "send", "a", B, "-5utoken"], 2, "unknown option"],
  [["tx", "bank", "send", "a", B, "1.5utoken"], 2, "<amount>: invalid coin"],
  [["tx", "bank", "send", "a", B, "1utoken,2utoken"], 2, "<amount>: duplicate denomination utoken"],
  [["tx", "bank", "send", "a", B, `1${"0".repeat(90)}utoken`], 2, "<amount>: invalid coin"],
  [["tx", "bank", "send", "a", B, ""], 2, "<amount>"],
  [["tx", "bank", "send", "a", wrongSum, "1utoken"], 2, "<to-address>"],
  [["tx", "bank", "send", "a", B, "1utoken", "--timeout-height", "-1"], 2, "--timeout-height takes a whole number"],
  [["tx", "bank", "send", "a", B, "1utoken", "--gas", "9223372036854775808"], 2, "--gas"],
  [["tx", "bank", "send", "a", B, "1utoken", "--gas-prices", "x"], 2, "--gas-prices: invalid price"],
  [["tx", "bank", "send", "a", B, "1utoken", "-a", "x"], 2, "--account-number takes a whole number"],
  [
    ["tx", "market", "lease", "create", "--dseq", "1", "--provider", B],
    2,
    "required flag --from is not set (or SVC_FROM)",
  ],
  [["tx", "provider", "delete", "--from", "a"], 1, "cannot reach the node"],
  [["tx", "provider", "create", join(root, "none.yaml"), "--from", "a"], 1, "cannot read the provider file"],
  [["tx", "provider", "create", root, "--from", "a"], 1, "cannot read the provider file"],
  [["tx", "provider", "create", file("bad.yaml", "host: http://x\n"), "--from", "a"], 1, "bad.yaml:1:7: host:"],
  [["tx", "provider", "create", file("latin.yaml", Buffer.from([0x68, 0xe9]))], 1, "is not UTF-8 text"],
  [["tx", "provider", "create", provider], 2, "required flag --from"],
  [["tx", "provider", "create", provider, "--from", "nobody"], 1, "nobody is not a valid name or address"],
  [["tx", "cert", "create", "server", "--from", "a"], 2, "missing required argument 'hosts'"],
  [["tx", "cert", "create", "server", "https://x", "--from", "a"], 2, '"https://x" is no host name and no IP address'],
  [["tx", "cert", "create", "server", "a b", "--from", "a"], 2, "no host name"],
  [["tx", "cert", "create", "client", "--from", "a", "--naf", "soon"], 2, "--naf takes"],
  [["tx", "cert", "create", "client", "--from", "a", "--nbf", "soon"], 2, "--nbf takes"],
  [["tx", "cert", "create", "client", "--from", "a", "--to-genesis"], 1, "config/genesis.json: ENOENT"],
  [["tx", "cert", "create", "client", "--from", A, "--generate-only"], 1, "at least 8 characters", "short\n"],
  [
    ["tx", "cert", "create", "client", "--from", A, "--generate-only"],
    1,
    "passphrases don't match",
    "long enough\nother one\n",
  ],
  [["tx", "cert", "revoke", "everything", "--from", "a"], 2, '<kind> is client or server, not "everything"'],
  [["tx", "cert", "revoke", "--from", "a", "--serial", "0x1"], 2, "--serial takes a decimal number"],
  [["tx", "cert", "revoke", "--from", "a"], 1, "there is no certificate file"],
  [["tx", "deployment", "create", join(root, "none.yaml"), "--from", "a"], 1, "cannot read the deployment file"],
  [["tx", "deployment", "create", sdl, "--from", "a", "--dseq", "0"], 2, "--dseq takes a whole number from 1"],
  [["tx", "deployment", "create", sdl, "--from", "a", "--deposit", "x"], 2, "--deposit: invalid coin"],
  [["tx", "deployment", "create", sdl, "--from", "a", "--owner", B], 2, `the owner ${B} has to sign`],
  [["tx", "deployment", "update", sdl, "--from", "a"], 2, "required flag --dseq"],
  [["tx", "deployment", "deposit", "0utoken", "--dseq", "1", "--from", "a"], 2, "<amount>"],
  [["tx", "deployment", "deposit", "1utoken", "--from", "a"], 2, "required flag --dseq"],
  [["tx", "deployment", "close", "--from", "a"], 2, "required flag --dseq"],
  [["tx", "deployment", "group", "pause", `group/${B}/1/1`, "--from", "a"], 2, "has to sign"],
  [["tx", "audit", "attr", "create", B, "k", "--from", "a"], 2, 'the key "k" has no value'],
  [["tx", "audit", "attr", "create", B, "a b", "v", "--from", "a"], 2, 'invalid attribute key "a b"'],
  [["tx", "audit", "attr", "delete", "x", "--from", "a"], 2, "<provider>"],
  // Transactions in files
  [["tx", "sign", join(root, "none.json"), ...SIGN], 1, "cannot read the transaction file"],
  [["tx", "sign", file("empty.json", ""), ...SIGN], 1, "invalid JSON in line 1, column 1"],
  [["tx", "sign", file("half.json", unsigned.slice(0, 80)), ...SIGN], 1, "invalid JSON"],
  [["tx", "sign", file("list.json", "[]"), ...SIGN], 1, "an object was expected"],
  [["tx", "sign", file("blank.json", "{}"), ...SIGN], 1, "it has no messages"],
  [["tx", "sign", edited("unknown", '"memo"', '"mmo"'), ...SIGN], 1, 'unknown field "mmo"'],
  [["tx", "sign", edited("twice", '"memo":""', '"memo":"","memo":"x"'), ...SIGN], 1, "stands twice"],
  [["tx", "sign", edited("proto", '"memo":""', '"__proto__":{}'), ...SIGN], 1, "__proto__"],
  [["tx", "sign", edited("type", "MsgSend", "MsgSteal"), ...SIGN], 1, "unable to resolve type URL"],
  [
    ["tx", "sign", edited("big", '"gas_limit":"200000"', '"gas_limit":9007199254740993'), ...SIGN],
    1,
    "write it in quotes",
  ],
  [["tx", "sign", edited("mode", '"signatures":[]', '"signatures":["%%"]'), ...SIGN], 1, "base64"],
  [["tx", "sign", tx, "--from", "b", ...SIGN.slice(2)], 1, "tx intended signer does not match the given signer: b"],
  [["tx", "sign", tx, ...SIGN, "--multisig", "x"], 2, "--multisig:"],
  [["tx", "sign", tx, ...SIGN, "--output-document", join(root, "no", "dir")], 1, "--output-document:"],
  [["tx", "sign", tx, ...SIGN, "--amino", "--sign-mode", "direct"], 2, "--amino needs --sign-mode amino-json"],
  [["tx", "sign", tx, ...SIGN, "--amino", "--signature-only"], 2, "--amino and --signature-only"],
  [["tx", "sign-batch", tx, ...SIGN, "--multisig", "x"], 2, "--multisig:"],
  [["tx", "sign-batch", "-", ...SIGN], 1, "is empty", "\n\n"],
  [["tx", "sign-batch", "-", ...SIGN], 1, "line 2", `${unsigned}{}`],
  [["tx", "multisign", tx, "a", tx, "--offline"], 2, "required flag --account-number"],
  [["tx", "multisign", tx, "a", tx], 1, "signature file"],
  [["tx", "multisign-batch", tx, "a", tx], 1, "line 1"],
  [["tx", "encode", "-", "--amino"], 1, "invalid JSON", "not json"],
  [["tx", "decode", "KCgWqQ=="], 1, "legacy amino"],
  [["tx", "sign", tx, "--from", "a", "--offline"], 2, "required flag --account-number"],
  [["tx", "sign", tx, "--from", "a"], 1, "cannot reach the node"],
  [["tx", "encode", "-"], 1, "invalid JSON", "not json"],
  [["tx", "decode", "AAA="], 1, "tx parse error"],
  [["tx", "decode", "%%%"], 2, "<text> is not base64"],
  [["tx", "decode", "zz", "--hex"], 2, "<text> is not hexadecimal"],
  [["tx", "broadcast", tx], 1, "the transaction is not signed"],
  [["tx", "broadcast", tx, "--offline"], 2, "cannot broadcast tx during offline mode"],
  [["tx", "broadcast", tx, "-b", "foo"], 2, "--broadcast-mode takes sync, async, block"],
  [["tx", "simulate", tx], 1, "cannot reach the node"],
  // Deployment files
  [["sdl", "hash", join(root, "none.yaml")], 1, "cannot read the deployment file"],
  [["sdl", "manifest", provider], 1, "provider.yaml:1:1"],
];

describe("bad input", () => {
  test.each(
    ROWS.map(([argv, code, text, input = ""]) => ({ line: argv.join(" ").slice(0, 100), argv, code, text, input })),
  )("svc $line", async ({ argv, code, text, input }) => {
    const before = snapshot(root);
    const ran = await runCli(argv, { env, input });
    const [first = "", ...others] = ran.err.split("\n").filter((line) => line !== "");
    const message = [first, ...others].find((line) => line.startsWith("Error: ")) ?? "";
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(text);
    expect(message.length).toBeGreaterThan("Error: ".length);
    expect(ran.err).not.toMatch(/\n {4}at |assertion failed|Cannot read prop|is not a function/);
    expect(snapshot(root)).toEqual(before);
  });

  test("the passphrase of a file keyring is not shown when it is wrong", async () => {
    const dir = join(root, "other");
    cpSync(home, dir, { recursive: true });
    const file = ["--keyring-backend", "file", "--home", dir];
    await runCli(["keys", "add", "f", ...file], { env, input: "right passphrase\nright passphrase\n" });
    const { code, out, err } = await runCli(["keys", "list", ...file], {
      env,
      input: "hunter22\nhunter23\nhunter24\n",
    });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("too many failed passphrase attempts");
    expect(err).not.toContain("hunter2");
    rmSync(dir, { recursive: true });
  });
});
