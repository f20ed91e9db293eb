/** `svc/keyring`: keyrings on this machine, the same that the command and the ecosystem's tools open. Node.js alone. */
export { decryptKeyArmor, encryptKeyArmor } from "../crypto/index.ts";
export {
  type DevicePath,
  fixedPassphrase,
  KEYRING_BACKENDS,
  type KeyInfo,
  type Keyring,
  type KeyringOptions,
  type KeyType,
  keyringErrors,
  openKeyring,
  type PassphraseSource,
  passphraseFile,
  type RecordForm,
} from "../keyring/index.ts";
export { keyringSigner } from "./keyring-signer.ts";
