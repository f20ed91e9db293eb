import { type Language, language } from "./language.ts";

/** Words of the pages about the connected account. */
const en = {
  label: "Pages of the account",
  account: "Account",
  stake: "Unbond",
  grants: "Grants",
  certificates: "Certificates",
  history: "History",
  message: "Any message",
  missing: "The account has no such page.",
  unbond: "Unbond",
  unbondTime: (days: string) =>
    `Unbonding takes ${days} days. The tokens earn nothing meanwhile, and may still be slashed for the time before.`,
  unbondNow: "Begin to unbond",
  begunAt: "Begun at height",
  cancelUnbond: "Cancel and delegate again",
  given: "Given to others",
  received: "Received from others",
  to: "To",
  from: "From",
  right: "Right",
  expires: "Expires",
  revoke: "Revoke",
  giveDeposit: "Let an account pay deposits from yours",
  depositRight: "The account may put up to this amount into deployments; refunds come back to you.",
  allowDeposits: "Allow deposits",
  giveFees: "Let an account pay fees from yours",
  feeRight: "The account may pay fees of its transactions from your balance, up to this amount.",
  allowFees: "Allow fees",
  grantee: "Address of the account",
  badGrantee: "It is no address of another account: copy it again, whole and in lower case",
  until: "Last day, as in 2027-12-31; empty for no end",
  badDay: "The last day is no date: write it as in 2027-12-31",
  aboutCertificates: "Certificates let the command line reach gateways of providers. These pages need none.",
  revokeWarning: "A revoked certificate is never valid again. Programs that use it are refused.",
  older: "Older transactions",
  choose: "Message",
  json: "Content in JSON",
  ownCommands: "Each message has a command of its own: svc tx --help lists them.",
  fields: "Fields",
  path: "Field",
  type: "Type",
  check: "Check the content",
  checked: "It is signed as",
  sign: "Sign this message",
  unchecked: "Check the content before it is signed.",
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const views = LANGUAGES[language];
