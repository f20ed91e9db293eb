import type { MempoolLimits } from "../engine/index.ts";
import { type DecimalCoin, errorText, parseDecCoins, parseDurationMs, SvcError } from "../util/index.ts";
import { type GivenOptions, NODE_OPTIONS, type NodeOption, type NodeOptionName, optionVariable } from "./options.ts";
import type { RpcServerOptions } from "./rpc/index.ts";

/** The settings of a node, read and checked. */
export interface NodeConfig {
  /** Undefined = as the genesis file names the validator. */
  readonly moniker: string | undefined;
  /** Milliseconds. */
  readonly blockInterval: number;
  readonly minGasPrices: readonly DecimalCoin[];
  readonly haltHeight: bigint;
  readonly checkInvariants: boolean;
  readonly rpc: RpcServerOptions;
  readonly mempool: MempoolLimits;
}

const MIN_BLOCK_INTERVAL_MS = 100;
const MAX_BLOCK_INTERVAL_MS = 3_600_000;
const MAX_COUNT = 1_000_000_000n;

const DEFAULTS: ReadonlyMap<string, string | undefined> = new Map(
  NODE_OPTIONS.map((option: NodeOption) => [option.name, option.default]),
);

/** Reads the settings: what was given, else the variables, else the defaults. Throws one sentence on a bad one. */
export function nodeConfig(given: GivenOptions, env: Readonly<Record<string, string | undefined>> = {}): NodeConfig {
  const read = <T>(name: NodeOptionName, parse: (text: string) => T): T => {
    const text = optionText(name, given, env);
    try {
      return parse(text);
    } catch (error) {
      throw new SvcError("config", 1, `--${name} ${JSON.stringify(text.slice(0, 100))}: ${errorText(error)}`);
    }
  };
  return {
    moniker: read("moniker", (text) => (text === "" ? undefined : text)),
    blockInterval: read("block-interval", parseInterval),
    minGasPrices: read("minimum-gas-prices", parseDecCoins).filter(({ amount }) => amount > 0n),
    haltHeight: read("halt-height", parseCount),
    checkInvariants: read("check-invariants", parseSwitch),
    rpc: {
      ...read("rpc.laddr", parseListenAddress),
      corsOrigins: read("rpc.cors-allowed-origins", parseWords),
      hosts: read("rpc.allowed-hosts", parseWords).map((host) => host.toLowerCase()),
      maxBodyBytes: read("rpc.max-body-bytes", parseNumber),
      maxBatch: read("rpc.max-request-batch-size", parseNumber),
      maxOpenConnections: read("rpc.max-open-connections", parseNumber),
      maxSubscriptionClients: read("rpc.max-subscription-clients", parseNumber),
      maxSubscriptionsPerClient: read("rpc.max-subscriptions-per-client", parseNumber),
    },
    mempool: {
      maxTxs: read("mempool.size", parseNumber),
      maxBytes: read("mempool.max-txs-bytes", parseNumber),
      maxTxBytes: read("mempool.max-tx-bytes", parseNumber),
      cacheSize: read("mempool.cache-size", parseNumber),
    },
  };
}

function optionText(
  name: NodeOptionName,
  given: GivenOptions,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const variable = env[optionVariable(name)];
  return given[name] ?? (variable === "" ? undefined : variable) ?? DEFAULTS.get(name) ?? "";
}

/** The time from block to block in milliseconds. */
export function parseInterval(text: string): number {
  const milliseconds = parseDurationMs(text) ?? 0;
  if (milliseconds < MIN_BLOCK_INTERVAL_MS || milliseconds > MAX_BLOCK_INTERVAL_MS) {
    throw new Error("write a time from 100ms to 60m, for example 6s or 500ms");
  }
  return milliseconds;
}

/** `tcp://localhost:26657` or `localhost:26657`; port 0 = any free one. */
export function parseListenAddress(text: string): { host: string; port: number } {
  const [, v6, name = "", digits] = /^(?:tcp:\/\/)?(?:\[([0-9a-fA-F:]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535) throw new Error("write an address such as tcp://127.0.0.1:26657");
  // The name means the address that the ecosystem's tools mean by it, whatever this machine resolves first.
  const host = name === "localhost" ? "127.0.0.1" : name;
  return { host: v6 ?? (host === "" ? "0.0.0.0" : host), port };
}

function parseCount(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new Error("write a whole number");
  return BigInt(text);
}

function parseNumber(text: string): number {
  const count = parseCount(text);
  if (count < 1n || count > MAX_COUNT) throw new Error(`write a whole number from 1 to ${MAX_COUNT}`);
  return Number(count);
}

function parseWords(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function parseSwitch(text: string): boolean {
  if (["", "false", "0", "no"].includes(text.toLowerCase())) return false;
  if (["true", "1", "yes"].includes(text.toLowerCase())) return true;
  throw new Error(`write true or false`);
}
