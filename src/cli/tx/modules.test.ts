import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { runCli } from "../../../test/cli/run.ts";

const root = mkdtempSync(join(tmpdir(), "svc-modules-"));
afterAll(() => rmSync(root, { recursive: true }));

const ALICE = "cosmos1vqekc49ukm8gu5xsn7dwsdduqan5rjw0mzh4y6";
const BOB = "cosmos1gea4s0r75sy2evw2t5y6rtkcu6sruvnn49qefv";
const VALIDATOR = "cosmosvaloper1vqekc49ukm8gu5xsn7dwsdduqan5rjw07krqgf";

function file(name: string, json: object): string {
  const path = join(root, name);
  writeFileSync(path, JSON.stringify(json));
  return path;
}

const UNSENT = ["--from", ALICE, "--generate-only", "--profile", "cosmos"];

/** The one message of the unsigned transaction that a command prints. */
async function message(...args: readonly string[]): Promise<Record<string, unknown>> {
  const argv = ["tx", ...args, ...UNSENT];
  const { code, out, err } = await runCli(argv);
  expect({ argv, code, err }).toEqual({ argv, code: 0, err: "" });
  const { messages } = JSON.parse(out).body;
  expect(messages).toHaveLength(1);
  return messages[0];
}

describe("tx gov", () => {
  const content = { title: "Raise a limit", summary: "Why it should be raised" };

  test("a proposal of messages, in the spelling of the network at every depth", async () => {
    const send = { from_address: ALICE, to_address: BOB, amount: [{ denom: "stake", amount: "5" }] };
    const inner = {
      "@type": "/sdk.authz.v1beta1.MsgExec",
      grantee: BOB,
      msgs: [{ "@type": "/sdk.bank.v1beta1.MsgSend", ...send }],
    };
    const path = file("proposal.json", {
      ...content,
      messages: [inner],
      deposit: "10stake",
      metadata: "m",
      expedited: true,
    });
    expect(await message("gov", "submit-proposal", path)).toEqual({
      "@type": "/cosmos.gov.v1.MsgSubmitProposal",
      messages: [
        {
          "@type": "/cosmos.authz.v1beta1.MsgExec",
          grantee: BOB,
          msgs: [{ "@type": "/cosmos.bank.v1beta1.MsgSend", ...send }],
        },
      ],
      initial_deposit: [{ denom: "stake", amount: "10" }],
      proposer: ALICE,
      metadata: "m",
      ...content,
      expedited: true,
    });
  });

  test("a duration in units, as the ecosystem's files have it", async () => {
    const path = file("units.json", {
      ...content,
      deposit: "10stake",
      messages: [
        {
          "@type": "/cosmos.gov.v1.MsgUpdateParams",
          authority: ALICE,
          params: { voting_period: "1m30s", max_deposit_period: "48h0m0s", expedited_voting_period: "1.5h" },
        },
      ],
    });
    const { messages } = await message("gov", "submit-proposal", path);
    expect(messages).toMatchObject([
      { params: { voting_period: "90s", max_deposit_period: "172800s", expedited_voting_period: "5400s" } },
    ]);
  });

  test("a proposal of text is the older message, from flags or from a file", async () => {
    const flags = ["--title", "t", "--description", "d", "--type", "Text", "--deposit", "10stake"];
    const expected = {
      "@type": "/cosmos.gov.v1beta1.MsgSubmitProposal",
      content: { "@type": "/cosmos.gov.v1beta1.TextProposal", title: "t", description: "d" },
      initial_deposit: [{ denom: "stake", amount: "10" }],
      proposer: ALICE,
    };
    expect(await message("gov", "submit-proposal", ...flags)).toEqual(expected);
    expect(await message("gov", "submit-legacy-proposal", ...flags)).toEqual(expected);
    const path = file("older.json", { title: "t", description: "d", type: "Text", deposit: "10stake" });
    expect(await message("gov", "submit-legacy-proposal", "--proposal", path)).toEqual(expected);
    expect(await message("gov", "submit-proposal", "--proposal", path)).toEqual(expected);
  });

  test.each(["no_with_veto", "no-with-veto", "NoWithVeto", "VOTE_OPTION_NO_WITH_VETO"])("a vote %s", async (option) => {
    const vote = { proposal_id: "7", voter: ALICE, option: "VOTE_OPTION_NO_WITH_VETO" };
    const newer = { "@type": "/cosmos.gov.v1.MsgVote", ...vote, metadata: "why" };
    expect(await message("gov", "vote", "7", option, "--metadata", "why")).toEqual(newer);
    const older = { "@type": "/cosmos.gov.v1beta1.MsgVote", ...vote };
    expect(await message("gov", "vote", "7", option, "--legacy")).toEqual(older);
  });

  test("a vote that is split has its weights with 18 places", async () => {
    const options = [
      { option: "VOTE_OPTION_YES", weight: "0.600000000000000000" },
      { option: "VOTE_OPTION_ABSTAIN", weight: "0.400000000000000000" },
    ];
    for (const [flags, version] of [
      [[], "v1"],
      [["--legacy"], "v1beta1"],
    ] as const) {
      const found = await message("gov", "weighted-vote", "7", "yes=0.6,abstain=0.4", ...flags);
      expect(found).toMatchObject({ "@type": `/cosmos.gov.${version}.MsgVoteWeighted`, proposal_id: "7", options });
    }
  });

  test("a deposit, and the end of a proposal", async () => {
    const amount = [{ denom: "stake", amount: "5" }];
    const deposit = { proposal_id: "7", depositor: ALICE, amount };
    const type = (version: string): string => `/cosmos.gov.${version}.MsgDeposit`;
    expect(await message("gov", "deposit", "7", "5stake")).toEqual({ "@type": type("v1"), ...deposit });
    expect(await message("gov", "deposit", "7", "5stake", "--legacy")).toEqual({
      "@type": type("v1beta1"),
      ...deposit,
    });
    const cancelled = { "@type": "/cosmos.gov.v1.MsgCancelProposal", proposal_id: "7", proposer: ALICE };
    expect(await message("gov", "cancel-proposal", "7")).toEqual(cancelled);
  });
});

