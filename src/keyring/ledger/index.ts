export { formatDevicePath } from "./apdu.ts";
export { CosmosApp, type DeviceKey } from "./app.ts";
export { confirmedLedgerKey, type LedgerKey, type LedgerOptions, showLedgerKey, signWithLedger } from "./device.ts";
export { ledgerErrors } from "./errors.ts";
export { checkTransport } from "./open.ts";
export { type HidHandle, HidTransport, LEDGER_USB } from "./packets.ts";
