import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { cliChain } from "../cli/chain.ts";
import { heldNode } from "../support/held-node.ts";
import { pause } from "../support/wait.ts";

const chain = await cliChain("alice", "bob");
const way = await heldNode(chain.node);
const { alice = "", bob = "" } = chain.addresses;
afterEach(() => way.release());
/** A command that was interrupted ends its process if that has not ended by itself after a while, here not before all tests. */
Object.assign(process, { exit: () => undefined });
const GRACE_OVER_MS = 2_000;
afterAll(async () => {
  way.stop();
  await chain.stop();
  await pause(GRACE_OVER_MS);
});

/** Interrupts a command line once the node has answered a method, and the answer is held. */
async function interrupted(method: string, argv: readonly string[]) {
  const held = way.hold(method);
  const ran = chain.run([...argv, "--node", way.address]);
  await Promise.race([held, ran.then(({ err }) => Promise.reject(new Error(err)))]);
  process.emit("SIGINT");
  const { code, out, err } = await ran;
  const hash = /transaction ([0-9A-F]{64})/.exec(err)?.[1] ?? "";
  return { code, out, err, hash };
}

const FEES = ["--fees", "5000utoken", "-y"];
const SEND = ["tx", "bank", "send", "alice", bob, "5utoken", ...FEES];

const query = (hash: string): string => `svc query tx ${hash} --node ${way.address}`;

async function isIncluded(hash: string): Promise<boolean> {
  way.release();
  const { code, out } = await chain.run(["query", "wait-tx", hash, "-o", "json"]);
  return code === 0 && JSON.parse(out).code === 0;
}

test("a transaction that is interrupted before its block is named, with the command that looks for it", async () => {
  const { code, out, err, hash } = await interrupted("tx", [...SEND, "-b", "block"]);
  expect({ code, out }).toEqual({ code: 130, out: "" });
  expect(err).toBe(`\ntransaction ${hash} was sent and may still be included: interrupted\n${query(hash)}\n`);
  expect(await isIncluded(hash)).toBe(true);
});

test.each(["sync", "async", "block"])(
  "a transaction that is interrupted before the node's answer in mode %s may have been sent",
  async (mode) => {
    const method = mode === "async" ? "broadcast_tx_async" : "broadcast_tx_sync";
    const { code, out, err, hash } = await interrupted(method, [...SEND, "-b", mode]);
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toBe(`\ntransaction ${hash} may have been sent: interrupted\n${query(hash)}\n`);
    expect(await isIncluded(hash)).toBe(true);
  },
);

test("a signed file that is interrupted before its block is named too", async () => {
  const unsigned = SEND.map((word) => (word === "alice" ? alice : word));
  const file = join(chain.home, "unsigned.json");
  const signed = join(chain.home, "signed.json");
  writeFileSync(file, (await chain.run([...unsigned, "--generate-only"])).out);
  writeFileSync(signed, (await chain.run(["tx", "sign", file, "--from", "alice"])).out);
  const { code, err, hash } = await interrupted("tx", ["tx", "broadcast", signed, "-b", "block"]);
  expect(code).toBe(130);
  expect(err).toContain(`transaction ${hash} was sent and may still be included`);
  expect(await isIncluded(hash)).toBe(true);
});

test("svc deploy close that is interrupted says so too, as text and as JSON", async () => {
  await chain.tx("cert", "create", "client", "--from", "alice");
  for (const [dseq, ...flags] of [["11"], ["12", "-o", "json"]]) {
    await chain.tx("deployment", "create", "examples/web.yaml", "--dseq", dseq ?? "", "--from", "alice");
    const close = ["deploy", "close", dseq ?? "", "--from", "alice", ...FEES, ...flags];
    const { code, out, err, hash } = await interrupted("tx", close);
    expect(code).toBe(130);
    const message = `transaction ${hash} was sent and may still be included: interrupted`;
    expect(err).toContain(`\n${message}\n${query(hash)}\n`);
    if (flags.length > 0) expect(JSON.parse(out).error).toMatchObject({ message, hint: query(hash) });
    expect(await isIncluded(hash)).toBe(true);
  }
});

test("svc deploy close that is interrupted before the node's answer may have been sent", async () => {
  await chain.tx("deployment", "create", "examples/web.yaml", "--dseq", "13", "--from", "alice");
  const { code, err, hash } = await interrupted("broadcast_tx_sync", [
    "deploy",
    "close",
    "13",
    "--from",
    "alice",
    ...FEES,
  ]);
  expect(code).toBe(130);
  expect(err).toContain(`\ntransaction ${hash} may have been sent: interrupted\n${query(hash)}\n`);
  expect(await isIncluded(hash)).toBe(true);
});
