import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addGenesisValidator } from "../../src/node/index.ts";
import { runCli } from "../cli/run.ts";
import { Fixture, startNode } from "../support/index.ts";

/** Every command of governance, typed against its own node. */

type Json = ReturnType<typeof JSON.parse>;

const fixture = new Fixture();
const keys = fixture.tempHome("keys");
const FUNDS = 1_000_000_000_000n;
let env: Record<string, string> = {};
let alice = "";
let bob = "";

const svc = (...words: string[]) => runCli(words, { env });

async function json(...words: string[]): Promise<Json> {
  const { code, out, err } = await svc(...words);
  expect({ words, code, err }).toEqual({ words, code: 0, err: expect.any(String) });
  return JSON.parse(out);
}

const query = (...words: string[]): Promise<Json> => json("query", "gov", ...words, "-o", "json");

/** A transaction in a block; its events by type. */
async function send(from: string, ...words: string[]): Promise<Json> {
  const flags = ["--from", from, "--fees", "5000utoken", "--gas", "400000", "-b", "block", "-y", "-o", "json"];
  const result = await json("tx", "gov", ...words, ...flags);
  expect(result, JSON.stringify(result)).toMatchObject({ code: 0 });
  return result;
}

/** The refusal of a command. */
async function refusal(from: string, ...words: string[]): Promise<string> {
  const ran = await svc("tx", "gov", ...words, "--from", from, "--fees", "5000utoken", "-b", "block", "-y");
  expect(ran.code, JSON.stringify(ran)).not.toBe(0);
  return ran.err;
}

beforeAll(async () => {
  env = { SVC_HOME: keys, SVC_KEYRING_BACKEND: "test", SVC_CHAIN_ID: "svc-test-1" };
  for (const name of ["alice", "bob"]) expect((await svc("keys", "add", name)).code).toBe(0);
  [alice, bob] = (await Promise.all(
    ["alice", "bob"].map(async (name) => (await svc("keys", "show", name, "-a")).out.trim()),
  )) as [string, string];
  const coins = [{ denom: "utoken", amount: FUNDS }];
  const node = await startNode(fixture, {
    checkInvariants: true,
    accounts: [alice, bob].map((address) => ({ address, coins })),
    editGenesis: ({ app_state }) => {
      // Long enough that no vote ends while this runs.
      const periods = { max_deposit_period: "86400s", voting_period: "86400s", expedited_voting_period: "43200s" };
      Object.assign(app_state.gov ?? {}, { params: { ...(app_state.gov as Json).params, ...periods } });
    },
    editHome: (home) =>
      addGenesisValidator(home, { operator: alice, bonded: { denom: "utoken", amount: FUNDS / 10n } }),
  });
  env = { ...env, SVC_NODE: node.address };
});
afterAll(() => fixture.close());

