import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const SVC = resolve(import.meta.dirname, "../../svc");
const PASS = "a passphrase of nine words";

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const root = mkdtempSync(join(tmpdir(), "svc-e2e-"));
const home = join(root, "home");
/** The whole environment of the commands. */
const BASE_ENV = { PATH: process.env.PATH ?? "", HOME: join(root, "user") };

/** Runs `./svc` as its own process, with a standard input that ends behind `input`. */
async function svc(
  args: readonly string[],
  { input = "", env = {} }: { input?: string; env?: object } = {},
): Promise<Ran> {
  const child = spawn(SVC, args, { env: { ...BASE_ENV, ...env } });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out, err };
}

let node: ChildProcess;
let rpc = "";
let alice = "";
let bob = "";

const FILE = ["--home", home, "--keyring-backend", "file"];

/** Starts the node of the home and waits until it says where it listens. */
async function startNode(): Promise<void> {
  const args = [
    "start",
    "--home",
    home,
    "--rpc.laddr",
    "tcp://127.0.0.1:0",
    "--block-interval",
    "200ms",
    "--check-invariants",
    "--log_level",
    "error",
  ];
  node = spawn(SVC, args, { env: BASE_ENV, stdio: ["ignore", "pipe", "inherit"] });
  for await (const chunk of node.stdout ?? []) {
    rpc = /RPC (http:\/\/[\d.:]+)/.exec(String(chunk))?.[1] ?? rpc;
    if (rpc !== "") return;
  }
  throw new Error("the node ended before it was ready");
}

beforeAll(async () => {
  expect((await svc(["init", "tester", "--chain-id", "e2e-1", "--home", home])).code).toBe(0);
  const added = await svc(["keys", "add", "alice", ...FILE], { input: `${PASS}\n${PASS}\n` });
  expect(added.code).toBe(0);
  alice = /address: (svc1\w+)/.exec(added.out)?.[1] ?? "";
  bob = /address: (svc1\w+)/.exec((await svc(["keys", "add", "bob", ...FILE], { input: `${PASS}\n` })).out)?.[1] ?? "";
  for (const address of [alice, bob]) {
    const ran = await svc(["add-genesis-account", address, "100000000utoken,7stake", "--home", home]);
    expect(ran).toEqual({ code: 0, out: "", err: "" });
  }
  await startNode();
});

afterAll(async () => {
  if (node.exitCode === null && node.signalCode === null) {
    node.kill("SIGTERM");
    await once(node, "exit");
  }
  rmSync(root, { recursive: true });
});

