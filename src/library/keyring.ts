/** `svc/keyring`: keyrings on this machine, the same that the command and the ecosystem's tools open. Node.js only. */
export { decryptKeyArmor, encryptKeyArmor } from "../crypto/index.ts";
export {
  confirmedLedgerKey,
  type DevicePath,
  fixedPassphrase,
  KEYRING_BACKENDS,
  type KeyInfo,
  type Keyring,
  type KeyringOptions,
  type KeyType,
  keyringErrors,
  type LedgerKey,
  type LedgerOptions,
  ledgerErrors,
  openKeyring,
  type PassphraseSource,
  passphraseFile,
  type RecordForm,
  showLedgerKey,
  signWithLedger,
} from "../keyring/index.ts";
export { type KeyringSignerOptions, keyringSigner } from "./signers/keyring-signer.ts";
