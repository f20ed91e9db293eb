import { defineErrors } from "../util/index.ts";

/** Errors of the keyring; a key that is not there is `sdkErrors.keyNotFound`, a wrong passphrase `sdkErrors.wrongPassword`. */
export const keyringErrors = defineErrors("keyring", {
  exists: [1, "key already exists", "choose another name, or delete the existing key first"],
  attempts: [
    2,
    "too many failed passphrase attempts",
    "try again; a lost passphrase cannot be recovered, the key can from its phrase",
  ],
  permissions: [3, "refused because others could read or change it"],
  backend: [4, "keyring backend not available", "use --keyring-backend file"],
  damaged: [5, "cannot be read", "restore the file from a backup, or recover the key from its phrase"],
  notLocal: [6, "only works on local private keys"],
  invalidName: [7, "invalid key name", "use letters, digits, dots, dashes and underscores"],
  passphrase: [
    8,
    "no usable keyring passphrase",
    "give a passphrase of 8 characters or more, in the first line of the file",
  ],
  refused: [9, "access to the keyring was refused", "answer the dialog, or use --keyring-backend file"],
  timeout: [10, "no answer in time", "look for a dialog that waits for you, or use --keyring-backend file"],
  service: [11, "the keyring's program failed", "see to that program, or use --keyring-backend file"],
  serviceName: [12, "cannot name the keys of a tool", "use letters, digits, dots, dashes and underscores"],
});
