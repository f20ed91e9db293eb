import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { referenceTool, temporaryFiles } from "./reference-tool.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** `svc` as a client of a chain of the older reference tool, which reads some requests in other fields. */

const built = await referenceTool("simd42", "chains of it are not tested");
const file = temporaryFiles();

const MEMBERS = ["alice", "bob", "carol"];

describe.skipIf(built === undefined)("a chain of the older reference tool", () => {
  let chain: SimdChain;
  const address = (name: string): string => chain.address(name);

  beforeAll(async () => {
    if (built === undefined) return;
    chain = await startSimdChain(built, { accounts: [...MEMBERS, "watcher"] });
    await chain.svcOk(["keys", "add", "team", "--multisig", MEMBERS.join(","), "--multisig-threshold", "2"]);
  });
  afterAll(() => chain?.stop());

  const estimateOf = (stderr: string) => Number(/^gas estimate: (\d+)$/m.exec(stderr)?.[1]);

  test("gas is estimated and enough", async () => {
    const send = ["tx", "bank", "send", "alice", address("watcher"), "7stake"];
    const { code, stdout, stderr } = await chain.svc([...send, "--gas", "auto", "-y", "-b", "block"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^gas estimate: \d+\n$/) });
    expect(JSON.parse(stdout)).toMatchObject({ code: 0, gas_wanted: String(estimateOf(stderr)) });
    const dryRun = await chain.svc([...send, "--dry-run"]);
    expect(dryRun.code).toBe(0);
    expect(estimateOf(dryRun.stderr)).toBeGreaterThan(30_000);
  });

  test("gas of a multisig is estimated and enough", async () => {
    const team = (await chain.svcOk(["keys", "show", "team", "-a"])).trim();
    await chain.svcTx("bank", "send", "carol", team, "1000000stake");
    const send = ["tx", "bank", "send", team, address("watcher"), "5stake"];
    for (const round of ["its key is not on the chain", "its key is on the chain"]) {
      const dryRun = await chain.svc([...send.slice(0, 3), "team", ...send.slice(4), "--dry-run"]);
      const gas = estimateOf(dryRun.stderr);
      expect({ round, gas: gas > 30_000, dryRun }).toMatchObject({ gas: true });
      const unsigned = file(await chain.svcOk([...send, "--generate-only", "--gas", String(gas)]));
      const share = async (from: string) =>
        file(await chain.svcOk(["tx", "sign", unsigned, "--multisig", team, "--from", from]));
      const shares = [await share("alice"), await share("bob")];
      const signed = file(await chain.svcOk(["tx", "multisign", unsigned, "team", ...shares]));
      const sent = JSON.parse(await chain.svcOk(["tx", "broadcast", signed, "-b", "block"]));
      expect(sent).toMatchObject({ code: 0 });
      expect(Number(sent.gas_used)).toBeGreaterThan(gas * 0.85);
    }
  });

  test("an account with coins that come free", async () => {
    const fresh = "vested";
    await chain.svcOk(["keys", "add", fresh]);
    const to = (await chain.svcOk(["keys", "show", fresh, "-a"])).trim();
    const words = ["tx", "vesting", "create-vesting-account", to, "1000stake", "1900000000", "--delayed"];
    const unsigned = [...words, "--from", address("alice"), "--generate-only"];
    expect(JSON.parse(await chain.svcOk(unsigned)).body.messages).toEqual(
      JSON.parse(await chain.ok(unsigned)).body.messages,
    );
    await chain.svcTx(...words.slice(1), "--from", "alice");
    const { base_vesting_account: account, ...kind } = await chain.query("account", to);
    expect(kind["@type"]).toBe("/cosmos.vesting.v1beta1.DelayedVestingAccount");
    expect(account).toMatchObject({ original_vesting: [{ denom: "stake", amount: "1000" }], end_time: "1900000000" });
  });

  test("one transaction for several receivers", async () => {
    const receivers = [address("bob"), address("watcher")];
    const balance = async (holder: string) =>
      BigInt((await chain.query("bank", "balances", holder, "--denom", "uvec")).amount);
    const before = await Promise.all(receivers.map(balance));
    await chain.svcTx("bank", "multi-send", "alice", ...receivers, "7uvec", "--split");
    expect(await Promise.all(receivers.map(balance))).toEqual(before.map((amount) => amount + 3n));
  });

  test("queries of modules that newer chains do not have, or have elsewhere", async () => {
    const subspace = ["params", "subspace", "staking", "UnbondingTime"];
    expect(await chain.svcQuery(...subspace)).toEqual(await chain.query(...subspace));
    expect(await chain.svcQuery("upgrade", "plan")).toBeNull();
    expect(await chain.svcQuery("evidence")).toEqual({ evidence: [], pagination: { next_key: null, total: "0" } });
    const unknown = await chain.svc(["query", "evidence", "AB".repeat(32)]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain(`${"AB".repeat(32)} not found`);
    const elsewhere = await chain.svc(["query", "consensus", "params"]);
    expect(elsewhere.stderr).toContain("module consensus is not on this chain");
  });
});