describe("a node and the command line, each a process", () => {
  const send = (...flags: string[]) => [
    "tx",
    "bank",
    "send",
    "alice",
    bob,
    "5utoken",
    "--fees",
    "5000utoken",
    "--node",
    rpc,
    ...flags,
    ...FILE,
  ];
  const sequence = async () =>
    JSON.parse((await svc(["query", "account", alice, "--node", rpc, "-o", "json"])).out).sequence;

  test("the passphrase is asked for first, then the transaction is shown, then the question is put", async () => {
    const { code, out, err } = await svc(send("--chain-id", "e2e-1", "-b", "block"), { input: `${PASS}\ny\n` });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ code: 0, tx: null });
    expect(JSON.parse(err.split("\n")[0] ?? "").body.messages[0]).toMatchObject({
      from_address: alice,
      to_address: bob,
    });
    const wrong = await svc(send(), { input: "not the passphrase\nnor this one\nnor this\n" });
    expect(wrong.code).toBe(1);
    expect(wrong.err).not.toContain("messages");
    expect(wrong.err).toContain("too many failed passphrase attempts");
  });

  test("anything but y cancels", async () => {
    const before = await sequence();
    const { code, out, err } = await svc(send(), { input: `${PASS}\nn\n` });
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/\n\ncancelled transaction\n$/);
    expect(await sequence()).toBe(before);
  });

  test.each(["sync", "async", "block"])("a transfer in mode %s is committed and found again", async (mode) => {
    const { code, out } = await svc(send("-y", "-b", mode), { input: `${PASS}\n` });
    expect(code).toBe(0);
    const { txhash, height } = JSON.parse(out);
    expect(height === "0").toBe(mode !== "block");
    await expect.poll(async () => (await svc(["query", "tx", txhash, "--node", rpc, "-o", "json"])).code).toBe(0);
  });

  test("a known failure is an exit code", async () => {
    const argv = ["tx", "bank", "send", "alice", bob, "999999999999utoken", "-y", "-b", "block"];
    const { code, out, err } = await svc([...argv, "--fees", "5000utoken", "--node", rpc, ...FILE], {
      input: `${PASS}\n`,
    });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ codespace: "sdk", code: 5 });
    expect(err).toContain("Hint: ");
  });

  test("piped output and input go through sign and broadcast", async () => {
    const unsigned = join(root, "unsigned.json");
    const argv = ["tx", "bank", "send", alice, bob, "1utoken", "--fees", "5000utoken", "--generate-only"];
    writeFileSync(unsigned, (await svc(argv)).out);
    const signed = await svc(["tx", "sign", unsigned, "--from", "alice", "--node", rpc, ...FILE], {
      input: `${PASS}\n`,
    });
    const sent = await svc(["tx", "broadcast", "-", "-b", "block", "--node", rpc], { input: signed.out });
    expect(JSON.parse(sent.out)).toMatchObject({ code: 0 });
  });

  test("the home holds keys for the owner alone, and the node's chain outlives it", async () => {
    const dir = join(home, "keyring-file");
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
    const before = (await svc(["query", "bank", "balances", bob, "--node", rpc])).out;
    node.kill("SIGKILL");
    await once(node, "exit");
    const gone = await svc(["query", "bank", "balances", bob, "--node", rpc]);
    expect(gone).toMatchObject({ code: 1, out: "" });
    rpc = "";
    await startNode();
    expect((await svc(["query", "bank", "balances", bob, "--node", rpc])).out).toBe(before);
  });
});

describe("the set-up of a provider, as it is documented", () => {
  test("step by step", async () => {
    const env = {
      SVC_KEY_NAME: "alice",
      SVC_KEYRING_BACKEND: "file",
      SVC_NODE: rpc,
      SVC_HOME: home,
      SVC_ACCOUNT_ADDRESS: alice,
    };
    expect((await svc(["version"])).out).toMatch(/^v\d+\.\d+\.\d+\n$/);
    const balances = await svc(["--node", rpc, "query", "bank", "balances", alice], { env });
    expect(balances.out).toContain("denom: utoken");
    const definition = join(root, "provider.yaml");
    writeFileSync(definition, "host: https://provider.example.com:8443\nattributes:\n  - key: host\n    value: acme\n");
    const common = [
      "--from",
      "alice",
      `--home=${home}`,
      "--keyring-backend=file",
      `--node=${rpc}`,
      "--chain-id=e2e-1",
      "--fees",
      "5000utoken",
    ];
    const created = await svc(["tx", "provider", "create", definition, ...common], { env, input: `${PASS}\ny\n` });
    expect(JSON.parse(created.out)).toMatchObject({ code: 0 });
    await expect
      .poll(async () => (await svc(["query", "provider", "get", alice], { env })).out)
      .toContain("host_uri: https://provider.example.com:8443");
    const certified = await svc(["tx", "cert", "create", "server", "provider.example.com", ...common, "-b", "block"], {
      env,
      input: `${PASS}\ny\n`,
    });
    expect(JSON.parse(certified.out)).toMatchObject({ code: 0 });
    expect(certified.err).toContain(`no certificate found for address ${alice}. generating new...`);
    const { out } = await svc(["query", "cert", "list", "--owner", alice, "--state", "valid", "-o", "json"], { env });
    expect(JSON.parse(out).certificates).toHaveLength(1);
  });
});
