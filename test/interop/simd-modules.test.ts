import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChainClient, provenValue } from "../../src/client/index.ts";
import { fromHex } from "../../src/util/index.ts";
import { waitFor } from "../support/index.ts";
import { sampled } from "../support/runs.ts";
import { expectAlike } from "./alike.ts";
import { buildPeer, Peer } from "./peers.ts";
import { type SimdChain, startSimdChain } from "./simd-chain.ts";

/** Modules of the reference chain that ours does not have: proposals, grants, allowances, penalties, new coins. */

const built = await buildPeer("simd53");
const missing = built instanceof Peer ? "" : built.missing;

test.skipIf(missing !== "" && process.env.CI !== "true")(
  missing === "" ? "the reference tool is there" : `no reference tool, modules of it are not tested: ${missing}`,
  () => expect(missing).toBe(""),
);

const FEE = "7stake";
/** Chains of the reference take as long for each mode; `simd-chain.test.ts` tries both every day. */
const MODES = sampled(["amino-json", "direct"] as const, 2);

describe.skipIf(!(built instanceof Peer))("modules of the reference tool", () => {
  const root = mkdtempSync(join(tmpdir(), "svc-modules-"));
  let chain: SimdChain;

  beforeAll(async () => {
    if (!(built instanceof Peer)) return;
    const coins = (amount: string) => [{ denom: "stake", amount }];
    // Time for a dozen commands on a busy machine; waiting for the end costs nothing.
    const periods = { voting_period: "45s", expedited_voting_period: "40s", max_deposit_period: "120s" };
    const deposits = { min_deposit: coins("100"), expedited_min_deposit: coins("500") };
    chain = await startSimdChain(built, {
      accounts: ["alice", "bob", "carol"],
      changeGenesis: ({ app_state: state }) => {
        Object.assign((state as { gov: { params: object } }).gov.params, periods, deposits);
      },
    });
  });
  afterAll(async () => {
    await chain?.stop();
    rmSync(root, { recursive: true });
  });

  function file(name: string, content: object): string {
    const path = join(root, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  }

  async function balance(name: string): Promise<bigint> {
    const { amount } = await chain.svcQuery("bank", "balances", chain.address(name), "--denom", "stake");
    return BigInt(amount);
  }

  /** Both tools' answers to the same words; the part of theirs where ours is only that. */
  async function same(words: readonly string[], part?: string): Promise<void> {
    const [ours, theirs] = [await chain.svcQuery(...words), await chain.query(...words)];
    expectAlike(ours, part === undefined ? theirs : (theirs[part] ?? {}));
  }

  test("parameters and what changes with every block", async () => {
    for (const module of ["slashing", "mint", "gov", "auth", "bank"]) await same([module, "params"], "params");
    await same(["slashing", "signing-infos", "--height", "3"]);
    const { info } = await chain.svcQuery("slashing", "signing-infos");
    const { address } = info[0];
    await same(["slashing", "signing-info", address, "--height", "3"], "val_signing_info");
    const response = await fetch(`${chain.url.replace("tcp:", "http:")}/validators`);
    const { result } = (await response.json()) as { result: { validators: { pub_key: { value: string } }[] } };
    const key = JSON.stringify({ "@type": "/cosmos.crypto.ed25519.PubKey", key: result.validators[0]?.pub_key.value });
    expect(await chain.svcQuery("slashing", "signing-info", key)).toMatchObject({ address });
    for (const name of ["inflation", "annual-provisions"]) {
      const words = ["mint", name, "--height", "3"];
      await same(words);
      const answer = await chain.query(...words);
      expect(await chain.svcOk(["query", ...words])).toBe(`${answer[name.replace("-", "_")]}\n`);
    }
    const tallying = await chain.svcQuery("gov", "param", "tallying");
    expect(tallying).toMatchObject({ quorum: "0.334000000000000000" });
  });

  test("what a store holds and what it does not is proven under the next header's hash", async () => {
    const client = new ChainClient(chain.url, { namespace: "cosmos" });
    const height = BigInt(await chain.height());
    await chain.blocks(2);
    const commit = (await client.rpc.call("commit", { height: String(height + 1n) })) as {
      readonly signed_header: { readonly header: { readonly app_hash: string } };
    };
    const appHash = Uint8Array.from(fromHex(commit.signed_header.header.app_hash));
    const supply = Uint8Array.from([0, ...new TextEncoder().encode("stake")]);
    const ask = (key: Uint8Array, hash = appHash) => provenValue(client, { store: "bank", key, height, appHash: hash });
    const { amount } = await chain.query("bank", "total-supply-of", "stake", "--height", String(height));
    expect(new TextDecoder().decode(await ask(supply))).toBe(amount.amount);
    for (const text of ["aaaa", "stakf", "zzzz"]) {
      expect(await ask(Uint8Array.from([0, ...new TextEncoder().encode(text)]))).toBeUndefined();
    }
    for (const edge of [Uint8Array.of(0), Uint8Array.of(255)]) expect(await ask(edge)).toBeUndefined();
    await expect(ask(supply, new Uint8Array(32))).rejects.toThrow("it leads to another root");
    client.close();
  });

  test("a proposal goes from its deposit over votes to its effect", async () => {
    const { accounts } = await chain.query("auth", "module-accounts");
    const gov = accounts.find(({ value }: { value: { name: string } }) => value.name === "gov");
    const params = { ...(await chain.svcQuery("mint", "params")), goal_bonded: "0.500000000000000000" };
    const update = { "@type": "/cosmos.mint.v1beta1.MsgUpdateParams", authority: gov.value.address, params };
    const path = file("proposal.json", {
      ...{ title: "Bond half", summary: "A goal that can be met", metadata: "none" },
      ...{ deposit: "40stake", messages: [update] },
    });
    await chain.svcTx("gov", "submit-proposal", path, "--from", "alice");
    const [{ id }] = (await chain.svcQuery("gov", "proposals", "--status", "deposit-period")).proposals;
    expect(await chain.svcQuery("gov", "proposer", id)).toEqual({ proposal_id: id, proposer: chain.address("alice") });
    await chain.svcTx("gov", "deposit", id, "60stake", "--from", "bob", "--sign-mode", "amino-json");
    await same(["gov", "deposits", id]);
    await same(["gov", "deposit", id, chain.address("bob")], "deposit");
    await chain.svcTx("gov", "vote", id, "yes", "--metadata", "agreed", "--from", "validator");
    for (const mode of MODES) {
      const split = ["gov", "weighted-vote", id, "yes=0.6,no_with_veto=0.4", "--from", "alice"];
      await chain.svcTx(...split, "--sign-mode", mode);
      await chain.svcTx("gov", "vote", id, "abstain", "--from", "bob", "--sign-mode", mode);
    }
    await same(["gov", "proposal", id], "proposal");
    await same(["gov", "proposals"]);
    await same(["gov", "votes", id]);
    await same(["gov", "vote", id, chain.address("alice")], "vote");
    await same(["gov", "tally", id], "tally");
    const passed = async () =>
      (await chain.svcQuery("gov", "proposal", id)).status === "PROPOSAL_STATUS_PASSED" ? true : undefined;
    await waitFor(passed, `proposal ${id} to pass`, { timeoutMs: 120_000 });
    expect(await chain.svcQuery("mint", "params")).toEqual(params);
    await same(["gov", "proposal", id], "proposal");
  });

  test.each(MODES)("a proposal of text, older votes and its end, signed in mode %s", async (mode) => {
    const signed = ["--sign-mode", mode];
    const text = ["--title", "A title", "--description", "What <it> & that means", "--deposit", "100stake"];
    await chain.svcTx("gov", "submit-legacy-proposal", ...text, "--from", "carol", ...signed);
    const [{ id }] = (await chain.svcQuery("gov", "proposals", "--reverse", "--limit", "1")).proposals;
    await chain.svcTx("gov", "vote", id, "no", "--legacy", "--from", "alice", ...signed);
    await chain.svcTx("gov", "weighted-vote", id, "no=0.5,yes=0.5", "--legacy", "--from", "bob", ...signed);
    await chain.svcTx("gov", "deposit", id, "1stake", "--legacy", "--from", "bob", ...signed);
    await same(["gov", "proposal", id], "proposal");
    await same(["gov", "votes", id]);
    await chain.svcTx("gov", "cancel-proposal", id, "--from", "carol", ...signed);
    const { code, stderr } = await chain.svc(["query", "gov", "proposal", id]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Error: .*doesn't exist/) });
  });

  test.each(MODES)("a grant is given, used and taken back, signed in mode %s", async (mode) => {
    const [alice, bob, carol] = ["alice", "bob", "carol"].map((name) => chain.address(name)) as [
      string,
      string,
      string,
    ];
    const signed = ["--sign-mode", mode];
    const limit = ["--spend-limit", "100stake", "--allow-list", carol, "--expiration", "4102444800"];
    await chain.svcTx("authz", "grant", bob, "send", ...limit, "--from", "alice", ...signed);
    const unsigned = await chain.svcOk(["tx", "bank", "send", alice, carol, "30stake", "--generate-only"]);
    const path = file(`exec-${mode}.json`, JSON.parse(unsigned));
    const before = await balance("carol");
    await chain.svcTx("authz", "exec", path, "--from", "bob", ...signed);
    expect(await balance("carol")).toBe(before + 30n);
    for (const words of [
      ["grants", alice, bob],
      ["grants-by-granter", alice],
      ["grants-by-grantee", bob],
    ]) {
      await same(["authz", ...words]);
    }
    const one = await chain.svcQuery("authz", "grants", alice, bob, "/cosmos.bank.v1beta1.MsgSend");
    expect(one.grants).toEqual([
      {
        authorization: {
          "@type": "/cosmos.bank.v1beta1.SendAuthorization",
          spend_limit: [{ denom: "stake", amount: "70" }],
          allow_list: [carol],
        },
        expiration: "2100-01-01T00:00:00Z",
      },
    ]);
    const kinds = [
      ["generic", "--msg-type", "/cosmos.gov.v1.MsgVote"],
      ["delegate", "--allowed-validators", chain.validator, "--spend-limit", "9stake"],
      ["redelegate", "--deny-validators", chain.validator],
    ];
    for (const kind of kinds) await chain.svcTx("authz", "grant", bob, ...kind, "--from", "alice", ...signed);
    await same(["authz", "grants", alice, bob]);
    await chain.svcTx("authz", "revoke", bob, "/cosmos.bank.v1beta1.MsgSend", "--from", "alice", ...signed);
    const refused = await chain.svc(["tx", "authz", "exec", path, "--from", "bob", "-y", "-b", "block"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("authorization not found");
  });

  test.each(MODES)("an allowance pays fees until it is taken back, signed in mode %s", async (mode) => {
    const [alice, bob] = [chain.address("alice"), chain.address("bob")];
    const signed = ["--sign-mode", mode];
    const limits = ["--spend-limit", "50stake", "--period", "3600", "--period-limit", "20stake"];
    const messages = ["--allowed-messages", "/cosmos.bank.v1beta1.MsgSend"];
    await chain.svcTx("feegrant", "grant", "alice", bob, ...limits, ...messages, ...signed);
    await same(["feegrant", "grant", alice, bob]);
    await same(["feegrant", "grants-by-grantee", bob]);
    await same(["feegrant", "grants-by-granter", alice]);
    const [granter, sender] = [await balance("alice"), await balance("bob")];
    const send = ["bank", "send", "bob", chain.address("carol"), "1stake"];
    await chain.svcTx(...send, "--fees", FEE, "--fee-granter", alice, ...signed);
    expect([granter - (await balance("alice")), sender - (await balance("bob"))]).toEqual([7n, 1n]);
    const { allowance } = await chain.svcQuery("feegrant", "grant", alice, bob);
    expect(allowance.allowance.allowance).toMatchObject({
      basic: { spend_limit: [{ denom: "stake", amount: "43" }] },
      period: "3600s",
      period_can_spend: [{ denom: "stake", amount: "13" }],
    });
    await chain.svcTx("feegrant", "revoke", "alice", bob, ...signed);
    const refused = await chain.svc(["tx", ...send, "--fees", FEE, "--fee-granter", alice, "-y", "-b", "block"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/fee-grant not found|does not allow to pay fees/);
    await chain.svcTx("feegrant", "grant", "alice", bob, ...signed);
    await same(["feegrant", "grant", alice, bob]);
    await chain.svcTx("feegrant", "revoke", "alice", bob, ...signed);
  });

  describe("allowances of the reference, in which ours differ", () => {
    const allow = (...words: string[]) => chain.svcTx("feegrant", "grant", "alice", chain.address("carol"), ...words);
    const revoke = () => chain.svcTx("feegrant", "revoke", "alice", chain.address("carol"));
    const allowance = () => chain.svcQuery("feegrant", "grant", chain.address("alice"), chain.address("carol"));

    test("a new period has no limit of one coin once less of another is left than its limit", async () => {
      await allow("--spend-limit", "1000stake,12uvec", "--period", "1", "--period-limit", "10stake,10uvec");
      const pay = (fees: string) => {
        const send = ["bank", "send", "carol", chain.address("bob"), "1stake"];
        return chain.svcTx(...send, "--fees", fees, "--fee-granter", chain.address("alice"));
      };
      await expect(pay("11stake")).rejects.toThrow("fee limit exceeded");
      await pay("10uvec");
      await chain.blocks(10);
      await pay("500stake");
      const { basic, period_can_spend } = (await allowance()).allowance.allowance;
      const left = [
        { denom: "stake", amount: "500" },
        { denom: "uvec", amount: "2" },
      ];
      expect({ basic, period_can_spend }).toEqual({
        basic: { spend_limit: left, expiration: null },
        period_can_spend: left,
      });
      await revoke();
    });

    test("an allowance that was revoked and granted again ends at its first end", async () => {
      const inSeconds = (count: number) => `${new Date(Date.now() + count * 1000).toISOString().slice(0, 19)}Z`;
      await allow("--expiration", inSeconds(10));
      await revoke();
      await allow("--expiration", inSeconds(3600));
      expect((await allowance()).allowance).toBeDefined();
      const gone = async () =>
        (await chain.svc(["query", "feegrant", "grant", chain.address("alice"), chain.address("carol")])).code === 1;
      await waitFor(gone, "the end of the allowance", { timeoutMs: 30_000 });
    });

    test("a list of messages stands in another", async () => {
      const words = ["feegrant", "grant", chain.address("alice"), chain.address("carol")];
      const listed = ["--allowed-messages", "/cosmos.bank.v1beta1.MsgSend", "--generate-only"];
      const unsigned = JSON.parse(await chain.svcOk(["tx", ...words, ...listed]));
      const [message] = unsigned.body.messages;
      message.allowance = { ...message.allowance, allowance: message.allowance };
      const signed = await chain.ok(["tx", "sign", file("nested.json", unsigned), "--from", "alice"]);
      const path = file("nested-signed.json", JSON.parse(signed));
      expect(JSON.parse(await chain.svcOk(["tx", "broadcast", path, "-b", "block"]))).toMatchObject({ code: 0 });
      await revoke();
    });
  });

  test.each(MODES)("a validator that is not jailed is refused, signed in mode %s", async (mode) => {
    const unjail = ["tx", "slashing", "unjail", "--from", "validator", "--sign-mode", mode];
    const { code, stderr } = await chain.svc([...unjail, "-y", "-b", "block"]);
    expect(code).toBe(1);
    expect(stderr).toContain("validator not jailed");
  });

  test("the tool signs what ours generates, and ours what it generates", async () => {
    const bob = chain.address("bob");
    const words = [
      "authz",
      "revoke",
      bob,
      "/cosmos.gov.v1.MsgVote",
      "--from",
      chain.address("alice"),
      "--generate-only",
    ];
    const [ours, theirs] = [await chain.svcOk(["tx", ...words]), await chain.ok(["tx", ...words])];
    expect(JSON.parse(theirs).body.messages).toEqual(JSON.parse(ours).body.messages);
    const signed = await chain.ok(["tx", "sign", file("unsigned.json", JSON.parse(ours)), "--from", "alice"]);
    const path = file("signed.json", JSON.parse(signed));
    const sent = JSON.parse(await chain.svcOk(["tx", "broadcast", path, "-b", "block"]));
    expect(sent.code).toBe(0);
  });
});
