import { type Language, language } from "./language.ts";

/** Words of deployments as the chain has them. */
const en = {
  list: "Deployments",
  title: (dseq: string) => `Deployment ${dseq}`,
  id: "Deployment",
  owner: "Owner",
  state: "State",
  groups: "Groups",
  group: "Group",
  created: "Created at",
  closed: "Closed at",
  reason: "Reason",
  balance: "Funds at the last settlement",
  refund: "Funds now, returned by a close",
  truths: "State of the leases",
  chainSays: "The chain says",
  providerSays: "The provider says",
  lease: "Lease",
  transferred: "Paid so far",
  exhausted: "Funds last until height",
  version: "Manifest hash",
  resources: "Resources",
  resource: (count: number, cpu: string, memory: string, gpu: string) =>
    `${count} x ${cpu} CPU, ${memory}${gpu === "0" ? "" : `, ${gpu} GPU`}`,
  price: "Price",
  perDay: "a day",
  days: (days: string) => `about ${days} days`,
  orders: "Orders",
  order: "Order",
  bids: "Bids",
  leases: "Leases",
  provider: "Provider",
  filter: "State",
  all: "all",
  active: "active",
  closedState: "closed",
  pruned: (height: bigint) => `The chain no longer keeps this deployment: it was closed before height ${height}.`,
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const deploymentWords = LANGUAGES[language];
