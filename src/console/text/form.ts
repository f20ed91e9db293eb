import { type Language, language } from "./language.ts";

/** Words of the form of a deployment file. */
const en = {
  name: "Form",
  loading: "The form is loading",
  disabled: "The form rests until the text can be read:",
  newService: "Name of a service",
  serviceName: "Service name",
  repeated: "Another part of the file repeats this one by an alias (*): change it in the text.",
  taken: "Another service of the file has this name.",
  addService: "Add service",
  removeService: (name: string) => `Remove service ${name}`,
  cores: "CPU cores",
  storage: (name: string) => (name === "" || name === "default" ? "Storage" : `Storage ${name}`),
  shared: "Resources and prices are the same for:",
  price: "Price per block, at most",
  denom: "Unit of the price",
  env: "Environment, a variable in each line",
  command: "Command, a word in each line",
  args: "Arguments, a word in each line",
  port: (number: number) => `Port ${number}`,
  addPort: (service: string) => `Add a port to ${service}`,
  removePort: (number: number) => `Remove port ${number}`,
  inside: "Port of the program",
  outside: "Port outside",
  protocol: "Protocol",
  global: "Open to everybody",
  hosts: "Host names",
  textOnly: (count: number) => (count === 1 ? "One field is in the text only" : `${count} fields are in the text only`),
};

const LANGUAGES: Readonly<Record<Language, typeof en>> = { en };

/** The words in the reader's language. They come with their pages: the first page does not need them. */
export const form = LANGUAGES[language];
