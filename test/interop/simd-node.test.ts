import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addGenesisAccounts, initHome, type Node, nodeConfig, startNode } from "../../src/node/index.ts";
import { silentLogger } from "../../src/util/index.ts";
import { type Ran, runCli } from "../cli/run.ts";
import { waitFor } from "../support/index.ts";
import { buildPeer, Peer } from "./peers.ts";

/** The reference tools' own command lines as clients of our node, which they treat as one of their network. */

const CHAIN_ID = "svc-simd-1";
const built = await Promise.all((["simd42", "simd53"] as const).map((name) => buildPeer(name)));
const peers = built.filter((peer) => peer instanceof Peer);
const missing = built.flatMap((peer) => (peer instanceof Peer ? [] : [peer.missing]));

test.skipIf(missing.length > 0 && process.env.CI !== "true")(
  missing.length > 0
    ? `no reference tool, our node is not tested with it: ${missing.join("; ")}`
    : "the tools are there",
  () => expect(missing).toEqual([]),
);

const root = mkdtempSync(join(tmpdir(), "svc-simd-node-"));
const keyring = ["--keyring-dir", join(root, "keys"), "--keyring-backend", "test"];
const addresses: Record<string, string> = {};
let node: Node | undefined;

beforeAll(async () => {
  const home = join(root, "home");
  initHome({ home, moniker: "interop", chainId: CHAIN_ID });
  for (const name of ["alice", "bob", "carol"]) {
    // Records of the older form are read by all three.
    const { out } = await runCli(["keys", "add", name, "-o", "json", ...keyring]);
    addresses[name] = JSON.parse(out).address;
    const coins = [{ denom: "utoken", amount: 1_000_000_000n }];
    addGenesisAccounts(home, [{ address: addresses[name] ?? "", coins }]);
  }
  await runCli(["keys", "add", "team", "--multisig", "alice,bob,carol", "--multisig-threshold", "2", ...keyring]);
  await runCli(["keys", "migrate", "--to", "amino", ...keyring]);
  const config = nodeConfig({
    "rpc.laddr": "tcp://127.0.0.1:0",
    "grpc.enable": "false",
    "block-interval": "200ms",
    "check-invariants": "true",
  });
  node = await startNode({ home, config, logger: silentLogger, version: "v0.0.1" });
});

afterAll(async () => {
  await node?.stop();
  for (const peer of peers) peer.remove();
  rmSync(root, { recursive: true });
});

