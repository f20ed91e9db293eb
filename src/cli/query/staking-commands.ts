import { PAGE_FLAGS, QUERY_FLAGS } from "../global-flags.ts";
import type { CommandSpec } from "../spec.ts";

/** Queries of staking that are not one rpc each. */
export const STAKING_QUERIES: readonly CommandSpec[] = [
  {
    name: "validators",
    summary: "List the validators",
    flags: [
      {
        name: "status",
        value: "<status>",
        summary: "only those that are so",
        choices: ["bonded", "unbonding", "unbonded"],
      },
      ...PAGE_FLAGS,
      ...QUERY_FLAGS,
    ],
    example: "svc query staking validators --status bonded --limit 10",
    load: async () => (await import("./staking.ts")).queryValidators,
  },
  {
    name: "redelegation",
    args: "<delegator-addr> <src-validator-addr> <dst-validator-addr>",
    summary: "Show what an account is moving from one validator to another",
    flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query staking redelegation $ADDRESS $VALIDATOR $OTHER",
    load: async () => (await import("./staking.ts")).queryRedelegation,
  },
  {
    name: "redelegations",
    args: "<delegator-addr>",
    summary: "List what an account is moving between validators",
    flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query staking redelegations $ADDRESS",
    load: async () => (await import("./staking.ts")).queryRedelegations,
  },
  {
    name: "redelegations-from",
    args: "<validator-addr>",
    summary: "List what is being moved away from a validator",
    flags: [...PAGE_FLAGS, ...QUERY_FLAGS],
    example: "svc query staking redelegations-from $VALIDATOR",
    load: async () => (await import("./staking.ts")).queryRedelegationsFrom,
  },
];

/** Queries of distribution that are not one rpc each. */
export const DISTRIBUTION_QUERIES: readonly CommandSpec[] = [
  {
    name: "rewards",
    args: "<delegator-addr> [validator-addr]",
    summary: "Show the rewards of an account, of all its delegations or of one",
    flags: QUERY_FLAGS,
    example: "svc query distribution rewards $ADDRESS\nsvc query distribution rewards $ADDRESS $VALIDATOR",
    load: async () => (await import("./staking.ts")).queryRewards,
  },
  {
    name: "rewards-by-validator",
    args: "<delegator-addr> <validator-addr>",
    summary: "Show the rewards of an account from one validator",
    flags: QUERY_FLAGS,
    example: "svc query distribution rewards-by-validator $ADDRESS $VALIDATOR",
    load: async () => (await import("./staking.ts")).queryRewards,
  },
];
