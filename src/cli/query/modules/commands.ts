import { PAGE_FLAGS, QUERY_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec, FlagSpec } from "../../command/spec.ts";

const DENOM: FlagSpec = { name: "denom", value: "<denom>", summary: "only this denomination" };

const BALANCES: CommandSpec = {
  name: "balances",
  args: "<address>",
  summary: "Show the balances of an account",
  flags: [DENOM, ...PAGE_FLAGS, ...QUERY_FLAGS],
  example: "svc query bank balances $SVC_ACCOUNT_ADDRESS\nsvc query bank balances $SVC_ACCOUNT_ADDRESS --denom utoken",
  load: async () => (await import("./bank.ts")).queryBalances,
};

export const BANK: readonly CommandSpec[] = [
  BALANCES,
  {
    name: "total",
    aliases: ["total-supply"],
    summary: "Show the supply of every denomination",
    flags: [DENOM, ...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query bank total\nsvc query bank total --denom utoken",
    load: async () => (await import("./bank.ts")).querySupply,
  },
  {
    name: "denom-metadata",
    args: "[denom]",
    summary: "Show the units of a denomination, or of all",
    flags: [DENOM, ...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query bank denom-metadata utoken",
    load: async () => (await import("./bank.ts")).queryDenomMetadata,
  },
];

export const AUDIT: readonly CommandSpec[] = [
  {
    name: "get",
    args: "<owner> [auditor]",
    summary: "Show the audited attributes of a provider",
    flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query audit get $PROVIDER\nsvc query audit get $PROVIDER $AUDITOR",
    load: async () => (await import("./audit.ts")).queryAudit,
  },
];

export const ESCROW: readonly CommandSpec[] = [
  {
    name: "blocks-remaining",
    args: "[id]",
    summary: "Show how long the money of a deployment lasts",
    flags: [
      { name: "owner", value: "<address>", summary: "account that owns the deployment" },
      { name: "dseq", value: "<n>", summary: "number of the deployment" },
      ...QUERY_FLAGS,
    ],
    example: "svc query escrow blocks-remaining --owner $ADDRESS --dseq 1234",
    load: async () => (await import("./blocks-remaining.ts")).queryBlocksRemaining,
  },
];

export const EVIDENCE: CommandSpec = {
  name: "evidence",
  args: "[hash]",
  summary: "Show evidence of misbehaviour of validators, all or one",
  flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
  example: "svc query evidence --limit 10",
  load: async () => (await import("./evidence.ts")).queryEvidence,
};

const ID = "<proposal-id>";

export const GOV: readonly CommandSpec[] = [
  {
    name: "proposer",
    args: ID,
    summary: "Show who submitted a proposal",
    flags: QUERY_FLAGS,
    example: "svc query gov proposer 1",
    load: async () => (await import("./gov.ts")).queryProposer,
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
    summary: "Show some of them: voting, deposit or tallying",
    flags: QUERY_FLAGS,
    example: "svc query gov param voting",
    load: async () => (await import("./gov.ts")).queryParam,
  },
];

export const DISTRIBUTION: readonly CommandSpec[] = [
  {
    name: "rewards",
    args: "<delegator-addr> [validator-addr]",
    summary: "Show the rewards of an account, for all its delegations or for one",
    flags: QUERY_FLAGS,
    example: "svc query distribution rewards $ADDRESS\nsvc query distribution rewards $ADDRESS $VALIDATOR",
    load: async () => (await import("./rewards.ts")).queryRewards,
  },
];
