import { defineErrors } from "../../util/index.ts";

/** Why a wallet does not sign. */
export const walletErrors = defineErrors("wallet", {
  absent: [1, "this browser has no such wallet", "install the wallet's extension, and load this page again"],
  refused: [2, "the wallet has refused"],
  otherChain: [3, "the wallet is for another chain than the one shown", "connect it on this page again"],
  otherKey: [4, "the address that the wallet names is not the one of its key on this chain"],
  switched: [5, "the account of the wallet has changed", "connect the wallet again"],
  signedOther: [6, "the wallet has signed something else than it was asked to", "nothing was sent; use another wallet"],
  badAnswer: [7, "the answer of the wallet cannot be read", "update the wallet"],
  readOnly: [8, "an address alone signs nothing", "connect a wallet or a key of this account"],
  locked: [9, "the key is locked", "unlock it with its passphrase"],
  passphrase: [10, "the passphrase is not the one of this key"],
  weak: [11, "the passphrase is too short"],
  noAddress: [12, "this is no address of an account"],
  stored: [13, "the browser does not keep the key"],
  unknownFate: [14, "it is not known whether the transaction will be in a block"],
  highFee: [
    15,
    "the fee is higher than a page pays",
    "ask another node, or send it with svc tx, where you name the fee",
  ],
  unreadable: [
    16,
    "the record of an unfinished transaction in this browser cannot be read, and is forgotten",
    "look at the account's newest transactions before you send again",
  ],
});
