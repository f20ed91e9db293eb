/** Public keys of accounts and validators, single and multisig. */
export * from "./multisig.ts";
export * from "./public-key.ts";
