import { NET_FLAG, TEXT_OUTPUT } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/** `svc self`: the installed command itself. */
export const SELF: CommandSpec = {
  name: "self",
  summary: "Update the installed command, or return to the version before",
  commands: async () => [
    {
      name: "update",
      summary: "Install the network's latest version, after its hash and signature were checked",
      flags: [
        NET_FLAG,
        { name: "version", value: "<version>", summary: "version to install, also an older one (default: the latest)" },
        TEXT_OUTPUT,
      ],
      example: "svc self update",
      load: async () => (await import("./self.ts")).selfUpdate,
    },
    {
      name: "rollback",
      summary: "Return to the version before the last update",
      flags: [TEXT_OUTPUT],
      example: "svc self rollback",
      load: async () => (await import("./self.ts")).selfRollback,
    },
  ],
};
