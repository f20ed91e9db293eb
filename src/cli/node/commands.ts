import { NODE_SETTINGS } from "../../node/index.ts";
import type { FlagSpec } from "../command/flag-spec.ts";
import { ALWAYS_JSON, KEYRING_BACKEND_FLAG, KEYRING_FLAGS, TEXT_OUTPUT } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";
import { CREATE_FLAGS } from "../tx/staking/commands.ts";

const START_FLAGS: readonly FlagSpec[] = Object.values(NODE_SETTINGS);

const VESTING_FLAGS: readonly FlagSpec[] = [
  { name: "vesting-amount", value: "<coins>", summary: "coins of the account that are locked at first" },
  { name: "vesting-start-time", value: "<seconds>", summary: "when they begin to vest, in seconds since 1970" },
  { name: "vesting-end-time", value: "<seconds>", summary: "when all have vested, in seconds since 1970" },
];

const GENTX_FLAGS: readonly FlagSpec[] = [
  ...CREATE_FLAGS.filter(({ name }) => name !== "amount"),
  { name: "ip", value: "<address>", summary: "address at which other nodes reach it (default: that of this machine)" },
  { name: "p2p-port", value: "<n>", summary: "port at which other nodes reach it", default: "26656" },
  { name: "node-id", value: "<id>", summary: "name of the node in its network (default: that of the home)" },
  { name: "gas", value: "<n>", summary: "gas limit", default: "200000" },
  { name: "fees", value: "<coins>", summary: "fees of the transaction" },
  { name: "output-document", value: "<file>", summary: "file to write (default: one in config/gentx of the home)" },
];

/** Commands about the keys in a node's home. */
const IDENTITY: readonly CommandSpec[] = [
  {
    name: "show-node-id",
    summary: "Show the name of the node in its network",
    flags: [TEXT_OUTPUT],
    example: "svc tendermint show-node-id",
    load: async () => (await import("./node.ts")).showNodeId,
  },
  {
    name: "show-validator",
    summary: "Show the public key with which the node signs blocks",
    flags: [ALWAYS_JSON],
    example: "svc tendermint show-validator",
    load: async () => (await import("./node.ts")).showValidator,
  },
  {
    name: "show-address",
    summary: "Show the consensus address of that key",
    flags: [TEXT_OUTPUT],
    example: "svc tendermint show-address",
    load: async () => (await import("./node.ts")).showAddress,
  },
  {
    name: "version",
    summary: "Show the protocols of the engine",
    flags: [TEXT_OUTPUT],
    example: "svc tendermint version",
    load: async () => (await import("./node.ts")).engineVersion,
  },
];

const RESET: CommandSpec = {
  name: "unsafe-reset-all",
  summary: "Remove blocks, state and the record of the last vote; keys and genesis file stay",
  example: "svc unsafe-reset-all",
  load: async () => (await import("./node.ts")).unsafeResetAll,
};

/** Snapshots of the state, by the names of the ecosystem's tools. */
const SNAPSHOTS: readonly CommandSpec[] = [
  {
    name: "list",
    summary: "List the snapshots of the home",
    flags: [TEXT_OUTPUT],
    example: "svc snapshots list",
    load: async () => (await import("./snapshots.ts")).snapshotsList,
  },
  {
    name: "export",
    summary: "Take a snapshot; the node must be stopped",
    flags: [{ name: "height", value: "<n>", summary: "height of the state (default: the last but one)" }, TEXT_OUTPUT],
    example: "svc snapshots export",
    load: async () => (await import("./snapshots.ts")).snapshotsExport,
  },
  {
    name: "dump",
    args: "<height> <format>",
    summary: "Write a snapshot and the blocks behind it as an archive",
    flags: [
      { name: "output", short: "o", value: "<file>", summary: "file to write (default: <height>-<format>.tar.gz)" },
    ],
    example: "svc snapshots dump 1000 2 -o snapshot.tar.gz",
    load: async () => (await import("./snapshots.ts")).snapshotsDump,
  },
  {
    name: "load",
    args: "<archive_file>",
    summary: "Load a snapshot from an archive into the home",
    flags: [TEXT_OUTPUT],
    example: "svc snapshots load 1000-2.tar.gz",
    load: async () => (await import("./snapshots.ts")).snapshotsLoad,
  },
  {
    name: "restore",
    args: "<height> <format>",
    summary: "Restore the home's state from a snapshot in it; the home must have no state",
    flags: [
      { name: "trust-height", value: "<n>", summary: "height of a block that you trust" },
      { name: "trust-hash", value: "<hash>", summary: "hash of that block" },
      TEXT_OUTPUT,
    ],
    example: "svc snapshots restore 1000 2",
    load: async () => (await import("./snapshots.ts")).snapshotsRestore,
  },
  {
    name: "delete",
    args: "<height> <format>",
    summary: "Remove a snapshot of the home",
    example: "svc snapshots delete 1000 2",
    load: async () => (await import("./snapshots.ts")).snapshotsDelete,
  },
];

