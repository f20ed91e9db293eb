/** Words about hardware devices. */
export const ledger = {
  title: "Hardware device",
  connect: "Connect a Ledger",
  account: "Number of the account on the device",
  badAccount: "The number of the account is a whole number from 0 to 100.",
  hint: "Unlock it, open its Cosmos app, and choose it in the list that the browser shows. The device shows each transaction before it signs.",
  noHid: "This browser reaches no USB devices. Chromium and its kin do, on pages over https or from this machine.",
};

/** Wallets by their kinds. */
export const kinds = {
  address: "only looked at",
  local: "key of this browser",
  keyring: "key of the keyring",
  extension: "wallet of this browser",
  ledger: "hardware device",
};

/** Reasons why a wallet does not do an act. */
export const lacks = {
  readOnly: "An address alone signs nothing: connect a wallet or a key of this account.",
  onlyTransactions:
    "A hardware device signs transactions alone. Sessions at gateways, for logs and shells, need another wallet: a key of the keyring, of this browser or of an extension.",
};
