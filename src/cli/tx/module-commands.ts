import { TX_FLAGS } from "../command/global-flags.ts";
import type { CommandSpec, FlagSpec } from "../command/spec.ts";
import { ALLOW_UNKNOWN } from "./file-commands.ts";

/* Transactions of modules that other chains of the family have. */

const OLDER: readonly FlagSpec[] = [
  { name: "title", value: "<text>", summary: "title of a proposal without messages, for chains before 0.46" },
  { name: "description", value: "<text>", summary: "its description" },
  { name: "type", value: "<type>", summary: "its type", default: "Text" },
  { name: "deposit", value: "<coins>", summary: "its first deposit" },
  { name: "proposal", value: "<file>", summary: "file with title, description, type and deposit" },
];
const LEGACY: FlagSpec = { name: "legacy", summary: "send the message of releases before 0.46" };
const METADATA: FlagSpec = { name: "metadata", value: "<text>", summary: "a text beside the vote, for example why" };

export const GOV: readonly CommandSpec[] = [
  {
    name: "submit-proposal",
    args: "[file]",
    summary: "Submit a proposal from a file with its messages, deposit, title and summary",
    flags: [ALLOW_UNKNOWN, ...OLDER, ...TX_FLAGS],
    example:
      "svc tx gov submit-proposal proposal.json --from alice\n" +
      "svc tx gov submit-proposal --title Test --description 'What it is' --deposit 10stake --from alice",
    load: async () => (await import("./gov-proposal.ts")).govSubmitProposal,
  },
  {
    name: "submit-legacy-proposal",
    summary: "Submit a proposal of text, without messages, as releases before 0.46 have it",
    flags: [...OLDER, ...TX_FLAGS],
    example: "svc tx gov submit-legacy-proposal --title Test --description 'What it is' --deposit 10stake --from alice",
    load: async () => (await import("./gov-proposal.ts")).govSubmitLegacyProposal,
  },
  {
    name: "deposit",
    args: "<proposal-id> <amount>",
    summary: "Add to the deposit of a proposal",
    flags: [LEGACY, ...TX_FLAGS],
    example: "svc tx gov deposit 1 10000000stake --from alice",
    load: async () => (await import("./gov.ts")).govDeposit,
  },
  {
    name: "vote",
    args: "<proposal-id> <option>",
    summary: "Vote on a proposal: yes, no, no_with_veto or abstain",
    flags: [METADATA, LEGACY, ...TX_FLAGS],
    example: "svc tx gov vote 1 yes --from alice",
    load: async () => (await import("./gov.ts")).govVote,
  },
  {
    name: "weighted-vote",
    args: "<proposal-id> <weighted-options>",
    summary: "Split your vote on a proposal",
    flags: [METADATA, LEGACY, ...TX_FLAGS],
    example: "svc tx gov weighted-vote 1 yes=0.6,no=0.3,abstain=0.1 --from alice",
    load: async () => (await import("./gov.ts")).govWeightedVote,
  },
];

const SPEND_LIMIT: FlagSpec = { name: "spend-limit", value: "<coins>", summary: "most that may be spent in all" };
const EXPIRATION: FlagSpec = {
  name: "expiration",
  value: "<time>",
  summary: "when it ends: a time or seconds since 1970; never when left out",
};

export const AUTHZ: readonly CommandSpec[] = [
  {
    name: "grant",
    args: "<grantee> <authorization>",
    summary: "Let an account act for you: send, generic, delegate, unbond or redelegate",
    flags: [
      SPEND_LIMIT,
      { name: "allow-list", value: "<addresses>", summary: "who may receive what is sent; anybody when left out" },
      { name: "msg-type", value: "<type-url>", summary: "type of the messages of a generic authorization" },
      { name: "allowed-validators", value: "<addresses>", summary: "the only validators of delegations" },
      { name: "deny-validators", value: "<addresses>", summary: "validators that delegations may not have" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx authz grant $GRANTEE send --spend-limit 1000stake --from alice\n" +
      "svc tx authz grant $GRANTEE generic --msg-type /cosmos.gov.v1.MsgVote --from alice",
    load: async () => (await import("./authz.ts")).authzGrant,
  },
  {
    name: "exec",
    args: "<file>",
    summary: "Send the messages of a transaction in a file for the account that let you, - for standard input",
    flags: [ALLOW_UNKNOWN, ...TX_FLAGS],
    example:
      "svc tx bank send $GRANTER $TO 5stake --generate-only > unsigned.json\n" +
      "svc tx authz exec unsigned.json --from bob",
    load: async () => (await import("./authz.ts")).authzExec,
  },
];

export const FEEGRANT: readonly CommandSpec[] = [
  {
    name: "grant",
    aliases: ["grant-allowance"],
    args: "<granter-key-or-address> <grantee>",
    summary: "Let an account pay fees from yours; --from is ignored",
    flags: [
      SPEND_LIMIT,
      { name: "period", value: "<seconds>", summary: "length of a period with a limit of its own" },
      { name: "period-limit", value: "<coins>", summary: "most that may be spent in each period" },
      { name: "allowed-messages", value: "<type-urls>", summary: "the only types of messages whose fees it pays" },
      EXPIRATION,
      ...TX_FLAGS,
    ],
    example:
      "svc tx feegrant grant alice $GRANTEE --spend-limit 100stake --expiration 2030-01-30T15:04:05Z\n" +
      "svc tx feegrant grant alice $GRANTEE --period 3600 --period-limit 10stake",
    load: async () => (await import("./feegrant.ts")).feegrantGrant,
  },
];

export const VESTING: readonly CommandSpec[] = [
  {
    name: "create-periodic-vesting-account",
    args: "<to-address> <file>",
    summary: "Make an account whose coins come free at the end of each period of a file",
    flags: TX_FLAGS,
    example: "svc tx vesting create-periodic-vesting-account $ADDRESS periods.json --from alice",
    load: async () => (await import("./vesting.ts")).createPeriodicVestingAccount,
  },
];
