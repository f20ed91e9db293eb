import { ENV_PREFIX } from "../util/index.ts";

/** One setting of a node: the flag, its variable (`SVC_RPC_LADDR`), its key in files, and its default. */
export interface NodeOption {
  readonly name: string;
  /** Placeholder of the value; switches have none. */
  readonly value?: string;
  readonly summary: string;
  readonly default?: string;
}

/** All settings of a node. Flags, variables, files and documentation follow from this table. */
export const NODE_OPTIONS = [
  { name: "moniker", value: "<name>", summary: "name of the node (default: the one given to init)" },
  {
    name: "block-interval",
    value: "<duration>",
    summary: "time from block to block, full or empty: from 100ms",
    default: "6s",
  },
  {
    name: "minimum-gas-prices",
    value: "<prices>",
    summary: "price per unit of gas below which transactions are refused",
    default: "0.0025utoken",
  },
  { name: "halt-height", value: "<n>", summary: "stop after this block; 0 for never", default: "0" },
  { name: "check-invariants", summary: "check all invariants after every block, and stop when one is broken" },
  {
    name: "rpc.laddr",
    value: "<address>",
    summary: "where JSON-RPC listens",
    default: "tcp://localhost:26657",
  },
  {
    name: "rpc.cors-allowed-origins",
    value: "<origins>",
    summary: "origins of web pages that may use the RPC, with commas between; one * in each for any text",
  },
  {
    name: "rpc.allowed-hosts",
    value: "<names>",
    summary: "host names beside localhost under which the RPC answers over loopback",
  },
  { name: "rpc.max-body-bytes", value: "<n>", summary: "largest request body", default: "1000000" },
  { name: "rpc.max-request-batch-size", value: "<n>", summary: "most requests in a batch", default: "20" },
  { name: "rpc.max-open-connections", value: "<n>", summary: "most connections at a time", default: "900" },
  { name: "rpc.max-subscription-clients", value: "<n>", summary: "most clients that subscribe", default: "100" },
  {
    name: "rpc.max-subscriptions-per-client",
    value: "<n>",
    summary: "most subscriptions of one client",
    default: "5",
  },
  { name: "mempool.size", value: "<n>", summary: "most transactions that wait for a block", default: "50000" },
  {
    name: "mempool.max-txs-bytes",
    value: "<n>",
    summary: "most bytes of transactions that wait for a block",
    default: "67108864",
  },
  { name: "mempool.max-tx-bytes", value: "<n>", summary: "largest transaction", default: "1048576" },
  { name: "mempool.cache-size", value: "<n>", summary: "hashes of seen transactions to remember", default: "100000" },
] as const satisfies readonly NodeOption[];

export type NodeOptionName = (typeof NODE_OPTIONS)[number]["name"];

/** Texts of settings that were given; what is missing has its default. */
export type GivenOptions = { readonly [K in NodeOptionName]?: string | undefined };

/** The variable of a setting: `rpc.laddr` reads `SVC_RPC_LADDR`. */
export function optionVariable(name: string): string {
  return `${ENV_PREFIX}${name.toUpperCase().replaceAll(/[-.]/g, "_")}`;
}
