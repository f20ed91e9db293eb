import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { becomeOperator, SHORT_VOTES } from "../../../test/support/proposals.ts";
import { standardModules, storeNames } from "../../app/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { type TestChain, testChain } from "../../testing/index.ts";
import { ProposalStatus, VoteOption } from "../../wire/gen/sdk/gov/v1/gov_pb.js";
import { Query as Gov } from "../../wire/gen/sdk/gov/v1/query_pb.js";
import { MsgSubmitProposalSchema, MsgVoteSchema } from "../../wire/gen/sdk/gov/v1/tx_pb.js";
import { type PlanSchema, Query } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { MsgCancelUpgradeSchema, MsgSoftwareUpgradeSchema } from "../../wire/gen/sdk/upgrade/v1beta1/tx_pb.js";
import { encodeAddress, packAny } from "../../wire/index.ts";

type PlanInit = MessageInitShape<typeof PlanSchema>;

const GOV = encodeAddress(moduleAddress("gov"));

/** A validator alone has all votes; a vote lasts two blocks. */
function newChain(): TestChain {
  const chain = testChain({ genesis: { gov: SHORT_VOTES } });
  becomeOperator(chain, chain.key("alice"));
  return chain;
}

const planning = (plan: PlanInit) =>
  packAny(MsgSoftwareUpgradeSchema, create(MsgSoftwareUpgradeSchema, { authority: GOV, plan }));
const cancelling = packAny(MsgCancelUpgradeSchema, create(MsgCancelUpgradeSchema, { authority: GOV }));

function submit(chain: TestChain, messages: Any[]) {
  const from = chain.key("alice");
  const { min_deposit: initialDeposit } = SHORT_VOTES.params;
  const proposal = { messages, initialDeposit, proposer: from.address, title: "v2", summary: "the next one" };
  return chain.send(create(MsgSubmitProposalSchema, proposal), { from });
}

/** Submits the messages, votes for them and makes blocks until the vote has ended. */
function carryOut(chain: TestChain, ...messages: Any[]) {
  expect(submit(chain, messages).code).toBe(0);
  const from = chain.key("alice");
  const proposalId = chain.query(Gov.method.proposals, {}).proposals.at(-1)?.id ?? 0n;
  chain.mustSend(create(MsgVoteSchema, { proposalId, voter: from.address, option: VoteOption.YES }), { from });
  const proposal = () => chain.query(Gov.method.proposal, { proposalId }).proposal;
  while (proposal()?.status === ProposalStatus.VOTING_PERIOD) chain.nextBlock();
  return proposal();
}

const planned = (chain: TestChain) => {
  const { plan } = chain.query(Query.method.currentPlan, {});
  return plan && [plan.name, plan.height, plan.info];
};

describe("an upgrade that governance decides", () => {
  test("is planned, replaced by the next plan, and cancelled", () => {
    const chain = newChain();
    expect(planned(chain)).toBeUndefined();
    carryOut(chain, planning({ name: "v2", height: 100n, info: '{"binaries":{}}' }));
    expect(planned(chain)).toEqual(["v2", 100n, '{"binaries":{}}']);
    expect(chain.blockEvents).toContainEqual({
      type: "software_upgrade",
      attributes: expect.arrayContaining([
        expect.objectContaining({ key: "name", value: "v2" }),
        expect.objectContaining({ key: "height", value: "100" }),
      ]),
    });
    // Clients of the ecosystem send the year 1 where a plan has no time.
    carryOut(chain, planning({ name: "v2.0.1-rc_1", height: 90n, time: { seconds: -62_135_596_800n, nanos: 0 } }));
    expect(planned(chain)).toEqual(["v2.0.1-rc_1", 90n, ""]);
    expect(chain.query(Query.method.currentPlan, {}).plan?.time).toBeUndefined();
    chain.restart();
    carryOut(chain, cancelling);
    expect(planned(chain)).toBeUndefined();
    expect(chain.blockEvents).toContainEqual(expect.objectContaining({ type: "cancel_upgrade" }));
    // Without a plan there is nothing to cancel, and no fault.
    expect(carryOut(chain, cancelling)?.status).toBe(ProposalStatus.PASSED);
  });

  test("is not planned where the same block cancels it", () => {
    const chain = newChain();
    const done = carryOut(chain, planning({ name: "v2", height: 100n }), cancelling);
    expect([done?.status, planned(chain)]).toEqual([ProposalStatus.PASSED, undefined]);
    expect(carryOut(chain, cancelling, planning({ name: "v2", height: 100n }))?.status).toBe(ProposalStatus.PASSED);
    expect(planned(chain)).toEqual(["v2", 100n, ""]);
  });

  test("fails when the vote ends at its height or later", () => {
    const chain = newChain();
    const height = chain.height + 3n;
    const done = carryOut(chain, planning({ name: "v2", height }));
    expect(chain.height).toBe(height);
    expect(done).toMatchObject({
      status: ProposalStatus.FAILED,
      failedReason: expect.stringContaining(`height ${height} is not in the future: this is block ${height}`),
    });
    expect(planned(chain)).toBeUndefined();
    expect(carryOut(chain, planning({ name: "v2", height: 1n }))?.status).toBe(ProposalStatus.FAILED);
  });

  test("is refused to anybody else", () => {
    const chain = newChain();
    const from = chain.key("bob");
    const authority = from.address;
    const message = create(MsgSoftwareUpgradeSchema, { authority, plan: { name: "v2", height: 100n } });
    expect(chain.send(message, { from })).toMatchObject({ codespace: "sdk", code: 4 });
    expect(chain.send(create(MsgCancelUpgradeSchema, { authority }), { from })).toMatchObject({
      codespace: "sdk",
      code: 4,
    });
  });
});

