import { type Language, language } from "./language.ts";

/** Words of the page that reads and prices a deployment file. */
const en = {
  title: "Deploy",
  file: "Deployment file",
  templates: "Begin with",
  template: {
    web: "A web service",
    twoServices: "Two services",
    persistent: "A service with a volume",
  },
  open: "Open a file",
  drop: "Or drop one on the text.",
  empty: "Choose a template, open a file, or write one: prices appear here before anything is signed or paid.",
  faults: "Faults",
  warnings: "Warnings",
  line: (line: number) => `Line ${line}`,
  unchecked: "Limits of the chain are not known; the file is read without them.",
  resources: "Resources",
  group: "Group",
  service: "Service",
  image: "Image",
  replicas: "Replicas",
  cpu: "CPU",
  memory: "Memory",
  storage: "Storage",
  gpu: "GPU",
  ports: "Open ports",
  cost: "Cost",
  deposit: (token: string) => `Deposit in ${token}`,
  depositFault: "Write an amount above zero, for example 5 or 0.5.",
  least: "At least",
  limit: "At most, by the prices of the file",
  cheapest: "At the cheapest offers",
  price: "Price",
  hour: "An hour",
  day: "A day",
  month: "A month",
  lasts: "The deposit lasts",
  days: (days: string) => `${days} days`,
  hours: (hours: string) => `${hours} hours`,
  minutes: (minutes: string) => `${minutes} minutes`,
  forever: "for ever: it costs nothing",
  providers: "Providers",
  providersOf: (group: string) => `Providers for ${group}`,
  sent: "Providers are told resources, prices and placement of the file, nothing else of it.",
  noProviders: "No provider is registered on this chain.",
  more: "The chain has more providers. The command below asks all of them.",
  provider: "Provider",
  answer: "Would it bid?",
  asking: "asking",
  impossible: "its price is no bid that the chain takes for this file",
  begin: "Deploy",
  choice: "Bid to accept",
  cheapestBid: "the cheapest",
  ownChoice: "I choose among the bids",
  signatures:
    "Your account signs the session at gateways, unless this browser keeps one, then the order, and the lease at the accepted bid.",
  unfinished: "Unfinished here",
  goOn: "Go on",
  notKept: (why: string) =>
    `The browser does not keep the deployment, so that it could not go on after an interruption: ${why}. Nothing was signed.`,
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const deploy = LANGUAGES[language];
