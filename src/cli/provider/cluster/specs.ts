import { OUTPUT_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { PREPARED_KINDS, placeFlags } from "../run/cluster.ts";

/** Preparations of a cluster of many machines, by its administrator. */
export const PROVIDER_CLUSTER: CommandSpec = {
  name: "cluster",
  summary: "Prepare a cluster such as Kubernetes for a provider",
  commands: async () => [
    {
      name: "install",
      summary: "Install the kinds of objects, namespaces, account and rights that a provider needs on a cluster",
      flags: [
        ...placeFlags(PREPARED_KINDS),
        ...PREPARED_KINDS.flatMap(({ installation }) => Object.values(installation?.settings ?? {})),
        { name: "dry-run", summary: "print the objects and change nothing; needs no cluster" },
        { ...OUTPUT_FLAG, default: "text" },
      ],
      example: [
        "svc provider cluster install --clusterconfig ~/.kube/config",
        "svc provider cluster install --dry-run > install.yaml",
      ].join("\n"),
      load: async () => (await import("./install.ts")).providerClusterInstall,
    },
  ],
};