test("tx slashing unjail is of the sender's validator", async () => {
  const expected = { "@type": "/cosmos.slashing.v1beta1.MsgUnjail", validator_addr: VALIDATOR };
  expect(await message("slashing", "unjail")).toEqual(expected);
});

describe("tx authz", () => {
  const grant = async (...args: readonly string[]) => {
    const found = await message("authz", "grant", BOB, ...args);
    expect(found).toMatchObject({ "@type": "/cosmos.authz.v1beta1.MsgGrant", granter: ALICE, grantee: BOB });
    return found.grant;
  };

  test("a grant to send, with an end in seconds or as a time", async () => {
    const authorization = {
      "@type": "/cosmos.bank.v1beta1.SendAuthorization",
      spend_limit: [{ denom: "stake", amount: "9" }],
      allow_list: [BOB],
    };
    const send = ["send", "--spend-limit", "9stake", "--allow-list", BOB];
    expect(await grant(...send)).toEqual({ authorization, expiration: null });
    const expected = { authorization, expiration: "2100-01-01T00:00:00Z" };
    expect(await grant(...send, "--expiration", "4102444800")).toEqual(expected);
    expect(await grant(...send, "--expiration", "2100-01-01T00:00:00Z")).toEqual(expected);
  });

  test("a generic grant has its type in the spelling of the network", async () => {
    for (const word of ["sdk", "cosmos"]) {
      expect(await grant("generic", "--msg-type", `/${word}.gov.v1.MsgVote`)).toMatchObject({
        authorization: { "@type": "/cosmos.authz.v1beta1.GenericAuthorization", msg: "/cosmos.gov.v1.MsgVote" },
      });
    }
  });

  test.each([
    ["delegate", "AUTHORIZATION_TYPE_DELEGATE"],
    ["unbond", "AUTHORIZATION_TYPE_UNDELEGATE"],
    ["redelegate", "AUTHORIZATION_TYPE_REDELEGATE"],
  ])("a grant to %s", async (kind, type) => {
    const validators = { address: [VALIDATOR] };
    expect(await grant(kind, "--allowed-validators", VALIDATOR, "--spend-limit", "9stake")).toMatchObject({
      authorization: { max_tokens: { denom: "stake", amount: "9" }, allow_list: validators, authorization_type: type },
    });
    const denied = await grant(kind, "--deny-validators", VALIDATOR);
    expect(denied).toMatchObject({ authorization: { deny_list: validators } });
    expect(denied).not.toMatchObject({ authorization: { allow_list: expect.anything() } });
    expect(denied).toMatchObject({ authorization: { max_tokens: null } });
  });

  test("messages of a file are sent for another account", async () => {
    const argv = ["tx", "bank", "send", BOB, ALICE, "5stake", "--generate-only", "--profile", "cosmos"];
    const path = join(root, "unsigned.json");
    writeFileSync(path, (await runCli(argv)).out);
    expect(await message("authz", "exec", path)).toMatchObject({
      "@type": "/cosmos.authz.v1beta1.MsgExec",
      grantee: ALICE,
      msgs: [{ "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: BOB, to_address: ALICE }],
    });
    expect(await message("authz", "revoke", BOB, "/sdk.bank.v1beta1.MsgSend")).toEqual({
      "@type": "/cosmos.authz.v1beta1.MsgRevoke",
      granter: ALICE,
      grantee: BOB,
      msg_type_url: "/cosmos.bank.v1beta1.MsgSend",
    });
  });
});

describe("tx feegrant", () => {
  const grant = async (...flags: readonly string[]) => {
    const found = await message("feegrant", "grant", ALICE, BOB, ...flags);
    expect(found).toMatchObject({ granter: ALICE, grantee: BOB });
    return found.allowance;
  };
  const basic = { "@type": "/cosmos.feegrant.v1beta1.BasicAllowance" };

  test("an allowance without limits, and with them", async () => {
    expect(await grant()).toEqual({ ...basic, spend_limit: [], expiration: null });
    expect(await grant("--spend-limit", "9stake", "--expiration", "2100-01-01T00:00:00Z")).toEqual({
      ...basic,
      spend_limit: [{ denom: "stake", amount: "9" }],
      expiration: "2100-01-01T00:00:00Z",
    });
  });

  test("an allowance for each period, for some messages", async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ["Date"] });
    const limit = [{ denom: "stake", amount: "2" }];
    const flags = ["--period", "3600", "--period-limit", "2stake", "--allowed-messages", "/sdk.gov.v1.MsgVote, /a.B"];
    expect(await grant(...flags)).toEqual({
      "@type": "/cosmos.feegrant.v1beta1.AllowedMsgAllowance",
      allowance: {
        "@type": "/cosmos.feegrant.v1beta1.PeriodicAllowance",
        basic: { spend_limit: [], expiration: null },
        period: "3600s",
        period_spend_limit: limit,
        period_can_spend: limit,
        period_reset: "2026-01-01T01:00:00Z",
      },
      allowed_messages: ["/cosmos.gov.v1.MsgVote", "/a.B"],
    });
    const early = ["--expiration", "2026-01-01T00:30:00Z"];
    const argv = ["tx", "feegrant", "grant", ALICE, BOB, ...flags, ...early, "--generate-only", "--profile", "cosmos"];
    const { code, err } = await runCli(argv);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("would end after the expiration") });
    vi.useRealTimers();
  });

  test("an allowance is revoked; nobody grants one to themselves", async () => {
    const expected = { "@type": "/cosmos.feegrant.v1beta1.MsgRevokeAllowance", granter: ALICE, grantee: BOB };
    expect(await message("feegrant", "revoke", ALICE, BOB)).toEqual(expected);
    for (const args of [
      ["feegrant", "grant", ALICE, ALICE],
      ["authz", "grant", ALICE, "send", "--spend-limit", "1stake", "--from", ALICE],
    ]) {
      const { code, err } = await runCli(["tx", ...args, "--generate-only", "--profile", "cosmos"]);
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("is the granter itself") });
    }
  });
});