let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(root, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

const url = () => (node?.rpcUrl ?? "").replace("http:", "tcp:");

function svc(...args: readonly string[]): Promise<Ran> {
  return runCli([...args, ...keyring], { env: { SVC_NODE: url(), SVC_HOME: join(root, "svc") } });
}

async function balance(address: string): Promise<bigint> {
  const { out } = await svcQuery("bank", "balances", address, "--denom", "utoken");
  return BigInt(JSON.parse(out).amount);
}

function svcQuery(...args: readonly string[]): Promise<Ran> {
  return runCli(["query", ...args, "-o", "json"], { env: { SVC_NODE: url() } });
}

describe.each(peers.map((peer) => [peer.name, peer] as const))("%s", (name, peer) => {
  const older = name === "simd42";
  const FEES = ["--fees", "5000utoken"];
  const address = (key: string) => addresses[key] ?? "";
  const run = (...args: readonly string[]) => peer.ok([...args, "--node", url()], { prefix: "svc" });
  const tx = (...args: readonly string[]) => run("tx", ...args, "--chain-id", CHAIN_ID, ...keyring);

  /**
   * The transaction of a broadcast's answer, once it is in a block, as the tool itself finds it. The older tool cannot
   * read event attributes of CometBFT 0.37 and later, so ours looks for it.
   */
  async function committed(answer: string, expected = 0) {
    const { txhash, code } = JSON.parse(answer);
    expect({ answer, code }).toEqual({ answer, code: 0 });
    const find = async () =>
      older ? (await svcQuery("tx", txhash)).out : run("query", "tx", txhash, "--output", "json");
    const found = await waitFor(async () => JSON.parse(await find()), `transaction ${txhash}`);
    expect(found.code).toBe(expected);
    return found;
  }

  test("sends, and finds its transaction", async () => {
    const before = await balance(address("bob"));
    const sent = await tx("bank", "send", "alice", address("bob"), "7utoken", "-y", "--output", "json", ...FEES);
    const found = await committed(sent);
    if (!older) expect(found.tx["@type"]).toBe("/cosmos.tx.v1beta1.Tx");
    expect(found.tx.body.messages[0]["@type"]).toBe("/cosmos.bank.v1beta1.MsgSend");
    expect(await balance(address("bob"))).toBe(before + 7n);
  });

  test("estimates gas and sends with it", async () => {
    const flags = ["--gas", "auto", "--gas-adjustment", "1.5", "--gas-prices", "0.0025utoken"];
    const sent = await tx("bank", "send", "alice", address("bob"), "1utoken", "-y", "--output", "json", ...flags);
    await committed(sent);
  });

  test("generates, signs, encodes and broadcasts in steps of their own", async () => {
    const generated = file(
      await tx("bank", "send", address("alice"), address("bob"), "2utoken", "--generate-only", ...FEES),
    );
    const signed = file(await tx("sign", generated, "--from", "alice"));
    const valid = await tx("validate-signatures", signed);
    expect(valid).toContain("[OK]");
    const bytes = await peer.ok(["tx", "encode", signed], { prefix: "svc" });
    expect((await svc("tx", "encode", signed)).out).toBe(bytes);
    await committed(await run("tx", "broadcast", signed, "--output", "json"));
  });

  test.each(["direct", "amino-json"])("what it signs in mode %s we send, and the other way round", async (mode) => {
    const generated = file(
      await tx("bank", "send", address("alice"), address("bob"), "3utoken", "--generate-only", ...FEES),
    );
    const theirs = file(await tx("sign", generated, "--from", "alice", "--sign-mode", mode));
    const sent = await svc("tx", "broadcast", theirs, "-b", "block");
    expect(JSON.parse(sent.out)).toMatchObject({ code: 0 });
    const ours = file((await svc("tx", "sign", generated, "--from", "alice", "--sign-mode", mode)).out);
    await committed(await run("tx", "broadcast", ours, "--output", "json"));
  });

  test("a multisig of 2 of 3 with one signer on each tool", async () => {
    const team = JSON.parse((await svc("keys", "show", "team", "-o", "json")).out).address;
    await svc("tx", "bank", "send", "carol", team, "100000utoken", "-y", "-b", "block", ...FEES);
    for (const combines of ["it", "we"]) {
      const generated = file(await tx("bank", "send", team, address("bob"), "1utoken", "--generate-only", ...FEES));
      const shares = [
        file(await tx("sign", generated, "--multisig", team, "--from", "alice")),
        file((await svc("tx", "sign", generated, "--multisig", team, "--from", "carol")).out),
      ];
      const combine = ["multisign", generated, "team", ...shares];
      const signed = file(combines === "it" ? await tx(...combine) : (await svc("tx", ...combine)).out);
      await committed(await run("tx", "broadcast", signed, "--output", "json"));
    }
  });

  test("asks for balances, accounts and blocks", async () => {
    const balances = JSON.parse(await run("query", "bank", "balances", address("bob"), "--output", "json"));
    expect(balances.balances).toEqual([{ denom: "utoken", amount: String(await balance(address("bob"))) }]);
    const auth = older ? ["query", "account"] : ["query", "auth", "account"];
    const account = await run(...auth, address("alice"), "--output", "json");
    expect(account).toContain(address("alice"));
    const block = JSON.parse(await run("query", "block", ...(older ? ["2"] : ["--type", "height", "2", "-o", "json"])));
    expect((older ? block.block : block).header).toMatchObject({ height: "2", chain_id: CHAIN_ID });
    if (!older) {
      // Stored bytes are never rewritten, so the tool reads transactions that were sent in its own spelling.
      const search = ["--query", `transfer.recipient='${address("bob")}'`, "--output", "json"];
      const found = JSON.parse(await run("query", "txs", ...search));
      expect(Number(found.total_count)).toBeGreaterThan(0);
    }
    expect(JSON.parse(await run("status", ...(older ? [] : ["--output", "json"])))).toBeTypeOf("object");
  });

  test("a refusal is reported with our code", async () => {
    const send = (...flags: readonly string[]) =>
      peer.run(["tx", "bank", "send", "alice", ...flags, "-y", "--output", "json", ...ends()], { prefix: "svc" });
    const ends = () => ["--chain-id", CHAIN_ID, "--node", url(), ...keyring];
    const far = await send(address("bob"), "999999999999utoken", ...FEES);
    expect(await committed(far.out, 5)).toMatchObject({ codespace: "sdk" });
    expect(JSON.parse((await send(address("bob"), "1utoken")).out)).toMatchObject({ code: 13, codespace: "sdk" });
  });
});
