export { formatDevicePath } from "./apdu.ts";
export { confirmedLedgerKey, type LedgerKey, type LedgerOptions, showLedgerKey, signWithLedger } from "./device.ts";
export { ledgerErrors } from "./errors.ts";
export { checkTransport } from "./open.ts";
