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
