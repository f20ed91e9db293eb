import { NET_FLAG, TEXT_OUTPUT } from "../command/global-flags.ts";
import type { CommandSpec } from "../command/spec.ts";

/** `svc engine`: the program of CometBFT that runs a chain of several validators. */
export const ENGINE: CommandSpec = {
  name: "engine",
  summary: "Install CometBFT, which svc start --engine cometbft runs beside the node",
  commands: async () => [
    {
      name: "install",
      summary: "Install CometBFT into the home: the signed program of the network, or a build by Go of checked source",
      flags: [
        NET_FLAG,
        {
          name: "go",
          value: "<path>",
          summary: "build with this program of Go 1.22.11 or newer (default: the one of PATH)",
        },
        TEXT_OUTPUT,
      ],
      example: "svc engine install",
      load: async () => (await import("./engine.ts")).engineInstall,
    },
    {
      name: "show",
      summary: "Show the program of CometBFT that would run beside a node",
      flags: [
        { name: "cometbft", value: "<path>", summary: "program of CometBFT (default: that of PATH, or of the home)" },
        TEXT_OUTPUT,
      ],
      example: "svc engine show",
      load: async () => (await import("./engine.ts")).engineShow,
    },
  ],
};
