/** Transactions in the forms of the era before protobuf: amino JSON and amino binary. */
export { aminoPrefix, encodeStdTx, STD_TX_NAME } from "./binary.ts";
export { stdTxFromJson, stdTxToJson } from "./from-json.ts";
export { isStdTx, readStdTx } from "./read.ts";
export * from "./std-tx.ts";
