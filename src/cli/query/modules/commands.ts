import { PAGE_FLAGS, QUERY_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";

export const ESCROW: readonly CommandSpec[] = [
  {
    name: "blocks-remaining",
    args: "[id]",
    summary: "Show how many blocks the funds of a deployment will last",
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
    summary: "Show the governance parameters",
    flags: QUERY_FLAGS,
    example: "svc query gov params",
    load: async () => (await import("./gov.ts")).queryParams,
  },
  {
    name: "param",
    args: "<type>",
    summary: "Show one kind of governance parameters: voting, deposit or tallying",
    flags: QUERY_FLAGS,
    example: "svc query gov param voting",
    load: async () => (await import("./gov.ts")).queryParam,
  },
];
