/** Transactions in the forms of the era before protobuf: amino JSON and amino binary. */
export { aminoPrefix, encodeStdTx } from "./binary.ts";
export { isStdTx, readStdTx } from "./read.ts";
export * from "./std-tx.ts";
