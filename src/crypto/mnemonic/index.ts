/** Recovery phrases, and the keys that are derived from them. */
export * from "./hd-path.ts";
export * from "./mnemonic.ts";
