export { KEYRING_KDFS, type KeyringKdf } from "./backends/index.ts";
export { keyringErrors } from "./errors.ts";
export { checkSecretFile, prepareDirectory, removeFile } from "./files.ts";
export {
  CosmosApp,
  checkTransport,
  confirmedLedgerKey,
  type DeviceKey,
  formatDevicePath,
  type HidHandle,
  HidTransport,
  LEDGER_USB,
  type LedgerKey,
  type LedgerOptions,
  ledgerErrors,
  showLedgerKey,
  signWithLedger,
} from "./ledger/index.ts";
export { checkKeyName } from "./names.ts";
export { KEYRING_BACKENDS, KEYRING_SERVICE, type KeyringOptions, openKeyring } from "./open.ts";
export {
  fixedPassphrase,
  MIN_PASSPHRASE,
  newPassphraseFault,
  type PassphraseSource,
  passphraseFile,
  passphraseForms,
} from "./passphrase.ts";
export type { DevicePath, KeyInfo, KeyRecord, Keyring, KeyType, RecordForm } from "./types.ts";
