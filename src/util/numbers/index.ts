/** Decimals, whole numbers and coins in text. */
export * from "./coin.ts";
export * from "./decimal.ts";