describe("plans that are refused when they are proposed", () => {
  const chain = newChain();
  const good = { name: "v2", height: 100n };

  test.each<[string, PlanInit]>([
    ["no name", { ...good, name: "" }],
    ["a way out of a folder", { ...good, name: "../x" }],
    ["a hidden folder", { ...good, name: ".x" }],
    ["a folder in a folder", { ...good, name: "a/b" }],
    ["a drive", { ...good, name: "a\\b" }],
    ["a space", { ...good, name: "v 2" }],
    ["a flag", { ...good, name: "--home" }],
    ["the end of a line", { ...good, name: "v2\n" }],
    ["a zero byte", { ...good, name: "v2\0" }],
    ["letters that look alike", { ...good, name: "ν2" }],
    ["a long name", { ...good, name: "v".repeat(65) }],
    ["height 0", { ...good, height: 0n }],
    ["a negative height", { ...good, height: -1n }],
    ["a time", { ...good, time: { seconds: 1_800_000_000n, nanos: 0 } }],
    ["info of two lines", { ...good, info: "a\nUPGRADE" }],
    ["info that moves the cursor", { ...good, info: "\u001b[2J" }],
    ["long info", { ...good, info: "i".repeat(4097) }],
  ])("%s", (_, plan) => {
    expect(submit(chain, [planning(plan)])).toMatchObject({ codespace: "gov", code: 12 });
  });

  test("no plan", () => {
    const message = create(MsgSoftwareUpgradeSchema, { authority: GOV });
    expect(submit(chain, [packAny(MsgSoftwareUpgradeSchema, message)])).toMatchObject({ codespace: "gov", code: 12 });
  });

  test.each<[string, PlanInit]>([
    ["the longest name", { ...good, name: "v".repeat(64) }],
    ["the longest info", { ...good, info: "~".repeat(4096) }],
    ["the highest height", { ...good, height: 2n ** 63n - 1n }],
  ])("not %s", (_, plan) => {
    expect(submit(chain, [planning(plan)]).code).toBe(0);
  });
});

describe("a state", () => {
  const begin = (upgrade: object) => () => testChain({ genesis: { upgrade } });

  test("without a plan is the same as before the module existed", () => {
    expect(storeNames(standardModules().modules)).not.toContain("upgrade");
    const [chain, named] = [testChain(), testChain({ genesis: { upgrade: {} } })];
    expect(named.app.info()).toEqual(chain.app.info());
    expect(chain.query(Query.method.moduleVersions, { moduleName: "upgrade" }).moduleVersions).toHaveLength(1);
  });

  test("goes with an exported one, and the plan comes as many blocks after the start of another chain", () => {
    const chain = testChain({ genesis: { upgrade: { plan: { name: "v2", height: "100", info: "i" } } } });
    expect(planned(chain)).toEqual(["v2", 100n, "i"]);
    expect(chain.query(Query.method.appliedPlan, { name: "v1\0" }).height).toBe(0n);
    const [first, second] = chain.exportTwice();
    expect(second).toEqual(first);
    const { appState } = chain.app.restartAt(chain.height, {}) ?? {};
    expect(appState).toMatchObject({ upgrade: { plan: { height: `${100n - chain.height}` } } });
  });

  test.each<[string, object, string]>([
    ["a bad plan", { plan: { name: "../x", height: "9" } }, "plan: the name must be"],
    ["a plan of the past", { plan: { name: "v2", height: "0" } }, "plan: the height must be greater than 0"],
    ["a bad name", { applied: [{ name: "", height: "9" }] }, "an upgrade cannot have this name"],
    ["an upgrade twice", { applied: [{ name: "a" }, { name: "a" }] }, "a appears twice"],
    ["a plan that was applied", { plan: { name: "a", height: "9" }, applied: [{ name: "a" }] }, "was applied already"],
  ])("is refused with %s", (_, upgrade, words) => {
    expect(begin(upgrade)).toThrow(words);
  });
});
