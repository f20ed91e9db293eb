import { CLUSTER_KINDS } from "../../../provider/index.ts";
import type { FlagSpec } from "../../command/flag-spec.ts";
import { GLOBAL_FLAGS, KEYRING_FLAGS, NODE_FLAG, TEXT_OUTPUT, VERIFY_FLAG } from "../../command/global-flags.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { BIDS, FEES } from "./bid-settings.ts";
import { clusterFlags, placeFlags } from "./cluster.ts";
import { CLUSTER, LEASES } from "./settings.ts";

const CHAIN_FLAGS: readonly FlagSpec[] = [
  NODE_FLAG,
  VERIFY_FLAG,
  { name: "from", value: "<key>", summary: "name or address of the provider's key" },
  ...Object.values(FEES),
  ...KEYRING_FLAGS,
];

/** `svc provider run`. */
export const PROVIDER_RUN: CommandSpec = {
  name: "run",
  summary: "Run the provider: bid on orders, run their containers, serve their tenants",
  flags: [
    ...CHAIN_FLAGS,
    ...Object.values(CLUSTER),
    ...Object.values(BIDS),
    ...Object.values(LEASES),
    ...clusterFlags(CLUSTER_KINDS),
  ],
  example: [
    "svc provider run --home ~/.svc --chain-id svc-1 --node tcp://localhost:26657 --keyring-backend file --from provider \\",
    "  --fees 1000utoken --deployment-ingress-domain apps.example.com --deployment-ingress-static-hosts \\",
    "  --bid-price-strategy scale --bid-price-cpu-scale 0.001 --bid-deposit 5000000utoken \\",
    "  --cluster-public-hostname example.com --cluster-node-port-quantity 1000",
  ].join("\n"),
  load: async () => (await import("./run.ts")).providerRun,
};

/** `svc provider purge`. */
export const PROVIDER_PURGE: CommandSpec = {
  name: "purge",
  summary: "Remove all containers, volumes and rules of a home's provider, for a chain that was reset",
  flags: [...placeFlags(CLUSTER_KINDS), { name: "yes", short: "y", summary: "do not ask" }, TEXT_OUTPUT],
  example: "svc provider purge --home ~/.svc",
  load: async () => (await import("./purge.ts")).providerPurge,
};

/** `svc provider evict`. */
export const PROVIDER_EVICT: CommandSpec = {
  name: "evict",
  args: "<lease>",
  summary: "Remove containers and volumes of one lease that the chain does not know",
  flags: [NODE_FLAG, ...placeFlags(CLUSTER_KINDS), { name: "yes", short: "y", summary: "do not ask" }, TEXT_OUTPUT],
  example: "svc provider evict svc1.../1234/1/1/svc1... --home ~/.svc",
  load: async () => (await import("./evict.ts")).providerEvict,
};

export const PROVIDER_RUN_FLAGS = [...(PROVIDER_RUN.flags ?? []), ...GLOBAL_FLAGS];