describe("tx vesting", () => {
  const amount = [{ denom: "stake", amount: "7" }];
  const parties = { from_address: ALICE, to_address: BOB };

  test.each([
    ["1900000000", [], false],
    ["2030-03-17T17:46:40Z", [], false],
    ["2030-03-17T19:46:40+02:00", ["--delayed"], true],
  ])("an account until %s", async (end, flags, delayed) => {
    expect(await message("vesting", "create-vesting-account", BOB, "7stake", end, ...flags)).toEqual({
      "@type": "/cosmos.vesting.v1beta1.MsgCreateVestingAccount",
      ...parties,
      amount,
      end_time: "1900000000",
      delayed,
    });
  });

  test("a permanently locked account", async () => {
    expect(await message("vesting", "create-permanent-locked-account", BOB, "7stake")).toEqual({
      "@type": "/cosmos.vesting.v1beta1.MsgCreatePermanentLockedAccount",
      ...parties,
      amount,
    });
  });

  test("an account with the periods of a file", async () => {
    const periods = [
      { coins: "7stake", length_seconds: 60 },
      { coins: "1abc,7stake", length_seconds: "30" },
    ];
    const path = file("periods.json", { start_time: 1_625_204_910, periods });
    expect(await message("vesting", "create-periodic-vesting-account", BOB, path)).toEqual({
      "@type": "/cosmos.vesting.v1beta1.MsgCreatePeriodicVestingAccount",
      ...parties,
      start_time: "1625204910",
      vesting_periods: [
        { length: "60", amount },
        { length: "30", amount: [{ denom: "abc", amount: "1" }, ...amount] },
      ],
    });
  });

  const period = { coins: "7stake", length_seconds: 60 };
  test.each<[what: string, json: object, text: string]>([
    ["no periods", { start_time: 1, periods: [] }, "periods"],
    ["no start", { periods: [period] }, "start_time"],
    [
      "a length below zero",
      { start_time: 1, periods: [{ ...period, length_seconds: -1 }] },
      "periods.0.length_seconds",
    ],
    ["a part of a second", { start_time: 1, periods: [{ ...period, length_seconds: 1.5 }] }, "whole number of seconds"],
    ["nothing", { start_time: 1, periods: [{ ...period, coins: "0stake" }] }, "vests nothing"],
    ["no coins", { start_time: 1, periods: [{ ...period, coins: "x" }] }, 'invalid coin "x"'],
    ["what is not known", { start_time: 1, periods: [{ ...period, more: 1 }] }, "more"],
  ])("a file of periods with %s is refused", async (_, json, text) => {
    const words = ["create-periodic-vesting-account", BOB, file("bad.json", json)];
    const { code, out, err } = await runCli(["tx", "vesting", ...words, ...UNSENT]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(text);
    expect(err).toContain('Hint: write {"start_time":');
  });

  test.each(["0", "soon", "1900000000000", "-5"])("no time %s", async (end) => {
    const { code, err } = await runCli([
      "tx",
      "vesting",
      "create-vesting-account",
      BOB,
      "7stake",
      ...UNSENT,
      "--",
      end,
    ]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`<end-time>: "${end}" is not a time`) });
  });
});

