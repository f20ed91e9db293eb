import type { FlagSpec } from "../../command/flag-spec.ts";
import { NODE_FLAG, OUTPUT_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { PROVIDER_RUN } from "../run/spec.ts";

const TEXT: FlagSpec = { ...OUTPUT_FLAG, default: "text" };
const FROM: FlagSpec = {
  name: "from",
  value: "<key>",
  summary: "name of the provider's key, or its address, which needs no passphrase",
};

/** The command line of `svc provider run` fits the check, whatever it says. */
const RUN_FLAGS = (PROVIDER_RUN.flags ?? []).map((flag) => (flag.name === FROM.name ? FROM : flag));

/** Checks of a provider: by its operator on its host, and from outside. */
export const PROVIDER_EXAMINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "check",
    summary: "Check what this home's provider needs: node, clock, account, certificate, engine, disk, ports and names",
    flags: [...RUN_FLAGS, TEXT],
    example: "svc provider check --from provider --deployment-ingress-domain apps.example.com",
    load: async () => (await import("./check.ts")).providerCheck,
  },
  {
    name: "verify",
    args: "<address>",
    summary:
      "Check as a tenant whether a provider is reachable, shows the chain's certificate and agrees with the chain",
    flags: [NODE_FLAG, TEXT],
    example: "svc provider verify $PROVIDER",
    load: async () => (await import("./check.ts")).providerVerify,
  },
];