describe("governance, command by command", { timeout: 60_000 }, () => {
  it("shows its parameters, whole and by kind", async () => {
    const params = await query("params");
    expect(params).toMatchObject({
      voting_period: "86400s",
      min_deposit: [{ denom: "utoken" }],
      quorum: "0.334000000000000000",
    });
    expect(await query("param", "voting")).toEqual({ voting_period: "86400s" });
    expect(await query("param", "deposit")).toMatchObject({ min_deposit: params.min_deposit });
    expect(await query("param", "tallying")).toMatchObject({ quorum: params.quorum });
    const wrong = await svc("query", "gov", "param", "nothing");
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("nothing");
  });

  it("has no proposal at first, and says which is missing", async () => {
    expect((await query("proposals")).proposals).toEqual([]);
    for (const words of [
      ["proposal", "1"],
      ["tally", "1"],
      ["deposit", "1", alice],
      ["vote", "1", alice],
      ["proposer", "1"],
    ]) {
      const { code, err } = await svc("query", "gov", ...words);
      expect({ words, code }).toEqual({ words, code: 1 });
      expect(err).toMatch(/1/);
    }
    for (const words of [
      ["proposal", "0"],
      ["proposal", "-1"],
      ["proposal", "x"],
      ["proposal", "18446744073709551616"],
    ])
      expect((await svc("query", "gov", ...words)).code, words.join(" ")).not.toBe(0);
  });

  it("draft-proposal, submit-proposal, deposit", async () => {
    const draft = JSON.parse((await svc("tx", "gov", "draft-proposal", "MsgCommunityPoolSpend")).out);
    Object.assign(draft.messages[0], { recipient: bob, amount: [{ denom: "utoken", amount: "1" }] });
    Object.assign(draft, { title: "Pay bob", summary: "One token", deposit: "2000000utoken" });
    const path = join(fixture.folder, "proposal.json");
    writeFileSync(path, JSON.stringify(draft));
    await send("alice", "submit-proposal", path);
    expect(await query("proposal", "1")).toMatchObject({
      id: "1",
      status: "PROPOSAL_STATUS_DEPOSIT_PERIOD",
      title: "Pay bob",
      proposer: alice,
      total_deposit: [{ denom: "utoken", amount: "2000000" }],
      voting_start_time: null,
      failed_reason: "",
    });
    expect(await refusal("bob", "vote", "1", "yes")).toMatch(/inactive proposal/);
    await send("bob", "deposit", "1", "3000000utoken");
    expect(await query("deposit", "1", bob)).toMatchObject({
      proposal_id: "1",
      depositor: bob,
      amount: [{ denom: "utoken", amount: "3000000" }],
    });
    await send("bob", "deposit", "1", "10000000utoken", "--legacy");
    expect((await query("deposits", "1")).deposits).toHaveLength(2);
    expect(await query("proposal", "1")).toMatchObject({ status: "PROPOSAL_STATUS_VOTING_PERIOD" });
    expect(await query("proposer", "1")).toMatchObject({ proposer: alice });
    expect(await refusal("bob", "deposit", "99", "1000000utoken")).toMatch(/99/);
    expect(await refusal("bob", "deposit", "1", "5stake")).toMatch(/stake/);
  });

  it("vote, weighted-vote, with and without --legacy", async () => {
    await send("alice", "vote", "1", "yes", "--metadata", "because");
    expect(await query("vote", "1", alice)).toMatchObject({
      voter: alice,
      metadata: "because",
      options: [{ option: "VOTE_OPTION_YES", weight: "1.000000000000000000" }],
    });
    expect(await query("tally", "1")).toMatchObject({ yes_count: `${FUNDS / 10n}`, no_count: "0" });
    await send("alice", "vote", "1", "no_with_veto", "--legacy");
    expect(await query("tally", "1")).toMatchObject({ yes_count: "0", no_with_veto_count: `${FUNDS / 10n}` });
    await send("alice", "weighted-vote", "1", "yes=0.6,no=0.3,abstain=0.1");
    expect(await query("tally", "1")).toMatchObject({
      yes_count: "60000000000",
      no_count: "30000000000",
      abstain_count: "10000000000",
      no_with_veto_count: "0",
    });
    await send("alice", "weighted-vote", "1", "yes=0.5,no=0.5", "--legacy");
    await send("bob", "vote", "1", "abstain");
    expect((await query("votes", "1")).votes).toHaveLength(2);
    expect((await query("votes", "1", "--limit", "1")).votes).toHaveLength(1);
    expect(await refusal("alice", "weighted-vote", "1", "yes=0.6,no=0.6")).toMatch(/1|weight/);
    expect(await refusal("alice", "weighted-vote", "1", "yes=0.6")).toMatch(/weight/);
    expect(await refusal("alice", "vote", "1", "perhaps")).toMatch(/perhaps/);
  });

  it("submit-legacy-proposal, and lists by status, voter and depositor", async () => {
    const words = [
      "--title",
      "A text",
      "--description",
      "Of one line",
      "--type",
      "Text",
      "--deposit",
      "10000000utoken",
    ];
    await send("bob", "submit-legacy-proposal", ...words);
    const { proposals } = await query("proposals");
    expect(proposals.map(({ id }: Json) => id)).toEqual(["1", "2"]);
    expect(proposals[1].messages).toMatchObject([
      {
        "@type": "/sdk.gov.v1.MsgExecLegacyContent",
        content: { "@type": "/sdk.gov.v1beta1.TextProposal", title: "A text" },
      },
    ]);
    const ids = async (...flags: string[]) => (await query("proposals", ...flags)).proposals.map(({ id }: Json) => id);
    expect(await ids("--status", "voting-period")).toEqual(["1", "2"]);
    expect(await ids("--status", "passed")).toEqual([]);
    expect(await ids("--voter", alice)).toEqual(["1"]);
    expect(await ids("--depositor", bob)).toEqual(["1", "2"]);
    expect(await ids("--limit", "1")).toEqual(["1"]);
    expect(await ids("--limit", "1", "--reverse")).toEqual(["2"]);
    expect((await svc("query", "gov", "proposals", "--status", "nothing")).code).toBe(2);
  });

  it("cancel-proposal, by who submitted it", async () => {
    expect(await refusal("alice", "cancel-proposal", "2")).toMatch(/proposer|submitted/);
    await send("bob", "cancel-proposal", "2");
    expect((await query("proposals")).proposals).toHaveLength(1);
    const { code, err } = await svc("query", "gov", "proposal", "2");
    expect({ code, err }).toMatchObject({ code: 1 });
    expect(await refusal("bob", "cancel-proposal", "2")).toMatch(/2/);
  });
});
