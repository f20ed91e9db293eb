import { NODE_OPTIONS } from "../node/index.ts";
import { KEYRING_FLAGS } from "./global-flags.ts";
import type { CommandSpec, FlagSpec } from "./spec.ts";

const START_FLAGS: readonly FlagSpec[] = NODE_OPTIONS;

/** Commands that make and run a node. */
export const NODE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "init",
    args: "<moniker>",
    summary: "Make the home of a node: keys, genesis file, empty data",
    flags: [{ name: "overwrite", short: "o", summary: "write a new genesis file over the one that is there" }],
    example: "svc init mynode --chain-id svc-1",
    load: async () => (await import("./node.ts")).init,
  },
  {
    name: "add-genesis-account",
    args: "<address_or_key> <coins>",
    summary: "Give an account tokens in the first state of a chain",
    flags: KEYRING_FLAGS,
    example: "svc add-genesis-account alice 1000000000utoken",
    load: async () => (await import("./node.ts")).addGenesisAccount,
  },
  {
    name: "validate-genesis",
    args: "[file]",
    summary: "Check a genesis file, by default that of the home",
    example: "svc validate-genesis genesis.json",
    load: async () => (await import("./node.ts")).validateGenesisFile,
  },
  {
    name: "start",
    summary: "Run a node",
    flags: START_FLAGS,
    example: "svc start --block-interval 1s",
    load: async () => (await import("./node.ts")).start,
  },
  {
    name: "export",
    summary: "Print the present state as a genesis file; the node must not run",
    load: async () => (await import("./node.ts")).exportState,
  },
];
