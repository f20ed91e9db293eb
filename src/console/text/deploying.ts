import { type Language, language } from "./language.ts";

/** Words of the page that takes a deployment file to running services. */
const en = {
  title: (name: string) => `Deploy ${name}`,
  absent: "This browser keeps no such deployment. One of your account goes on from its own page, with its file.",
  list: "To your deployments",
  otherChain: (chain: string) => `It belongs to the chain ${chain}: open the console of that chain.`,
  connect: "Connect the account of this deployment to go on:",
  elsewhere: "Another tab of this browser works on this deployment. This one goes on when that one is closed.",
  stopped: "It has stopped",
  kept: "Nothing is lost: it goes on from what is on the chain.",
  outage: "Trying again until it is back.",
  goOn: "Go on",
  forget: "Forget it",
  steps: "Steps",
  step: {
    order: "Order",
    bid: "Bids",
    lease: "Lease",
    manifest: "Manifest",
    ready: "Services",
  },
  state: { done: "done", now: "now", later: "later" },
  session: "Waiting for the signature of the session at gateways: confirm it in the wallet",
  starting: "Looking at the chain",
  wait: {
    node: "Waiting for the node",
    user: "Waiting for your choice of a bid",
    services: "Waiting for the services to run",
    order: "Waiting for the block with the order",
    lease: "Waiting for the block with the lease",
    update: "Waiting for the block with the update",
    bids: (orders: string, block: string) => `Waiting for bids of providers on ${orders}, block ${block}`,
    moreBids: (block: string, bids: number) =>
      `${bids === 1 ? "One bid" : `${bids} bids`} so far; waiting for more until block ${block}`,
    gateway: "Waiting for the gateway of a provider",
    manifest: "Waiting for the provider to accept the manifest",
    port: "Waiting for a port to accept connections",
    address: "Waiting for an address to answer",
  },
  beyond:
    "This page cannot reach the gateway of this provider, which has no address for browsers. Go on from the page of svc console, which relays gateways, or by svc deploy; or wait until its operator publishes a gateway for browsers (web-gateway).",
  closeIt: "Close the deployment for its refund",
  provider: "Provider",
  bids: (group: string) => `Bids on group ${group}`,
  attributes: "Attributes",
  auditors: "Audited by",
  accept: "Accept",
  acceptOf: (provider: string) => `Accept the bid of ${provider}`,
  refusals: "Why providers do not bid",
  reason: "Reason",
  remedy: "What to do",
  notes: "Notes",
  result: "Ready, says the provider",
  addresses: "Addresses when it was ready",
  noAddresses: "The file opens no address or port.",
  closedHint: "a closed deployment is not paid any more; deploy the file again for a new one",
  changedHint: "the page of the deployment shows and changes it",
  file: "Deployment file",
  more: "Go on with this deployment",
  known: "This browser has its file.",
  lost: "An order without a lease, or a lease whose provider has no manifest, goes on from here with the file that it was made from. The file is compared with the hash on the chain, and stays in this browser.",
  otherFile:
    "This is another file: its hash is not the one on the chain. Take the file that the deployment was made from.",
  faulty: (sentence: string) => `The file has faults: ${sentence}`,
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const deploying = LANGUAGES[language];
