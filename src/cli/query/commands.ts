import type { CommandSpec } from "../command/spec.ts";
import { CHAIN_QUERIES } from "./chain/commands.ts";
import { ESCROW, EVIDENCE, GOV } from "./modules/commands.ts";

/** Queries that are more than one rpc, by module. */
export const OWN_QUERIES: Readonly<Record<string, readonly CommandSpec[]>> = {
  escrow: ESCROW,
  gov: GOV,
};

/** Queries of no module, or of one that is a single command. */
export const QUERY_COMMANDS: readonly CommandSpec[] = [...CHAIN_QUERIES, EVIDENCE];
