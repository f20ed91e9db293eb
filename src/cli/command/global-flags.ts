import type { FlagSpec } from "./flag-spec.ts";

export const GLOBAL_HEADING = "Global flags:";
const KEYRING = "Keyring flags:";
const PAGE = "Page flags:";
const TX = "Transaction flags:";

export const OUTPUT_FORMATS = ["text", "json"] as const;
export const KEYRING_BACKENDS = ["os", "file", "kwallet", "pass", "test", "memory"] as const;
export const KEYRING_KDFS = ["standard", "strong"] as const;
export const BROADCAST_MODES = ["sync", "async", "block"] as const;
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "panic"] as const;

function grouped(group: string, flags: readonly FlagSpec[]): readonly FlagSpec[] {
  return flags.map((flag) => ({ ...flag, group }));
}

export const CHAIN_ID_FLAG: FlagSpec = { name: "chain-id", value: "<id>", summary: "network chain id" };

export const KEYRING_BACKEND_FLAG: FlagSpec = {
  name: "keyring-backend",
  value: "<name>",
  summary: "where keys are kept",
  choices: KEYRING_BACKENDS,
  default: "os",
};

export const BROADCAST_MODE_FLAG: FlagSpec = {
  name: "broadcast-mode",
  short: "b",
  value: "<mode>",
  summary: "how long to wait",
  choices: BROADCAST_MODES,
  default: "sync",
};

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = grouped(GLOBAL_HEADING, [
  CHAIN_ID_FLAG,
  { name: "home", value: "<dir>", summary: "directory for configuration and data (default ~/.svc)" },
  { name: "profile", value: "<name>", summary: "network profile: svc, cosmos, or one of client.toml" },
  {
    name: "log_format",
    alias: "log-format",
    value: "<format>",
    summary: "log format",
    choices: ["plain", "json"],
    default: "plain",
  },
  {
    name: "log_level",
    alias: "log-level",
    value: "<level>",
    summary: "lowest level logged",
    choices: LOG_LEVELS,
    default: "info",
  },
  // Logs have no colours; scripts pass this flag to tools whose logs do.
  {
    name: "log_no_color",
    alias: "log-no-color",
    summary: "print logs without colours (they never have any)",
    hidden: true,
  },
  { name: "trace", summary: "print a full stack trace on errors" },
]);

export const OUTPUT_FLAG: FlagSpec = {
  name: "output",
  short: "o",
  value: "<format>",
  summary: "output format",
  choices: OUTPUT_FORMATS,
};

/** `--output` of commands whose results people read. */
export const TEXT_OUTPUT: FlagSpec = { ...OUTPUT_FLAG, default: "text" };
/** `--output` of commands whose result is always JSON: accepted, because scripts pass it to every command. */
export const ALWAYS_JSON: FlagSpec = { ...OUTPUT_FLAG, default: "json", hidden: true };

export const NODE_FLAG: FlagSpec = {
  name: "node",
  value: "<host:port>",
  summary: "RPC interface of a node",
  default: "tcp://localhost:26657",
};

/** The network that published the program. */
export const NET_FLAG: FlagSpec = {
  name: "net",
  value: "<url>",
  summary: "address of the network's files: version.txt and releases (default: where this svc came from)",
};

export const KEYRING_FLAGS: readonly FlagSpec[] = grouped(KEYRING, [
  KEYRING_BACKEND_FLAG,
  { name: "keyring-dir", value: "<dir>", summary: "directory of the keyring (default: the home)" },
  {
    name: "keyring-service",
    value: "<name>",
    summary: "name under which os, kwallet and pass store keys",
    default: "svc",
  },
  {
    name: "keyring-kdf",
    value: "<strength>",
    summary: "how costly it is to guess the passphrase of new keyring files",
    choices: KEYRING_KDFS,
    default: "standard",
  },
  {
    name: "keyring-passphrase-file",
    value: "<file>",
    summary: "file with the passphrase of the file keyring, for unattended starts",
  },
]);

