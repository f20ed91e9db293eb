import type { FlagSpec } from "../command/flag-spec.ts";
import { KEYRING_FLAGS, LEDGER_TRANSPORT_FLAG, TEXT_OUTPUT } from "../command/global-flags.ts";
import { type CommandInput, type CommandSpec, under } from "../command/spec.ts";
import { keyringOptions } from "../context/context.ts";

const FLAGS: readonly FlagSpec[] = [...KEYRING_FLAGS, TEXT_OUTPUT];
const PUBKEY_FORMAT: FlagSpec = {
  name: "pubkey-format",
  value: "<form>",
  summary: "how public keys are written",
  choices: ["bech32", "json"],
  default: "bech32",
};
const SHOWN: readonly FlagSpec[] = [PUBKEY_FORMAT, ...FLAGS];
const YES: FlagSpec = { name: "yes", short: "y", summary: "do not ask" };

const ADD_FLAGS: readonly FlagSpec[] = [
  { name: "recover", summary: "recover a key from its phrase instead of creating one" },
  { name: "source", value: "<file>", summary: "file with the phrase to recover" },
  { name: "interactive", short: "i", summary: "ask for the phrase and its passphrase" },
  { name: "no-backup", summary: "do not show the phrase of a new key" },
  { name: "dry-run", summary: "store nothing" },
  { name: "account", value: "<n>", summary: "account number of the derivation path", default: "0" },
  { name: "index", value: "<n>", summary: "address index of the derivation path", default: "0" },
  { name: "coin-type", value: "<n>", summary: "coin type of the derivation path (default: the network's, 118)" },
  { name: "hd-path", value: "<path>", summary: "whole derivation path, for example m/44'/118'/0'/0/0" },
  { name: "pubkey", value: "<key>", summary: "store only a public key, as bech32 or JSON" },
  { name: "pubkey-base64", value: "<key>", summary: "store only a public key, its 33 bytes in base64" },
  { name: "multisig", value: "<names>", summary: "names of the members of a multisig, separated by commas" },
  { name: "multisig-threshold", value: "<n>", summary: "signatures that the multisig needs", default: "1" },
  { name: "nosort", summary: "keep the order of the members of a multisig" },
  { name: "algo", alias: "key-type", value: "<name>", summary: "kind of key", default: "secp256k1" },
  { name: "ledger", summary: "use a key on a connected hardware device" },
  LEDGER_TRANSPORT_FLAG,
];

const SHOW_FLAGS: readonly FlagSpec[] = [
  { name: "address", short: "a", summary: "print only the address" },
  { name: "pubkey", short: "p", summary: "print only the public key" },
  { name: "device", short: "d", summary: "show the address on the device that holds the key" },
  LEDGER_TRANSPORT_FLAG,
  { name: "bech", value: "<kind>", summary: "kind of address", choices: ["acc", "val", "cons"], default: "acc" },
  { name: "multisig-threshold", value: "<n>", summary: "threshold of the multisig of several names", default: "1" },
];

/** Where the keys are, and the output formats of the group. */
function keysOptions(input: Pick<CommandInput, "flags">) {
  const isJson = (name: string): boolean => input.flags.text(name) === "json";
  const output = isJson("output") ? ("json" as const) : ("text" as const);
  const pubkeyFormat = isJson("pubkey-format") ? ("json" as const) : ("bech32" as const);
  return { ...keyringOptions(input), output, pubkeyFormat };
}

const KEYS: readonly CommandSpec[] = [
  {
    name: "add",
    args: "<name>",
    summary: "Create a key, or recover one from its phrase",
    flags: [...ADD_FLAGS, ...SHOWN],
    example: "svc keys add alice --keyring-backend file\nsvc keys add alice --recover",
    load: async () => {
      const [{ keysAdd }, { ledgerTransport }] = await Promise.all([import("./add.ts"), import("./ledger-flag.ts")]);
      return ({ args: [name = ""], flags, io }) =>
        keysAdd(
          {
            ...keysOptions({ flags }),
            name,
            recover: flags.bool("recover"),
            interactive: flags.bool("interactive"),
            noBackup: flags.bool("no-backup"),
            dryRun: flags.bool("dry-run"),
            nosort: flags.bool("nosort"),
            ledger: flags.bool("ledger"),
            ledgerTransport: ledgerTransport(flags),
            algo: flags.text("algo"),
            account: flags.count("account"),
            index: flags.count("index"),
            coinType: flags.count("coin-type", flags.profile.coinType),
            multisig: flags.words("multisig"),
            multisigThreshold: flags.count("multisig-threshold", 1),
            source: flags.optional("source"),
            hdPath: flags.optional("hd-path"),
            pubkey: flags.optional("pubkey"),
            pubkeyBase64: flags.optional("pubkey-base64"),
          },
          io,
        );
    },
  },
  {
    name: "list",
    summary: "List all keys",
    flags: [{ name: "list-names", short: "n", summary: "print only names" }, ...SHOWN],
    example: "svc keys list --keyring-backend test",
    load: async () => {
      const [{ keysList }, { outputFormat }] = await Promise.all([
        import("./keys.ts"),
        import("../terminal/output.ts"),
      ]);
      return ({ flags, io }) => {
        const output = outputFormat(flags, io);
        return keysList({ ...keysOptions({ flags }), output, listNames: flags.bool("list-names") }, io);
      };
    },
  },
  {
    name: "show",
    args: "<names...>",
    summary: "Show a key, or the multisig that several keys would make",
    flags: [...SHOW_FLAGS, ...SHOWN],
    example: "svc keys show alice -a",
    load: async () => {
      const [{ keysShow }, { ledgerTransport }] = await Promise.all([import("./keys.ts"), import("./ledger-flag.ts")]);
      return ({ args: names, flags, io }) =>
        keysShow(
          {
            ...keysOptions({ flags }),
            names,
            address: flags.bool("address"),
            pubkey: flags.bool("pubkey"),
            bech: flags.text("bech"),
            device: flags.bool("device"),
            ledgerTransport: ledgerTransport(flags),
            multisigThreshold: flags.count("multisig-threshold", 1),
            outputGiven: flags.typed("output"),
          },
          io,
        );
    },
  },
  {
    name: "delete",
    args: "<names...>",
    summary: "Delete keys",
    flags: [YES, { name: "force", short: "f", summary: "has no effect" }, ...FLAGS],
    example: "svc keys delete alice",
    load: async () => {
      const { keysDelete } = await import("./keys.ts");
      return ({ args: names, flags, io }) =>
        keysDelete({ ...keysOptions({ flags }), names, yes: flags.bool("yes") }, io);
    },
  },
  {
    name: "rename",
    args: "<old-name> <new-name>",
    summary: "Rename a key",
    flags: [YES, ...FLAGS],
    example: "svc keys rename alice alicia",
    load: async () => {
      const { keysRename } = await import("./keys.ts");
      return ({ args: [name = "", newName = ""], flags, io }) =>
        keysRename({ ...keysOptions({ flags }), name, newName, yes: flags.bool("yes") }, io);
    },
  },
];

