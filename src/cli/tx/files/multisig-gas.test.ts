import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliChain } from "../../../../test/cli/chain.ts";

/** A multisig of five with a threshold of three: its signature costs the gas of three and many bytes. */
const MEMBERS = ["m1", "m2", "m3", "m4", "m5"];
const chain = await cliChain("alice", ...MEMBERS);
const { alice = "" } = chain.addresses;
let team = "";
afterAll(() => chain.stop());

beforeAll(async () => {
  await ok("keys", "add", "team", "--multisig", MEMBERS.join(","), "--multisig-threshold", "3");
  team = (await ok("keys", "show", "team", "-a")).trim();
  await chain.tx("bank", "send", "alice", team, "1000000utoken");
});

async function ok(...argv: string[]): Promise<string> {
  const { code, out, err } = await chain.run(argv);
  if (code !== 0) throw new Error(`svc ${argv.join(" ")}: ${err}`);
  return out;
}

let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(chain.home, `file-${files}.json`);
  writeFileSync(path, text);
  return path;
}

const send = (from: string) => ["tx", "bank", "send", from, alice, "5utoken", "--fees", "5000utoken"];
const unsigned = async (...flags: string[]) => file(await ok(...send(team), "--generate-only", ...flags));

async function signed(path: string): Promise<string> {
  const share = async (from: string) => file(await ok("tx", "sign", path, "--multisig", "team", "--from", from));
  const shares = await Promise.all(["m1", "m3", "m4"].map(share));
  return file(await ok("tx", "multisign", path, "team", ...shares));
}

/** The gas that the transaction really takes. */
async function gasUsed(path: string): Promise<number> {
  const sent = JSON.parse(await ok("tx", "broadcast", await signed(path), "-b", "block"));
  expect(sent.code).toBe(0);
  return Number(sent.gas_used);
}

const estimateOf = ({ err }: { readonly err: string }) => Number(/^gas estimate: (\d+)$/m.exec(err)?.[1]);

/** A limit with a digit more costs the gas of a byte. */
const BYTE_GAS = 10;

/** Enough for the transaction, and not much more. */
function expectEnough(estimate: number, used: number): void {
  expect(estimate).toBeGreaterThanOrEqual(used - BYTE_GAS);
  expect(estimate).toBeLessThan(used * 1.05);
}

describe("the gas of a multisig is that of the signatures it needs", () => {
  test("before its first transaction, where the keyring knows its key", async () => {
    const path = await unsigned();
    const dryRun = estimateOf(await chain.run([...send("team"), "--dry-run"]));
    const simulated = Number(JSON.parse(await ok("tx", "simulate", path, "--from", "team")).gas_info.gas_used);
    const sign = ["tx", "sign", path, "--multisig", "team", "--from", "m1", "--dry-run"];
    const ofSign = estimateOf(await chain.run(sign));
    const used = await gasUsed(path);
    for (const estimate of [dryRun, simulated, ofSign]) expectEnough(estimate, used);
  });

  test("afterwards of its address alone: --gas auto, --dry-run, and a file", async () => {
    const generated = await chain.run([...send(team), "--generate-only", "--gas", "auto"]);
    const dryRun = estimateOf(await chain.run([...send(team), "--dry-run"]));
    const path = file(generated.out);
    const simulated = Number(JSON.parse(await ok("tx", "simulate", path)).gas_info.gas_used);
    // The limit is the estimate: too little would fail.
    const used = await gasUsed(path);
    for (const estimate of [estimateOf(generated), dryRun, simulated]) expectEnough(estimate, used);
  });
});
