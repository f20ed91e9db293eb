import type { FlagSpec } from "./command/flag-spec.ts";
import { NET_FLAG, NODE_FLAG, OUTPUT_FLAG } from "./command/global-flags.ts";
import { type CommandSpec, under } from "./command/spec.ts";

const STATUS_FLAGS: readonly FlagSpec[] = [NODE_FLAG, { ...OUTPUT_FLAG, default: "json" }];

/** Words that need nothing but their own table. */
const MARKET: readonly CommandSpec[] = [
  {
    name: "provider",
    summary: "Run a provider; talk to the provider of a lease",
    commands: async () => (await import("./provider/commands.ts")).PROVIDER_COMMANDS,
  },
  {
    name: "sdl",
    summary: "Check deployment files",
    commands: async () => (await import("./sdl/commands.ts")).SDL_COMMANDS,
  },
];

const ACCOUNTS: readonly CommandSpec[] = [
  {
    name: "keys",
    summary: "Manage the keys of your accounts",
    commands: async () => (await import("./keys/commands.ts")).KEYS_COMMANDS,
  },
  {
    name: "tx",
    summary: "Build, sign and send transactions",
    commands: async () => (await import("./autocli/groups.ts")).txGroups(),
  },
  {
    name: "query",
    aliases: ["q"],
    summary: "Ask a node about the chain",
    commands: async () => (await import("./autocli/groups.ts")).queryGroups(),
  },
  {
    name: "status",
    summary: "Show the status of a node and its chain",
    flags: STATUS_FLAGS,
    example: "svc status --node tcp://localhost:26657",
    load: async () => (await import("./node/status.ts")).status,
  },
];

const VERSION: CommandSpec = {
  name: "version",
  summary: "Print the version",
  flags: [
    { name: "long", summary: "also show the build and the runtime" },
    { name: "check", summary: "compare with the latest version of the network" },
    NET_FLAG,
    { ...OUTPUT_FLAG, summary: "output format of --long and --check", default: "text" },
  ],
  example: "svc version --long",
  withoutConfig: true,
  load: async () => (await import("./self/self.ts")).version,
};

const HELP: CommandSpec = {
  name: "help",
  summary: "Read a guide, or list them (svc help topics); before a command, show its help",
  args: "[topic]",
  flags: [{ ...OUTPUT_FLAG, default: "text" }],
  example: "svc help topics\nsvc help deployment-files\nsvc help tx bank send",
  withoutConfig: true,
  load: async () => (await import("./help/command.ts")).help,
};

/**
 * The first words of the command line. Each group's table is loaded when its word is met, so that a command never pays
 * for the others.
 */
export const ROOT: CommandSpec = {
  name: "svc",
  summary: "A marketplace for container capacity on its own blockchain: node, client and provider in one command.",
  example: "svc localnet --deploy examples/web.yaml",
  commands: async () => {
    const [
      { LOCALNET_COMMANDS },
      { CONSOLE },
      { DEPLOY },
      { NODE_COMMANDS },
      { ENGINE },
      { CONFIG },
      { COMPLETION },
      { DEBUG },
      { SELF },
    ] = await Promise.all([
      import("./localnet/specs.ts"),
      import("./console/specs.ts"),
      import("./deploy/specs.ts"),
      import("./node/commands.ts"),
      import("./engine/commands.ts"),
      import("./config/commands.ts"),
      import("./completion/commands.ts"),
      import("./debug/commands.ts"),
      import("./self/commands.ts"),
    ]);
    return [
      ...under("Try it out", [...LOCALNET_COMMANDS, CONSOLE]),
      ...under("Marketplace", [DEPLOY, ...MARKET]),
      ...under("Accounts and the chain", ACCOUNTS),
      ...under("Settings and tools", [CONFIG, DEBUG, COMPLETION, SELF, VERSION, HELP]),
      ...under("Your own node", [...NODE_COMMANDS, ENGINE]),
    ];
  },
};
