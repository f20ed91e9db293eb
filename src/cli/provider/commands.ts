import { type CommandSpec, under } from "../command/spec.ts";
import { PROVIDER_CLIENT_COMMANDS } from "./client/specs.ts";
import { PROVIDER_CLUSTER } from "./cluster/specs.ts";
import { PROVIDER_EXAMINE_COMMANDS } from "./examine/specs.ts";
import { PROVIDER_OPERATOR_COMMANDS } from "./operate/specs.ts";
import { PROVIDER_EVICT, PROVIDER_PURGE, PROVIDER_RUN } from "./run/spec.ts";

/** `svc provider`: the daemon, and requests of tenants to a provider. */
export const PROVIDER_COMMANDS: readonly CommandSpec[] = [
  ...under("Run a provider", [
    PROVIDER_RUN,
    ...PROVIDER_OPERATOR_COMMANDS,
    PROVIDER_PURGE,
    PROVIDER_EVICT,
    PROVIDER_CLUSTER,
  ]),
  ...under("Examine a provider", PROVIDER_EXAMINE_COMMANDS),
  ...under("Your leases at their providers", PROVIDER_CLIENT_COMMANDS),
];
