import { TEXT_OUTPUT } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/** `svc debug`: conversions that need neither a node nor a key. */
export const DEBUG: CommandSpec = {
  name: "debug",
  summary: "Convert addresses, public keys and bytes from one form to another",
  commands: async () => [
    {
      name: "addr",
      args: "<address>",
      summary: "Show an address, hexadecimal or bech32 of any network, in all forms",
      flags: [TEXT_OUTPUT],
      example: "svc debug addr svc1...",
      load: async () => (await import("./debug.ts")).debugAddr,
    },
    {
      name: "pubkey",
      args: "<key>",
      summary: "Show a public key, in JSON, bech32, hexadecimal or base64, in all forms",
      flags: [TEXT_OUTPUT],
      example: 'svc debug pubkey \'{"@type":"/cosmos.crypto.secp256k1.PubKey","key":"AxLZ..."}\'',
      load: async () => (await import("./debug.ts")).debugPubkey,
    },
    {
      name: "raw-bytes",
      args: "<bytes...>",
      summary: "Show bytes, written as decimal numbers, in hexadecimal",
      flags: [TEXT_OUTPUT],
      example: "svc debug raw-bytes '[72 101 108 108 111]'",
      load: async () => (await import("./debug.ts")).debugRawBytes,
    },
  ],
};