describe("tx bank multi-send", () => {
  const coin = (amount: string, denom = "stake") => ({ denom, amount });
  const multiSend = (...words: string[]) => message("bank", "multi-send", ALICE, ...words);
  const expected = (total: object[], each: object[], receivers = [BOB, ALICE]) => ({
    "@type": "/cosmos.bank.v1beta1.MsgMultiSend",
    inputs: [{ address: ALICE, coins: total }],
    outputs: receivers.map((address) => ({ address, coins: each })),
  });

  test("the amount to each", async () => {
    expect(await multiSend(BOB, ALICE, "7stake")).toEqual(expected([coin("14")], [coin("7")]));
    expect(await multiSend(BOB, "7stake")).toEqual(expected([coin("7")], [coin("7")], [BOB]));
  });

  test("--split: equal parts, and what is left over stays", async () => {
    const [total, each] = [
      [coin("4", "abc"), coin("6")],
      [coin("2", "abc"), coin("3")],
    ];
    expect(await multiSend(BOB, ALICE, "7stake,5abc", "--split")).toEqual(expected(total, each));
  });

  test.each([
    [[BOB], "give one or more receivers, then the amount"],
    [["bob", "7stake"], "<to-addresses>:"],
    [[BOB, ALICE], "<amount>:"],
    [[BOB, "0stake"], "is not an amount above zero"],
    [[BOB, BOB, "1stake", "--split"], "1stake cannot be split among 2"],
  ])("%j is refused", async (words, text) => {
    const { code, out, err } = await runCli(["tx", "bank", "multi-send", ALICE, ...words, ...UNSENT]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(text);
  });
});