/** Commands that make and run a node. */
export const NODE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "init",
    args: "<moniker>",
    summary: "Create the home of a node: keys, genesis file, empty data",
    flags: [{ name: "overwrite", short: "o", summary: "replace the existing genesis file" }],
    example: "svc init mynode --chain-id svc-1",
    load: async () => (await import("./node.ts")).init,
  },
  {
    name: "add-genesis-account",
    args: "<address_or_key> <coins>",
    summary: "Give an account tokens in the genesis state",
    flags: [...VESTING_FLAGS, ...KEYRING_FLAGS],
    example:
      "svc add-genesis-account alice 1000000000utoken\n" +
      "svc add-genesis-account bob 1000utoken --vesting-amount 900utoken --vesting-end-time 1893456000",
    load: async () => (await import("./node.ts")).addGenesisAccount,
  },
  {
    name: "gentx",
    args: "<key> <amount>",
    summary: "Write the genesis transaction that creates an operator's validator",
    flags: [...GENTX_FLAGS, ...KEYRING_FLAGS],
    example: "svc gentx alice 1000000utoken --keyring-backend test",
    load: async () => (await import("./gentx.ts")).gentx,
  },
  {
    name: "collect-gentxs",
    summary: "Add the genesis transactions of all validators to the genesis file",
    flags: [
      { name: "gentx-dir", value: "<dir>", summary: "directory of the files (default: config/gentx of the home)" },
    ],
    example: "svc collect-gentxs",
    load: async () => (await import("./gentx.ts")).collectGentxs,
  },
  {
    name: "validate-genesis",
    args: "[file]",
    summary: "Check a genesis file, by default that of the home",
    flags: [TEXT_OUTPUT],
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
    name: "tendermint",
    aliases: ["comet", "cometbft"],
    summary: "Show the identity of the home's node",
    commands: async () => [...IDENTITY, RESET],
  },
  {
    name: "rollback",
    summary: "Roll back the last block; the node must be stopped, and makes the block again when it starts",
    flags: [
      { name: "hard", summary: "remove the block as well, so that another one takes its place; not with CometBFT" },
      { ...NODE_SETTINGS.cometbft, summary: "program of CometBFT, which rolls back too where it made the blocks" },
      TEXT_OUTPUT,
    ],
    example: "svc rollback --hard",
    load: async () => (await import("./node.ts")).rollbackState,
  },
  {
    name: "snapshots",
    aliases: ["snapshot"],
    summary: "Take snapshots of the state, and restore them",
    commands: async () => SNAPSHOTS,
  },
  {
    name: "export",
    summary: "Print the state as a genesis file; the node must be stopped",
    flags: [
      { name: "height", value: "<n>", summary: "height of the state; -1 is the last one", default: "-1" },
      { name: "for-zero-height", summary: "for a chain that begins at height 1, with rewards paid and heights reset" },
      {
        name: "jail-allowed-addrs",
        value: "<operators>",
        summary: "with --for-zero-height: validators that stay, comma separated; all others are jailed",
      },
      ALWAYS_JSON,
    ],
    example: "svc export --height 1000",
    load: async () => (await import("./node.ts")).exportState,
  },
  {
    name: "testnet",
    aliases: ["init-files"],
    summary: "Write the homes of a new chain's validators, with their operators' keys and money",
    flags: [
      {
        name: "v",
        alias: "validator-count",
        value: "<n>",
        summary: "number of validators; several need --engine cometbft",
        default: "1",
      },
      { name: "output-dir", short: "o", value: "<dir>", summary: "directory of the homes", default: "./mytestnet" },
      {
        name: "node-dir-prefix",
        value: "<name>",
        summary: "name of each home, before its number",
        default: "node",
      },
      {
        name: "starting-ip-address",
        value: "<address>",
        summary: "address of the first node; each further one has the next address",
        default: "192.168.0.1",
      },
      {
        name: "single-machine",
        alias: "single-host",
        summary: "all nodes run on this machine, each with its own ports",
      },
      { name: "port-offset", value: "<n>", summary: "with --single-machine: added to every port", default: "0" },
      { ...KEYRING_BACKEND_FLAG, default: "test" },
    ],
    example: "svc testnet --v 4 --single-machine --chain-id test-1",
    load: async () => (await import("./testnet.ts")).testnet,
  },
  RESET,
];
