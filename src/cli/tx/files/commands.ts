import type { FlagSpec } from "../../command/flag-spec.ts";
import { KEYRING_FLAGS, NODE_FLAG, OUTPUT_FLAG, TEXT_OUTPUT, TX_FLAGS } from "../../command/global-flags.ts";
import type { CommandSpec, Run } from "../../command/spec.ts";

function txFlags(...names: readonly string[]): readonly FlagSpec[] {
  return TX_FLAGS.filter(({ name }) => names.includes(name));
}

/**
 * The flags of a command on files, and the common `tx` flags that have no effect here: scripts pass them to all
 * commands, so they are accepted.
 */
function withCommon(...own: readonly FlagSpec[]): readonly FlagSpec[] {
  const others = TX_FLAGS.filter(({ name }) => !own.some((flag) => flag.name === name));
  return [...own, ...others.map((flag) => ({ ...flag, hidden: true }))];
}

/** A command whose first word is a file with a transaction. */
function onFile(load: () => Promise<Run>): () => Promise<Run> {
  return async () => (await import("./run.ts")).onFile(await load());
}

/** A command whose words are files with one transaction per line. */
function onFiles(load: () => Promise<Run>): () => Promise<Run> {
  return async () => (await import("./run.ts")).onFiles(await load());
}

const JSON_OUTPUT: FlagSpec = { ...OUTPUT_FLAG, default: "json" };
const OUTPUT_DOCUMENT: FlagSpec = {
  name: "output-document",
  value: "<file>",
  summary: "write to this file instead of standard output",
};
const SIGNATURE_ONLY: FlagSpec = { name: "signature-only", summary: "print only the signature" };
const OVERWRITE: FlagSpec = {
  name: "overwrite",
  summary: "replace existing signatures; without it the new one is added",
};
/** Consent to sign content that cannot be shown. */
export const ALLOW_UNKNOWN: FlagSpec = {
  name: "allow-unknown",
  summary: "sign messages of unknown types, whose content cannot be shown; in direct mode only",
};
const OLDER_FORM: FlagSpec = { name: "amino", summary: "print the older JSON form with amino names" };
const FOR_MULTISIG: FlagSpec = {
  name: "multisig",
  value: "<key>",
  summary: "sign as a member for this multisig, an address or a key; prints only the signature",
};
const COMBINE_FLAGS: readonly FlagSpec[] = [
  { name: "skip-signature-verification", summary: "combine signatures without checking them" },
  OUTPUT_DOCUMENT,
  SIGNATURE_ONLY,
  OVERWRITE,
  OLDER_FORM,
  ...txFlags("offline", "account-number", "sequence"),
  NODE_FLAG,
  ...KEYRING_FLAGS,
];

/**
 * Commands of the group `tx` that work on transactions in files. All accept the keyring flags, which scripts pass to
 * every command.
 */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "sign",
    args: "<file>",
    summary: "Sign a transaction in a file, - for standard input",
    flags: [ALLOW_UNKNOWN, OLDER_FORM, FOR_MULTISIG, OUTPUT_DOCUMENT, OVERWRITE, SIGNATURE_ONLY, ...TX_FLAGS],
    example:
      "svc tx sign unsigned.json --from alice --chain-id svc-1 --output-document signed.json\n" +
      "svc tx sign unsigned.json --from alice --chain-id svc-1 --offline -a 12 -s 34",
    load: onFile(async () => (await import("./sign.ts")).signFile),
  },
  {
    name: "sign-batch",
    args: "<files...>",
    summary: "Sign the transactions in files, one per line, with consecutive sequences; - for standard input",
    flags: [
      { name: "append", summary: "sign one transaction with the messages of all; gas and fees are added up" },
      ALLOW_UNKNOWN,
      FOR_MULTISIG,
      OUTPUT_DOCUMENT,
      OVERWRITE,
      SIGNATURE_ONLY,
      ...TX_FLAGS,
    ],
    example: "svc tx sign-batch unsigned.jsonl --from alice --chain-id svc-1 --output-document signed.jsonl",
    load: onFiles(async () => (await import("./sign.ts")).signBatch),
  },
  {
    name: "multisign",
    aliases: ["multi-sign"],
    args: "<file> <multisig> <signatures...>",
    summary: "Combine the signatures of members, in files, into that of their multisig",
    flags: withCommon(...COMBINE_FLAGS),
    example: "svc tx multisign unsigned.json team alice.json bob.json --output-document signed.json",
    load: onFile(async () => (await import("./multisign.ts")).multisign),
  },
  {
    name: "multisign-batch",
    args: "<file> <multisig> <signatures...>",
    summary: "Combine the signatures of members for files with one transaction, or one signature, per line",
    flags: withCommon(
      { name: "no-auto-increment", summary: "use the same sequence for all transactions" },
      ...COMBINE_FLAGS,
    ),
    example: "svc tx multisign-batch unsigned.jsonl team alice.jsonl bob.jsonl > signed.jsonl",
    load: async () => (await import("./multisign.ts")).multisignBatch,
  },
  {
    name: "validate-signatures",
    aliases: ["validate"],
    args: "<file>",
    summary:
      "Show which signatures a transaction in a file needs and whether those present are valid, - for standard input",
    flags: withCommon(...txFlags("offline", "account-number", "sequence"), NODE_FLAG, TEXT_OUTPUT, ...KEYRING_FLAGS),
    example: "svc tx validate-signatures signed.json",
    load: onFile(async () => (await import("./validate.ts")).validateSignatures),
  },
  {
    name: "encode",
    args: "<file>",
    summary: "Print a transaction in a file as base64 of its protobuf bytes, - for standard input",
    flags: withCommon({ name: "amino", summary: "print its bytes in the older amino encoding" }, ...KEYRING_FLAGS),
    example: "svc tx encode signed.json",
    load: onFile(async () => (await import("./encode.ts")).encodeFile),
  },
  {
    name: "decode",
    args: "<text>",
    summary: "Print a transaction in base64 as JSON, - for standard input",
    flags: withCommon({ name: "hex", short: "x", summary: "the transaction is in hexadecimal" }, ...KEYRING_FLAGS),
    example: "svc tx decode CpMBCpABChwvc2RrLmJhbmsudjFiZXRhMS5Nc2dTZW5k...",
    load: async () => (await import("./encode.ts")).decodeText,
  },
  {
    name: "broadcast",
    args: "<file>",
    summary: "Send a signed transaction in a file, - for standard input",
    flags: withCommon(...txFlags("broadcast-mode", "dry-run", "offline"), NODE_FLAG, JSON_OUTPUT, ...KEYRING_FLAGS),
    example: "svc tx broadcast signed.json --broadcast-mode block",
    load: onFile(async () => (await import("./broadcast.ts")).broadcastFile),
  },
  {
    name: "simulate",
    args: "<file>",
    summary: "Show the gas that a transaction in a file would use, - for standard input",
    flags: withCommon(NODE_FLAG, JSON_OUTPUT, ...KEYRING_FLAGS),
    example: "svc tx simulate unsigned.json",
    load: onFile(async () => (await import("./broadcast.ts")).simulateFile),
  },
];