const TRANSFERS: readonly CommandSpec[] = [
  {
    name: "export",
    args: "<name>",
    summary: "Print a private key as encrypted text",
    flags: [
      { name: "unarmored-hex", summary: "print the key unencrypted; needs --unsafe" },
      { name: "unsafe", summary: "confirms --unarmored-hex" },
      YES,
      ...FLAGS,
    ],
    example: "svc keys export alice > alice.key",
    load: async () => {
      const { keysExport } = await import("./transfer.ts");
      return ({ args: [name = ""], flags, io }) =>
        keysExport(
          {
            ...keysOptions({ flags }),
            name,
            unarmoredHex: flags.bool("unarmored-hex"),
            unsafe: flags.bool("unsafe"),
            yes: flags.bool("yes"),
          },
          io,
        );
    },
  },
  {
    name: "import",
    args: "<name> <file>",
    summary: "Store a private key from encrypted text",
    flags: FLAGS,
    example: "svc keys import alice alice.key",
    load: async () => {
      const { keysImport } = await import("./transfer.ts");
      return ({ args: [name = "", file = ""], flags, io }) => keysImport({ ...keysOptions({ flags }), name, file }, io);
    },
  },
  {
    name: "import-hex",
    args: "<name>",
    summary: "Store a private key from hexadecimal, read from a prompt or from standard input",
    tooMany:
      "leave the key out and type it at the prompt, or pipe it in; one on the command line stays in the shell's history, and other users see it",
    flags: FLAGS,
    example: "svc keys import-hex alice\nsvc keys import-hex alice < alice.hex",
    load: async () => {
      const { keysImportHex } = await import("./transfer.ts");
      return ({ args: [name = ""], flags, io }) => keysImportHex({ ...keysOptions({ flags }), name }, io);
    },
  },
  {
    name: "migrate",
    args: "[old-dir]",
    summary: "Rewrite all key records in one format: the current one, or the one that older tools read",
    flags: [
      { name: "to", value: "<form>", summary: "format of the records", choices: ["proto", "amino"], default: "proto" },
      ...FLAGS,
    ],
    example: "svc keys migrate --keyring-backend file",
    load: async () => {
      const { keysMigrate, refuseOldKeybase } = await import("./keys.ts");
      return async ({ args: [oldDir], flags, io }) => {
        if (oldDir !== undefined) throw refuseOldKeybase(oldDir);
        await keysMigrate({ ...keysOptions({ flags }), form: flags.text("to") === "amino" ? "amino" : "proto" }, io);
      };
    },
  },
];

const TOOLS: readonly CommandSpec[] = [
  {
    name: "list-key-types",
    summary: "List the kinds of keys that can be made",
    flags: [TEXT_OUTPUT],
    example: "svc keys list-key-types",
    load: async () => {
      const { printAs } = await import("../terminal/output.ts");
      return async (input) => printAs(input, ["secp256k1"], "secp256k1\n");
    },
  },
  {
    name: "parse",
    args: "<text>",
    summary: "Convert an address or key from bech32 to hexadecimal and back",
    flags: FLAGS,
    example: "svc keys parse 5032dcdfeb1ac0eb2eb51ff2ce5dd2c70daaa1bf",
    load: async () => {
      const { keysParse } = await import("./transfer.ts");
      return async ({ args: [text = ""], flags, io }) => keysParse({ text, ...keysOptions({ flags }) }, io);
    },
  },
  {
    name: "mnemonic",
    summary: "Print a new phrase of 24 words and store nothing",
    flags: [{ name: "unsafe-entropy", summary: "make it from entropy that you enter" }, YES, ...FLAGS],
    example: "svc keys mnemonic",
    load: async () => {
      const { keysMnemonic } = await import("./transfer.ts");
      return ({ flags, io }) =>
        keysMnemonic(
          { ...keysOptions({ flags }), unsafeEntropy: flags.bool("unsafe-entropy"), yes: flags.bool("yes") },
          io,
        );
    },
  },
];

/** Commands of the group `keys`. */
export const KEYS_COMMANDS: readonly CommandSpec[] = [
  ...under("Keys", KEYS),
  ...under("Moving keys", TRANSFERS),
  ...under("Without a key", TOOLS),
];
