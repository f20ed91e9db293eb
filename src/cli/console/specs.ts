import { KEYRING_FLAGS, NODE_FLAG, TEXT_OUTPUT, VERIFY_FLAG } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

export const CONSOLE: CommandSpec = {
  name: "console",
  summary: "Serve the console to a browser on this machine, until Ctrl-C; the link that it prints works once",
  flags: [
    {
      name: "from",
      value: "<key>",
      summary:
        "name or address of the key with which pages may have something signed, after a question at this terminal",
    },
    {
      name: "allow",
      value: "<what>",
      summary: "what is signed without a question: gateway, sessions at gateways of providers; or none",
      choices: ["gateway", "none"],
      default: "gateway",
    },
    {
      name: "confirm",
      value: "<where>",
      summary:
        "where questions of pages are answered: at this terminal, or on a page of their own with a code that it shows",
      choices: ["terminal", "page"],
      default: "terminal",
    },
    {
      name: "provider",
      value: "<dir>",
      summary: "home of a provider that runs on this machine, for its operator's page",
    },
    NODE_FLAG,
    VERIFY_FLAG,
    TEXT_OUTPUT,
    ...KEYRING_FLAGS,
  ],
  example: "svc console --from alice --node tcp://localhost:26657",
  load: async () => (await import("./command.ts")).runConsole,
};
