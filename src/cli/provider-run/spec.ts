import { GLOBAL_FLAGS, KEYRING_FLAGS, NODE_FLAG } from "../global-flags.ts";
import type { CommandSpec, FlagSpec } from "../spec.ts";

const CLUSTER_FLAGS: readonly FlagSpec[] = [
  { name: "cluster-orch", alias: "cluster-k8s", summary: "use a container orchestrator (Kubernetes) as cluster" },
  { name: "clusterconfig", alias: "kubeconfig", value: "<file>", summary: "configuration file of the orchestrator" },
  { name: "cluster-engine", value: "<socket>", summary: "socket of the container engine (default: found by itself)" },
  {
    name: "cluster-public-hostname",
    value: "<host>",
    summary: "public host name of the cluster",
    default: "localhost",
  },
  {
    name: "cluster-node-port-quantity",
    value: "<n>",
    summary: "node ports that all leases together may take",
    default: "1000",
  },
  {
    name: "cluster-node-port-range",
    value: "<first-last>",
    summary: "host ports for node ports",
    default: "30000-32767",
  },
  {
    name: "cluster-volume-sizes",
    value: "<loop|none>",
    summary: "how volume sizes are held",
    choices: ["loop", "none"],
    default: "loop",
  },
  {
    name: "cluster-stop-grace",
    value: "<duration>",
    summary: "time a container has from the request to end until it is killed",
    default: "30s",
  },
  { name: "cluster-local-images", summary: "let leases use images named localhost/... of this engine" },
  { name: "overcommit-pct-cpu", value: "<percent>", summary: "cpu promised beyond what is there", default: "0" },
  { name: "overcommit-pct-mem", value: "<percent>", summary: "memory promised beyond what is there", default: "0" },
  {
    name: "overcommit-pct-storage",
    value: "<percent>",
    summary: "storage promised beyond what is there",
    default: "0",
  },
  {
    name: "inventory-resource-poll-period",
    value: "<duration>",
    summary: "time between looks at the nodes",
    default: "30s",
  },
];

const BID_FLAGS: readonly FlagSpec[] = [
  {
    name: "bid-price-strategy",
    value: "<name>",
    summary: "how bids are priced",
    choices: ["scale", "randomRange", "shellScript"],
    default: "scale",
  },
  {
    name: "bid-price-cpu-scale",
    value: "<price>",
    summary: "price per block and thousandth of a core",
    default: "0.001",
  },
  { name: "bid-price-memory-scale", value: "<price>", summary: "price per block and MiB of memory", default: "0.0001" },
  {
    name: "bid-price-storage-scale",
    value: "<prices>",
    summary: "price per block and MiB: 0.001 or 0.001,beta1=0.002",
    default: "0.00001,default=0.00002,beta1=0.00002,beta2=0.00004,beta3=0.00006",
  },
  { name: "bid-price-endpoint-scale", value: "<price>", summary: "price per block and endpoint", default: "0.01" },
  { name: "bid-price-ip-scale", value: "<price>", summary: "price per block and leased ip", default: "0" },
  { name: "bid-price-script-path", value: "<file>", summary: "executable that prices orders" },
  {
    name: "bid-price-script-process-limit",
    value: "<n>",
    summary: "price scripts that may run at once",
    default: "32",
  },
  { name: "bid-price-script-timeout", value: "<duration>", summary: "time a price script has", default: "10s" },
  { name: "bid-deposit", value: "<coin>", summary: "deposit per bid (default: the chain's minimum)" },
  {
    name: "bid-timeout",
    value: "<duration>",
    summary: "a bid that nobody takes is withdrawn after this time",
    default: "5m",
  },
  { name: "provider-config", value: "<file>", summary: "YAML file with attributes that orders must ask for" },
];

const LEASE_FLAGS: readonly FlagSpec[] = [
  {
    name: "deployment-ingress-domain",
    value: "<domain>",
    summary: "generated host names end in it",
    default: "localhost",
  },
  {
    name: "deployment-ingress-static-hosts",
    summary: "generate a host name for every HTTP service (on for a container engine)",
  },
  {
    name: "deployment-blocked-hostnames",
    value: "<names>",
    summary: "host names that tenants cannot take; a leading dot blocks a domain",
  },
  {
    name: "ingress-listen-address",
    value: "<host:port>",
    summary: "where the HTTP ingress listens",
    default: "0.0.0.0:80",
  },
  {
    name: "ingress-connections-per-address",
    value: "<n>",
    summary: "connections to the ingress that one client address may have open",
    default: "256",
  },
  {
    name: "ingress-trusted-proxies",
    value: "<networks>",
    summary: "addresses and networks of proxies in front of the ingress: that limit is not theirs",
    default: "127.0.0.1,::1",
  },
  { name: "ingress-loopback-ports", summary: "give every HTTP service a port of its own on 127.0.0.1" },
  {
    name: "gateway-listen-address",
    value: "<host:port>",
    summary: "where the gateway listens",
    default: "0.0.0.0:8443",
  },
  {
    name: "manifest-timeout",
    value: "<duration>",
    summary: "a lease without manifest is given up after this time",
    default: "5m",
  },
  {
    name: "monitor-max-retries",
    value: "<n>",
    summary: "bad looks in a row before a lease is given up",
    default: "40",
  },
  {
    name: "monitor-retry-period",
    value: "<duration>",
    summary: "least time between looks at a lease that does not work",
    default: "4s",
  },
  { name: "monitor-retry-period-jitter", value: "<duration>", summary: "added at random", default: "15s" },
  {
    name: "monitor-healthcheck-period",
    value: "<duration>",
    summary: "least time between looks at a lease that works",
    default: "10s",
  },
  { name: "monitor-healthcheck-period-jitter", value: "<duration>", summary: "added at random", default: "5s" },
  { name: "withdrawal-period", value: "<duration>", summary: "time between withdrawals of earnings", default: "24h" },
];

const CHAIN_FLAGS: readonly FlagSpec[] = [
  NODE_FLAG,
  { name: "from", value: "<key>", summary: "name or address of the provider's key" },
  { name: "fees", value: "<coin>", summary: "fee of each transaction", default: "1000utoken" },
  {
    name: "gas-prices",
    value: "<price>",
    summary: "price of gas for batches that need more than the fee pays",
    default: "0.0025utoken",
  },
  ...KEYRING_FLAGS,
];

/** `svc provider run`. */
export const PROVIDER_RUN: CommandSpec = {
  name: "run",
  summary: "Run the provider: bid on orders, run their containers, serve their tenants",
  flags: [...CHAIN_FLAGS, ...CLUSTER_FLAGS, ...BID_FLAGS, ...LEASE_FLAGS],
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
  flags: [
    ...CLUSTER_FLAGS.filter(({ name }) => name === "cluster-engine"),
    { name: "yes", short: "y", summary: "do not ask" },
  ],
  example: "svc provider purge --home ~/.svc",
  load: async () => (await import("./purge.ts")).providerPurge,
};

export const PROVIDER_RUN_FLAGS = [...(PROVIDER_RUN.flags ?? []), ...GLOBAL_FLAGS];
