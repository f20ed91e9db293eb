import { type Language, language } from "./language.ts";

/** Words of the pages of validators, proposals and the network. */
const stakingEn = {
  list: "Validators",
  title: "Validator",
  moniker: "Name",
  status: "Status",
  tokens: "Tokens",
  share: "Share",
  commission: "Commission",
  maxCommission: "Highest commission, change a day",
  operator: "Operator",
  account: "Account",
  identity: "Identity",
  website: "Website",
  contact: "Security contact",
  details: "Details",
  missed: "Missed blocks of the window",
  since: "Signs since height",
  selfBond: "Minimum self-delegation",
  outstanding: "Outstanding rewards",
  earned: "Commission earned",
  delegations: "Delegations",
  delegator: "Delegator",
  consensus: "Consensus address",
  states: { 0: "unspecified", 1: "unbonded", 2: "unbonding", 3: "bonded" },
  jailed: "jailed",
};

const govEn = {
  list: "Governance",
  title: (id: string) => `Proposal ${id}`,
  name: "Title",
  status: "Status",
  proposer: "Proposer",
  submitted: "Submitted",
  votingEnds: "Voting ends",
  depositEnds: "Deposit ends",
  deposit: "Deposit",
  summary: "Summary",
  failed: "Reason of the failure",
  expedited: "Expedited",
  tally: "Votes counted",
  votes: "Votes",
  voter: "Voter",
  option: "Vote",
  deposits: "Deposits",
  depositor: "Depositor",
  messages: "What it does",
  changes: "Parameters that it changes",
  parameter: "Parameter",
  before: "Now",
  after: "Proposed",
  same: "It changes no parameter from what is in force now.",
  options: { yes: "Yes", no: "No", abstain: "Abstain", veto: "No with veto" },
  states: { 0: "unspecified", 1: "deposit period", 2: "voting", 3: "passed", 4: "rejected", 5: "failed" },
  votesOf: { 0: "unspecified", 1: "Yes", 2: "Abstain", 3: "No", 4: "No with veto" },
};

const networkEn = {
  title: "Network",
  chain: "Chain",
  node: "Node",
  version: "Version of the engine",
  earliest: "First block that the node has",
  genesis: "Genesis hash",
  syncing: "Catching up",
  peers: "Peers",
  supply: "Supply",
  inflation: "Inflation",
  pool: "Community pool",
  plan: "Planned upgrade",
  noPlan: "No upgrade is planned.",
  params: "Parameters",
  info: "Chain info for wallets",
};

const en = { staking: stakingEn, gov: govEn, network: networkEn };

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const { staking, gov, network } = LANGUAGES[language];
