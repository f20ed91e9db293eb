import { asCount, asDuration, asText, optional, parseCoin, type SettingTable } from "../../../util/index.ts";
import { parseGasPrice, parsePercent } from "./parsers.ts";

/** Fees of the provider's transactions. */
export const FEES = {
  fees: { name: "fees", value: "<coin>", summary: "fee of each transaction", default: "1000utoken", parse: parseCoin },
  gasPrices: {
    name: "gas-prices",
    value: "<price>",
    summary: "gas price for batches that need more gas than the fee pays for",
    default: "0.0025utoken",
    parse: parseGasPrice,
  },
} as const satisfies SettingTable;

/** Prices of bids, and the orders that get one. */
export const BIDS = {
  bidPriceStrategy: {
    name: "bid-price-strategy",
    value: "<name>",
    summary: "pricing strategy for bids",
    choices: ["scale", "randomRange", "shellScript"],
    default: "scale",
    parse: asText,
  },
  bidPriceTokenUsd: {
    name: "bid-price-token-usd",
    value: "<price>",
    summary: "US dollars for a TOKEN; lets scales end in usd for dollars a month, such as 1.6usd for a core",
    parse: asText,
  },
  bidPriceCpuScale: {
    name: "bid-price-cpu-scale",
    value: "<price>",
    summary: "price per block and millicore",
    default: "0.001",
    parse: asText,
  },
  bidPriceMemoryScale: {
    name: "bid-price-memory-scale",
    value: "<price>",
    summary: "price per block and MiB of memory",
    default: "0.0001",
    parse: asText,
  },
  bidPriceStorageScale: {
    name: "bid-price-storage-scale",
    value: "<prices>",
    summary: "price per block and MiB: 0.001 or 0.001,beta1=0.002",
    default: "0.00001,default=0.00002,beta1=0.00002,beta2=0.00004,beta3=0.00006",
    parse: asText,
  },
  bidPriceEndpointScale: {
    name: "bid-price-endpoint-scale",
    value: "<price>",
    summary: "price per block and endpoint",
    default: "0.01",
    parse: asText,
  },
  bidPriceIpScale: {
    name: "bid-price-ip-scale",
    value: "<price>",
    summary: "price per block and leased IP address",
    default: "0",
    parse: asText,
  },
  bidPriceScriptPath: {
    name: "bid-price-script-path",
    value: "<file>",
    summary: "executable that prices orders",
    parse: asText,
  },
  bidPriceScriptProcessLimit: {
    name: "bid-price-script-process-limit",
    value: "<n>",
    summary: "maximum concurrent runs of the price script",
    default: "32",
    parse: asCount,
  },
  bidPriceScriptTimeout: {
    name: "bid-price-script-timeout",
    value: "<duration>",
    summary: "time limit of a price script",
    default: "10s",
    parse: asDuration,
  },
  bidDeposit: {
    name: "bid-deposit",
    value: "<coin>",
    summary: "deposit per bid (default: the chain's minimum)",
    parse: optional(parseCoin),
  },
  minimumBalance: {
    name: "minimum-balance",
    value: "<coin>",
    summary: "amount that bids leave in the account (default: none)",
    parse: optional(parseCoin),
  },
  bidTimeout: {
    name: "bid-timeout",
    value: "<duration>",
    summary: "time after which an open bid is withdrawn",
    default: "5m",
    parse: asDuration,
  },
  bidSharePerTenant: {
    name: "bid-share-per-tenant",
    value: "<percent>",
    summary:
      "part of what open bids may hold, half of the provider and of its money for deposits, that those of one tenant may hold",
    default: "25",
    parse: parsePercent,
  },
  providerConfig: {
    name: "provider-config",
    value: "<file>",
    summary: "YAML file with attributes that orders must require",
    parse: asText,
  },
} as const satisfies SettingTable;
