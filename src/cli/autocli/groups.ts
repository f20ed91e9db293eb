import { MODULES, type ModuleRow } from "../../wire/index.ts";
import { QUERY_FLAGS } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";
import { OWN_QUERIES, QUERY_COMMANDS } from "../query/commands.ts";
import { OWN_TXS, TX_COMMANDS } from "../tx/commands.ts";

/** Commands written by hand, by the module whose group holds them. */
export type OwnCommands = Readonly<Record<string, readonly CommandSpec[]>>;

/** The group `tx`: one of each module with messages, then commands of transactions of any kind. */
export function txGroups(): readonly CommandSpec[] {
  const load = async () => (await import("./tx.ts")).txCommands;
  return [...moduleGroups("Msg", OWN_TXS, load), ESCROW, ...TX_COMMANDS];
}

/** The group `query`: accounts, blocks and transactions, then one of each module with queries. */
export function queryGroups(): readonly CommandSpec[] {
  const load = async () => (await import("./query.ts")).queryCommands;
  return [ACCOUNT, ...QUERY_COMMANDS, ...moduleGroups("Query", OWN_QUERIES, load)];
}

/** The most frequent query of `query auth`, without the name of the module. */
const ACCOUNT: CommandSpec = {
  name: "account",
  args: "<address>",
  summary: "Show an account's number, sequence and public key",
  flags: QUERY_FLAGS,
  example: "svc query account $ADDRESS",
  load: async () => (await import("./query.ts")).loadQuery("auth", "account"),
};

/** The module has no messages of its own: money arrives through deployments and bids. */
const ESCROW: CommandSpec = {
  name: "escrow",
  summary: "Fund deployments",
  commands: async () => [
    {
      name: "deposit",
      summary: "Add funds to an escrow account",
      commands: async () => [
        {
          ...(await import("./tx.ts")).txCommand("deployment", "deposit"),
          name: "deployment",
          example: "svc tx escrow deposit deployment 5000000utoken --dseq 1234 --from alice",
        },
      ],
    },
  ],
};

type Make = (module: string, own: readonly CommandSpec[]) => CommandSpec[];

/** Names and summaries are in a table; descriptors are built only for the module that the command line names. */
function moduleGroups(service: keyof ModuleRow, own: OwnCommands, load: () => Promise<Make>): CommandSpec[] {
  return MODULES.flatMap((row) => {
    const { [service]: summary, module } = row;
    if (summary === undefined) return [];
    return [{ name: module, summary, commands: async () => (await load())(module, own[module] ?? []) }];
  });
}
