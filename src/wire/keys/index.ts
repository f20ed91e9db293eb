/** Public keys of accounts and validators, single and multisig. */
export * from "./any.ts";
export * from "./multisig.ts";
export * from "./public-key.ts";
