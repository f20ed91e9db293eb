import { NODE_FLAG, OUTPUT_FLAG, TX_FLAGS } from "../global-flags.ts";
import type { CommandSpec, FlagSpec } from "../spec.ts";

const BROADCAST_FLAGS = TX_FLAGS.filter(({ name }) => name === "broadcast-mode" || name === "offline");
const JSON_OUTPUT: FlagSpec = { ...OUTPUT_FLAG, default: "json" };

/** Commands of the group `tx` that work on transactions in files. */
export const FILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "sign",
    args: "<file>",
    summary: "Sign a transaction in a file, - for standard input",
    flags: [
      { name: "amino", summary: "print the older JSON form with amino names" },
      { name: "multisig", value: "<address>", summary: "sign for this multisig account; prints the signature alone" },
      { name: "output-document", value: "<file>", summary: "write to this file instead of standard output" },
      { name: "overwrite", summary: "replace signatures that are there; without it the new one is added" },
      { name: "signature-only", summary: "print the signature alone" },
      ...TX_FLAGS,
    ],
    example:
      "svc tx sign unsigned.json --from alice --chain-id svc-1 --output-document signed.json\n" +
      "svc tx sign unsigned.json --from alice --chain-id svc-1 --offline -a 12 -s 34",
    load: async () => (await import("./sign.ts")).signFile,
  },
  {
    name: "encode",
    args: "<file>",
    summary: "Print a transaction in a file as base64 of its protobuf bytes, - for standard input",
    example: "svc tx encode signed.json",
    load: async () => (await import("./encode.ts")).encodeFile,
  },
  {
    name: "decode",
    args: "<text>",
    summary: "Print a transaction in base64 as JSON",
    flags: [{ name: "hex", short: "x", summary: "the transaction is in hexadecimal" }],
    example: "svc tx decode CpMBCpABChwvc2RrLmJhbmsudjFiZXRhMS5Nc2dTZW5k...",
    load: async () => (await import("./encode.ts")).decodeText,
  },
  {
    name: "broadcast",
    args: "<file>",
    summary: "Send a signed transaction in a file, - for standard input",
    flags: [...BROADCAST_FLAGS, NODE_FLAG, JSON_OUTPUT],
    example: "svc tx broadcast signed.json --broadcast-mode block",
    load: async () => (await import("./broadcast.ts")).broadcastFile,
  },
  {
    name: "simulate",
    args: "<file>",
    summary: "Tell the gas that a transaction in a file would use, - for standard input",
    flags: [NODE_FLAG, JSON_OUTPUT],
    example: "svc tx simulate unsigned.json",
    load: async () => (await import("./broadcast.ts")).simulateFile,
  },
];