export const LEDGER_TRANSPORT_FLAG: FlagSpec = {
  name: "ledger-transport",
  value: "<way>",
  summary: "how the device is reached: hid, or an emulator at tcp://host:port or http://host:port",
  default: "hid",
};

export const VERIFY_FLAG: FlagSpec = {
  name: "verify",
  value: "<mode>",
  summary: "have answers proven, from the block of svc config trust; on: where they can be",
  choices: ["off", "on", "require"],
  default: "on",
};

/** Flags of every `query` command. */
export const QUERY_FLAGS: readonly FlagSpec[] = [
  { name: "height", value: "<n>", summary: "state at a height; may fail if the node no longer has it" },
  VERIFY_FLAG,
  NODE_FLAG,
  { ...OUTPUT_FLAG, default: "text" },
];

/** Flags of every list query. */
export const PAGE_FLAGS: readonly FlagSpec[] = grouped(PAGE, [
  { name: "limit", alias: "page-limit", value: "<n>", summary: "maximum rows to return", default: "100" },
  { name: "offset", alias: "page-offset", value: "<n>", summary: "rows to skip" },
  { name: "page", value: "<n>", summary: "page number; skips (page - 1) x limit rows", default: "1" },
  { name: "page-key", value: "<key>", summary: "next_key of the previous page" },
  { name: "count-total", alias: "page-count-total", summary: "count all rows" },
  { name: "reverse", alias: "page-reverse", summary: "last rows first" },
]);

/** Flags about how a single transaction is made or printed; commands that send several refuse them. */
export const SINGLE_TX_FLAGS = ["generate-only", "offline", "dry-run", "account-number", "sequence"] as const;

/** Flags of every `tx` command. */
export const TX_FLAGS: readonly FlagSpec[] = [
  ...grouped(TX, [
    { name: "from", value: "<key>", summary: "name or address of the key that signs" },
    { name: "fees", value: "<coins>", summary: "fee to pay, for example 5000utoken" },
    { name: "gas", value: "<n|auto>", summary: "gas limit; auto simulates first", default: "200000" },
    {
      name: "gas-adjustment",
      value: "<factor>",
      summary: "factor on the simulated gas; ignored when gas is set",
      default: "1",
    },
    { name: "gas-prices", value: "<prices>", summary: "price per unit of gas, for example 0.0025utoken" },
    { name: "fee-payer", value: "<address>", summary: "account that pays the fee; it must sign as well" },
    {
      name: "fee-granter",
      alias: "fee-account",
      value: "<address>",
      summary: "account that pays the fee from an allowance it granted",
    },
    { name: "memo", alias: "note", value: "<text>", summary: "text sent with the transaction" },
    { name: "timeout-height", value: "<n>", summary: "last block that may include the transaction" },
    {
      name: "timeout-duration",
      value: "<duration>",
      summary: "how long the transaction stays valid, such as 5m; for chains of release 0.53 or later",
    },
    {
      name: "unordered",
      summary: "send without a sequence; needs --timeout-duration and a chain of release 0.53 or later",
    },
    BROADCAST_MODE_FLAG,
    { name: "yes", short: "y", summary: "do not ask before broadcasting" },
    { name: "dry-run", summary: "ignore --gas, simulate the transaction and do not broadcast it" },
    { name: "generate-only", summary: "write the unsigned transaction to standard output" },
    { name: "offline", summary: "use no network; needs --account-number and --sequence" },
    { name: "account-number", short: "a", value: "<n>", summary: "account number of the signer (offline mode only)" },
    { name: "sequence", short: "s", value: "<n>", summary: "sequence of the signer (offline mode only)" },
    {
      name: "sign-mode",
      value: "<mode>",
      summary: "what is signed",
      choices: ["direct", "amino-json"],
      default: "direct",
    },
    { name: "ledger", summary: "sign with a connected hardware device" },
    LEDGER_TRANSPORT_FLAG,
    NODE_FLAG,
    { ...OUTPUT_FLAG, default: "json" },
  ]),
  ...KEYRING_FLAGS,
];
