import { type Language, language } from "./language.ts";

/** Words of the pages of accounts and providers. */
const en = {
  account: {
    title: "Account",
    address: "Address",
    balances: "Balances",
    delegations: "Delegations",
    unbonding: "Unbonding",
    rewards: "Rewards",
    deployments: "Deployments",
    leases: "Leases as tenant",
    provided: "Leases as provider",
    bids: "Bids",
    certificates: "Certificates",
    provider: "Provider record",
    escrow: "Escrow accounts",
    txs: "Transactions",
    number: "Account number",
    sequence: "Sequence",
    validator: "Validator",
    amount: "Amount",
    due: "Due",
    serial: "Serial number",
    state: "State",
    isProvider: "This account is a provider",
  },
  provider: {
    list: "Providers",
    title: "Provider",
    address: "Address",
    host: "Gateway",
    attributes: "Attributes",
    website: "Website",
    email: "E-mail",
    created: "Registered at",
    updated: "Changed at",
    audits: "Attributes signed by auditors",
    auditor: "Auditor",
    leases: "Active leases",
    key: "Name",
    value: "Value",
  },
  /** Ways to connect a wallet. */
  choose: {
    keyring: "Keys of the keyring",
    use: (name: string) => `Use ${name}`,
    extensions: "Wallets of this browser",
    noReach:
      "Wallets cannot reach svc console. Start it with --from and a key of your keyring, or open /console/ of a node.",
    noExtension: "This browser has no wallet such as Keplr or Leap.",
    connect: (name: string) => `Connect ${name}`,
    keys: "Keys of this browser",
    unlock: "Unlock",
    locked: "The key is locked: it was forgotten after a quarter of an hour without a signature.",
    passphrase: "Passphrase",
    newPassphrase: "New passphrase for this browser, at least 8 characters",
    add: "Add a key",
    warning:
      "The server of this page could take a key that is typed here. Do so only on svc console and on a node of your own, and prefer a wallet for more than you carry in your pocket.",
    newPhrase: "Make a new phrase",
    writeDown: "Write it down, in order; it is shown this once:",
    secret: "Recovery phrase, or armor of svc keys export",
    armorPassphrase: "Passphrase of the armor",
    name: "Name",
    keep: "Keep this key",
    look: "Only look",
    lookAt: "Look at this account",
  },
  /** Hardware devices. */
  ledger: {
    title: "Hardware device",
    connect: "Connect a Ledger",
    account: "Number of the account on the device",
    badAccount: "The number of the account is a whole number from 0 to 100.",
    hint: "Unlock it, open its Cosmos app, and choose it in the list that the browser shows. The device shows each transaction before it signs.",
    noHid: "This browser reaches no USB devices. Chromium and its kin do, on pages over https or from this machine.",
  },
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const { account, provider, choose, ledger } = LANGUAGES[language];
