import { MODULES, type ModuleRow } from "../../wire/index.ts";
import { QUERY_FLAGS } from "../command/global-flags.ts";
import { type CommandSpec, under } from "../command/spec.ts";
import { OWN_QUERIES, QUERY_COMMANDS } from "../query/commands.ts";
import { OWN_TXS, TX_COMMANDS } from "../tx/commands.ts";

/** Commands written by hand, by the module whose group holds them. */
export type OwnCommands = Readonly<Record<string, readonly CommandSpec[]>>;

/** The group `tx`: one of each module with messages, then commands of transactions of any kind. */
export function txGroups(): readonly CommandSpec[] {
  const load = async () => (await import("./tx.ts")).txCommands;
  return [...moduleGroups("Msg", OWN_TXS, load), headed(ESCROW), ...under("Transactions in files", TX_COMMANDS)];
}

/** The group `query`: accounts, blocks and transactions, then one of each module with queries. */
export function queryGroups(): readonly CommandSpec[] {
  const load = async () => (await import("./query.ts")).queryCommands;
  const direct = [ACCOUNT, ...QUERY_COMMANDS.filter(({ name }) => !HEADINGS.has(name))];
  const others = QUERY_COMMANDS.filter(({ name }) => HEADINGS.has(name)).map(headed);
  return [
    ...under("Accounts, blocks and transactions", direct),
    ...moduleGroups("Query", OWN_QUERIES, load),
    ...others,
  ];
}

const MARKET = ["audit", "cert", "deployment", "escrow", "market", "provider"];
const COINS = ["auth", "authz", "bank", "feegrant", "vesting"];
const STAKE = ["distribution", "evidence", "gov", "mint", "slashing", "staking"];

/** Headings of modules in the help. */
const HEADINGS: ReadonlyMap<string, string> = new Map([
  ...MARKET.map((name) => [name, "Marketplace"] as const),
  ...COINS.map((name) => [name, "Accounts and coins"] as const),
  ...STAKE.map((name) => [name, "Staking and governance"] as const),
]);

function headed(spec: CommandSpec): CommandSpec {
  return { ...spec, heading: `${HEADINGS.get(spec.name) ?? "Other modules"}:` };
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
    return [headed({ name: module, summary, commands: async () => (await load())(module, own[module] ?? []) })];
  });
}
