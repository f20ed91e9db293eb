import { QUERY_FLAGS } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

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
];
