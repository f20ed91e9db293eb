import { defineErrors } from "../../util/index.ts";

/** Errors of hardware devices: when one is thrown, nothing was signed, stored or sent. */
export const ledgerErrors = defineErrors("ledger", {
  transport: [
    1,
    "not an address of a hardware device",
    "write hid, or the address of an emulator: tcp://127.0.0.1:9999 or http://127.0.0.1:5000",
  ],
  library: [
    2,
    "the library for USB devices cannot be loaded",
    "install libusb, on Debian and Ubuntu: apt install libusb-1.0-0; then run npm install again if node-hid is missing",
  ],
  notFound: [
    3,
    "no hardware device was found",
    "connect it, unlock it and open its Cosmos app; on Linux it needs udev rules, which the holder's guide shows",
  ],
  several: [4, "more than one hardware device is connected", "disconnect all but the one with the key"],
  notOpened: [
    5,
    "the hardware device cannot be opened",
    "close other programs that use it; on Linux it needs udev rules, which the holder's guide shows",
  ],
  silent: [6, "the hardware device does not answer", "unlock it, open its Cosmos app and try again"],
  disconnected: [
    7,
    "the connection to the hardware device was lost",
    "connect it, open its Cosmos app, then try again: nothing was signed",
  ],
  locked: [8, "the hardware device is locked", "enter its PIN, open its Cosmos app and try again"],
  wrongApp: [
    9,
    "the Cosmos app is not open on the hardware device",
    "open it on the device and try again; the device's own software installs it",
  ],
  oldApp: [
    10,
    "the Cosmos app on the hardware device is too old",
    "update it with the device's own software, then try again",
  ],
  refused: [11, "refused on the hardware device", "try again and approve it on the device"],
  busy: [
    12,
    "the hardware device still waits for an answer to an earlier request",
    "answer it on the device, or close and open the Cosmos app there, then try again",
  ],
  tooLarge: [
    13,
    "the transaction is too large for the hardware device",
    "send fewer messages at a time, or a shorter memo",
  ],
  document: [14, "the hardware device cannot show this transaction", "sign it with a key of the keyring instead"],
  path: [
    15,
    "the Cosmos app uses no such derivation path",
    "it takes --coin-type 118, and numbers over 100 for --account and --index only in its expert mode",
  ],
  otherKey: [
    16,
    "the hardware device holds another key",
    "connect the device that the key was added from, or add this one under another name",
  ],
  badAnswer: [
    17,
    "the hardware device gave an invalid answer",
    "close and open the Cosmos app on the device, update it if it is old, then try again",
  ],
  onlyTransactions: [
    18,
    "a hardware device signs only transactions, in mode amino-json",
    "use a key of the keyring for certificates, tokens and daemons",
  ],
});
