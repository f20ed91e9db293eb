import { PAGE_FLAGS, QUERY_FLAGS } from "../global-flags.ts";
import type { CommandSpec } from "../spec.ts";

/* Queries written by hand of modules that other chains of the family have. */

export const SLASHING: readonly CommandSpec[] = [
  {
    name: "signing-info",
    args: "<validator>",
    summary: "Show what is counted of a validator's signatures: its consensus address or public key",
    flags: QUERY_FLAGS,
    example: "svc query slashing signing-info cosmosvalcons1... --profile cosmos",
    load: async () => (await import("./slashing.ts")).querySigningInfo,
  },
];

export const MINT: readonly CommandSpec[] = [
  {
    name: "inflation",
    summary: "Show the share of new coins in a year",
    flags: QUERY_FLAGS,
    example: "svc query mint inflation",
    load: async () => (await import("./mint.ts")).queryInflation,
  },
  {
    name: "annual-provisions",
    summary: "Show how many new coins a year has",
    flags: QUERY_FLAGS,
    example: "svc query mint annual-provisions",
    load: async () => (await import("./mint.ts")).queryAnnualProvisions,
  },
];

export const AUTHZ: readonly CommandSpec[] = [
  {
    name: "grants",
    args: "<granter> <grantee> [msg-type-url]",
    summary: "List what an account has granted to another",
    flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query authz grants $GRANTER $GRANTEE /cosmos.bank.v1beta1.MsgSend",
    load: async () => (await import("./authz.ts")).queryGrants,
  },
];

const ID = "<proposal-id>";
const LIST_FLAGS = [...PAGE_FLAGS, ...QUERY_FLAGS];

export const GOV: readonly CommandSpec[] = [
  {
    name: "proposals",
    summary: "List proposals",
    flags: [
      {
        name: "status",
        alias: "proposal-status",
        value: "<status>",
        summary: "deposit-period, voting-period, passed, rejected or failed",
      },
      { name: "voter", value: "<address>", summary: "on which this account has voted" },
      { name: "depositor", value: "<address>", summary: "for which this account has made a deposit" },
      ...LIST_FLAGS,
    ],
    example: "svc query gov proposals --status voting-period",
    load: async () => (await import("./gov.ts")).queryProposals,
  },
  {
    name: "proposal",
    args: ID,
    summary: "Show a proposal",
    flags: QUERY_FLAGS,
    example: "svc query gov proposal 1",
    load: async () => (await import("./gov.ts")).queryProposal,
  },
  {
    name: "proposer",
    args: ID,
    summary: "Show who submitted a proposal",
    flags: QUERY_FLAGS,
    example: "svc query gov proposer 1",
    load: async () => (await import("./gov.ts")).queryProposer,
  },
  {
    name: "vote",
    args: `${ID} <voter>`,
    summary: "Show the vote of an account while the vote lasts",
    flags: QUERY_FLAGS,
    example: "svc query gov vote 1 $ADDRESS",
    load: async () => (await import("./gov.ts")).queryVote,
  },
  {
    name: "votes",
    args: ID,
    summary: "List the votes on a proposal while the vote lasts",
    flags: LIST_FLAGS,
    example: "svc query gov votes 1",
    load: async () => (await import("./gov.ts")).queryVotes,
  },
  {
    name: "deposit",
    args: `${ID} <depositor>`,
    summary: "Show the deposit of an account",
    flags: QUERY_FLAGS,
    example: "svc query gov deposit 1 $ADDRESS",
    load: async () => (await import("./gov.ts")).queryDeposit,
  },
  {
    name: "deposits",
    args: ID,
    summary: "List the deposits for a proposal",
    flags: LIST_FLAGS,
    example: "svc query gov deposits 1",
    load: async () => (await import("./gov.ts")).queryDeposits,
  },
  {
    name: "tally",
    args: ID,
    summary: "Show how the votes on a proposal stand",
    flags: QUERY_FLAGS,
    example: "svc query gov tally 1",
    load: async () => (await import("./gov.ts")).queryTally,
  },
  {
    name: "params",
    summary: "Show the parameters of proposals and votes",
    flags: QUERY_FLAGS,
    example: "svc query gov params",
    load: async () => (await import("./gov.ts")).queryParams,
  },
  {
    name: "param",
    args: "<type>",
    summary: "Show a part of them: voting, deposit or tallying",
    flags: QUERY_FLAGS,
    example: "svc query gov param voting",
    load: async () => (await import("./gov.ts")).queryParam,
  },
];
