import { NODE_SETTINGS } from "../../node/index.ts";
import type { CommandSpec } from "../command/spec.ts";

const OFFSET_FLAG = {
  name: "port-offset",
  value: "<n>",
  summary: "added to every port, a multiple of 100 up to 3400, for a second localnet on this machine",
  default: "0",
} as const;

const OUTPUT_FLAG = {
  name: "output",
  short: "o",
  value: "<format>",
  summary: "output format",
  choices: ["text", "json"],
  default: "text",
} as const;

const LOCALNET: CommandSpec = {
  name: "localnet",
  summary: "Run a chain and providers on this machine, until Ctrl-C",
  flags: [
    { name: "deploy", value: "<file>", summary: "deploy this file when everything is up" },
    {
      name: "validators",
      value: "<n>",
      summary: "validators, each a node; several need CometBFT (default: 1, or as many as the kept chain has)",
    },
    { name: "providers", value: "<n>", summary: "providers of containers", default: "1" },
    { ...NODE_SETTINGS.cometbft, summary: "program of CometBFT (default: that of PATH, or of svc engine install)" },
    OFFSET_FLAG,
    { ...NODE_SETTINGS.blockInterval, summary: "time between blocks", default: "1s" },
    {
      name: "releases",
      value: "<dir>",
      summary: "folder of a release (npm run release) that the network's files offer",
    },
    { name: "keep", summary: "keep chain, keys and volumes for the next start" },
    { name: "clean", summary: "remove what a localnet that was killed left behind, and exit" },
    {
      name: "cluster-engine",
      value: "<socket>",
      summary: "socket of the container engine (default: found, started or installed)",
    },
    {
      name: "clusterconfig",
      alias: "kubeconfig",
      value: "<file>",
      summary: "configuration file of a Kubernetes cluster that runs leases instead of a container engine",
    },
    OUTPUT_FLAG,
  ],
  otherFlags: {
    names: [
      ...[NODE_SETTINGS.rpcLaddr, NODE_SETTINGS.apiAddress, NODE_SETTINGS.grpcAddress].map(({ name }) => name),
      ...["gateway-listen-address", "ingress-listen-address", "ingress-tls-listen-address"],
    ],
    remedy: "a localnet chooses its own addresses; --port-offset 100 moves all of its ports",
  },
  example: "svc localnet --deploy examples/web.yaml",
  load: async () => (await import("./command.ts")).localnet,
};

const FAUCET: CommandSpec = {
  name: "faucet",
  summary: "Send tokens from a running localnet to an address",
  args: "<address> [amount]",
  flags: [OFFSET_FLAG, OUTPUT_FLAG],
  example: "svc faucet $ADDRESS 100000000utoken",
  load: async () => (await import("./faucet.ts")).faucet,
};

export const LOCALNET_COMMANDS: readonly CommandSpec[] = [LOCALNET, FAUCET];
