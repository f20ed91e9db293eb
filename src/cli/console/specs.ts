import { NODE_FLAG, TEXT_OUTPUT, VERIFY_FLAG } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

export const CONSOLE: CommandSpec = {
  name: "console",
  summary: "Serve the console to a browser on this machine, until Ctrl-C; the link that it prints works once",
  flags: [NODE_FLAG, VERIFY_FLAG, TEXT_OUTPUT],
  example: "svc console --node tcp://localhost:26657",
  load: async () => (await import("./command.ts")).runConsole,
};
