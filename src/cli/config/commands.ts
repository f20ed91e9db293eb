import type { FlagSpec } from "../command/flag-spec.ts";
import { BROADCAST_MODE_FLAG, KEYRING_BACKEND_FLAG, NODE_FLAG, OUTPUT_FLAG } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/** Flags and variables override the file, so their values are shown. */
const FLAGS: readonly FlagSpec[] = [
  { ...OUTPUT_FLAG, default: "text" },
  NODE_FLAG,
  KEYRING_BACKEND_FLAG,
  BROADCAST_MODE_FLAG,
];

/** `svc config` and its commands. */
export const CONFIG: CommandSpec = {
  name: "config",
  args: "[key] [value]",
  summary: "Show or change the settings in client.toml of the home",
  flags: FLAGS,
  withoutConfig: true,
  example: "svc config\nsvc config node\nsvc config node tcp://node.example.com:26657",
  load: async () => (await import("./config.ts")).config,
  commands: async () => [
    {
      name: "get",
      args: "<key>",
      summary: "Print the value of a key",
      flags: FLAGS,
      withoutConfig: true,
      example: "svc config get chain-id",
      load: async () => (await import("./config.ts")).configGet,
    },
    {
      name: "set",
      args: "<key> <value>",
      summary: "Set a key; with --profile in that network profile, which is created if necessary",
      withoutConfig: true,
      example: "svc config set chain-id svc-1\nsvc config set bech32-prefix cosmos --profile hub",
      load: async () => (await import("./config.ts")).configSet,
    },
    {
      name: "trust",
      args: "<height> <hash>",
      summary: "Trust a block: answers to queries are verified from it",
      flags: [{ name: "period", value: "<time>", summary: "how long verified blocks are trusted", default: "14d" }],
      withoutConfig: true,
      example: `svc config trust 1200 ${"AB".repeat(32)}`,
      load: async () => (await import("./config.ts")).configTrust,
    },
    {
      name: "view",
      summary: "Show every key with its value and its source",
      flags: FLAGS,
      withoutConfig: true,
      example: "svc config view",
      load: async () => (await import("./config.ts")).configView,
    },
  ],
};
