import type { FlagSpec } from "../command/flag-spec.ts";
import {
  KEYRING_FLAGS,
  NODE_FLAG,
  OUTPUT_FLAG,
  SINGLE_TX_FLAGS,
  TX_FLAGS,
  VERIFY_FLAG,
} from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";
import { LOG_FLAGS } from "../provider/client/log-flags.ts";

const REFUSED: readonly string[] = [...SINGLE_TX_FLAGS, "ledger"];

const DSEQ_FLAG: FlagSpec = {
  name: "dseq",
  value: "<n>",
  summary: "number of the deployment (default: the only active one)",
};

const TIMEOUT_FLAG: FlagSpec = {
  name: "timeout",
  value: "<duration>",
  summary: "maximum wait for bids, and then for the services to be ready",
  default: "5m",
};

/** The flags of all transactions; results are text by default. The help leaves out flags that the commands refuse. */
const SEND_FLAGS: readonly FlagSpec[] = [
  VERIFY_FLAG,
  ...TX_FLAGS.map((flag) => ({
    ...flag,
    ...(flag.name === "output" ? { default: "text" } : {}),
    ...(REFUSED.includes(flag.name) ? { hidden: true } : {}),
  })),
];

const ASK_FLAGS: readonly FlagSpec[] = [
  { name: "from", value: "<key>", summary: "name or address of your key (default: the only one)" },
  NODE_FLAG,
  VERIFY_FLAG,
  { ...OUTPUT_FLAG, default: "text" },
  ...KEYRING_FLAGS,
];

const SHORT_FORMS: readonly CommandSpec[] = [
  {
    name: "update",
    summary: "Change images, commands, environment or hosts of a deployment",
    args: "<file>",
    flags: [DSEQ_FLAG, TIMEOUT_FLAG, ...SEND_FLAGS],
    example: "svc deploy update app.yaml --from alice",
    load: async () => (await import("./commands.ts")).updateCommand,
  },
  {
    name: "close",
    summary: "Close a deployment: pay what is due and return the rest",
    args: "[dseq]",
    flags: [DSEQ_FLAG, ...SEND_FLAGS],
    example: "svc deploy close 1234 --from alice",
    load: async () => (await import("./commands.ts")).closeCommand,
  },
  {
    name: "ps",
    summary: "List deployments with services, addresses, price and remaining funds",
    flags: ASK_FLAGS,
    example: "svc deploy ps --from alice",
    load: async () => (await import("./commands.ts")).psCommand,
  },
  {
    name: "logs",
    summary: "Show the logs of the containers",
    args: "[service]",
    flags: [
      DSEQ_FLAG,
      { name: "follow", short: "f", summary: "follow new lines" },
      { name: "tail", value: "<n>", summary: "lines from the end of each replica (default: all)" },
      ...LOG_FLAGS,
      ...ASK_FLAGS,
    ],
    example: "svc deploy logs web -f --from alice",
    load: async () => (await import("./logs.ts")).logsCommand,
  },
  {
    name: "restart",
    summary: "Restart the replicas of a service, one after the other",
    args: "<service>",
    flags: [DSEQ_FLAG, ...ASK_FLAGS],
    example: "svc deploy restart web --from alice",
    load: async () => (await import("./commands.ts")).restartCommand,
  },
  {
    name: "shell",
    summary: "Run a command in a container; a shell by default at a terminal",
    args: "<service> [command...]",
    flags: [
      DSEQ_FLAG,
      { name: "replica-index", value: "<n>", summary: "which replica", default: "0" },
      { name: "tty", short: "t", summary: "give the command a terminal" },
      { name: "stdin", short: "i", summary: "pass standard input to the command; the default when it is piped" },
      ...ASK_FLAGS,
    ],
    example: "svc deploy shell web -it --from alice sh\nsvc deploy shell web --from alice cat < file",
    programAfter: 1,
    load: async () => (await import("./shell.ts")).shellCommand,
  },
];

/** `svc deploy FILE` and its short forms. A file with the name of a short form is written `./update`. */
export const DEPLOY: CommandSpec = {
  name: "deploy",
  summary: "Run a deployment file: order, lease, manifest, until its addresses answer",
  args: "<file>",
  flags: [
    {
      name: "bid",
      value: "<cheapest|provider>",
      summary: "bid to accept (default: ask, or cheapest without a terminal)",
    },
    { name: "max-price", value: "<price>", summary: "highest price of a group per block, for example 10utoken" },
    { name: "bid-window", value: "<blocks>", summary: "blocks to wait after the first bid", default: "2" },
    { name: "deposit", value: "<coin>", summary: "deposit (default: the chain's minimum)" },
    { name: "estimate", summary: "show every provider's price, or why it would not bid; signs and sends nothing" },
    { name: "new", summary: "create another deployment from a file that already has one" },
    TIMEOUT_FLAG,
    ...SEND_FLAGS,
  ],
  example: "svc deploy examples/web.yaml --from alice\nsvc deploy web.yaml --from alice --bid cheapest -y -o json",
  load: async () => (await import("./commands.ts")).deployCommand,
  commands: async () => SHORT_FORMS,
};
