import type { FlagSpec } from "../../command/flag-spec.ts";
import { NODE_FLAG, OUTPUT_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";

const TEXT: FlagSpec = { ...OUTPUT_FLAG, default: "text" };

/** Questions and orders of an operator for the provider that runs in the same home. */
export const PROVIDER_OPERATOR_COMMANDS: readonly CommandSpec[] = [
  {
    name: "orders",
    summary: "List the orders that this home's provider knows, with the reason for each one without a bid",
    flags: [
      {
        name: "phase",
        value: "<phase>",
        summary: "only orders in this phase",
        choices: ["checking", "refused", "bidding", "open", "withdrawing", "won", "lost", "closed"],
      },
      { name: "limit", value: "<n>", summary: "at most this many, the latest ones", default: "50" },
      TEXT,
    ],
    example: "svc provider orders --phase refused --home ~/.svc",
    load: async () => (await import("./orders.ts")).providerOrders,
  },
  {
    name: "why",
    args: "<order>",
    summary: "Show why this home's provider does not bid on an order, or what became of its bid",
    flags: [NODE_FLAG, TEXT],
    example: "svc provider why svc1.../1234/1/1 --home ~/.svc",
    load: async () => (await import("./orders.ts")).providerWhy,
  },
  {
    name: "drain",
    summary: "Stop this home's provider from taking new leases; its leases keep running",
    flags: [
      { name: "undo", summary: "take new leases again" },
      { name: "wait", summary: "wait until the last lease has ended" },
      TEXT,
    ],
    example: "svc provider drain --wait --home ~/.svc",
    load: async () => (await import("./drain.ts")).providerDrain,
  },
];
