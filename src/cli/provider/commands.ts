import { type CommandSpec, under } from "../command/spec.ts";
import { PROVIDER_CLIENT_COMMANDS } from "./client/specs.ts";
import { PROVIDER_CLUSTER } from "./cluster/specs.ts";
import { PROVIDER_EXAMINE_COMMANDS } from "./examine/specs.ts";
import { PROVIDER_OPERATOR_COMMANDS } from "./operate/specs.ts";
import { PROVIDER_EVICT, PROVIDER_PURGE, PROVIDER_RUN } from "./run/spec.ts";

/** The daemon also makes the checks of its operator, with its own flags. */
const RUN: CommandSpec = {
  ...PROVIDER_RUN,
  load: async () => {
    const [{ providerRun }, { providerFindings }] = await Promise.all([
      import("./run/run.ts"),
      import("./examine/check.ts"),
    ]);
    return (input) => providerRun(input, providerFindings);
  },
};

/** `svc provider`: the daemon, and requests of tenants to a provider. */
export const PROVIDER_COMMANDS: readonly CommandSpec[] = [
  ...under("Run a provider", [RUN, ...PROVIDER_OPERATOR_COMMANDS, PROVIDER_PURGE, PROVIDER_EVICT, PROVIDER_CLUSTER]),
  ...under("Examine a provider", PROVIDER_EXAMINE_COMMANDS),
  ...under("Your leases at their providers", PROVIDER_CLIENT_COMMANDS),
];
