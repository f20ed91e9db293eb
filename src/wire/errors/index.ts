/** Every error of the chain. */
export { CHAIN_ERRORS, chainError, type ErrorTable, NOT_FOUND_ERRORS } from "./catalogue.ts";
export * from "./tables.ts";
