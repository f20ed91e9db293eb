/** Recovery phrases, and the keys that are derived from them. */
export * from "./mnemonic.ts";
