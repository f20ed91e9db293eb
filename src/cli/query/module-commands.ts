import { QUERY_FLAGS } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/* Queries written by hand of modules that other chains of the family have. */

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
    summary: "Show a part of them: voting, deposit or tallying",
    flags: QUERY_FLAGS,
    example: "svc query gov param voting",
    load: async () => (await import("./gov.ts")).queryParam,
  },
];
