import { isIP } from "node:net";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "yaml";
import type { ProviderConfig } from "../../provider/index.ts";
import {
  normalHost,
  type PricingStrategy,
  parseNetworks,
  parseScales,
  randomRangePricing,
  type ScaleFlags,
  type Scales,
  scalePricing,
  scriptPricing,
} from "../../provider/index.ts";
import { errorText, parseCoin, parseDecCoin, readFileText } from "../../util/index.ts";
import type { Attribute } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { durationFlag } from "../duration.ts";
import { commandError, usageError } from "../errors.ts";
import type { Flags } from "../flags.ts";
import { homeOf } from "../home.ts";
import { inFlag } from "../in-flag.ts";

/** Folder of the daemon in the home. */
export function providerDir(home: string): string {
  return join(home, "provider");
}

/** What the flags say of the cluster, beside its address. */
export function readClusterSettings(flags: Flags) {
  return {
    stateDir: providerDir(homeOf(flags)),
    allowLocalImages: flags.bool("cluster-local-images"),
    publicHostname: readHost(flags, "cluster-public-hostname"),
    nodePorts: readPortRange(flags),
    sizedVolumes: flags.text("cluster-volume-sizes") !== "none",
    stopGraceMs: durationFlag(flags, "cluster-stop-grace"),
  };
}

/** Everything the flags say of the provider, beside the cluster that is opened from them. */
export function readSettings(flags: Flags): Omit<ProviderConfig, "driver"> {
  const fee = inFlag(flags, "fees", () => parseCoin(flags.text("fees")));
  const deposit = flags.optional("bid-deposit");
  const duration = (name: string) => durationFlag(flags, name);
  const jitter = (name: string) => (/^0(ms|s|m|h|d)?$/.test(flags.text(name)) ? 0 : duration(name));
  return {
    stateDir: providerDir(homeOf(flags)),
    pricing: readPricing(flags),
    fee,
    gasPrice: readGasPrice(flags, fee.denom),
    ...(deposit === undefined ? {} : { bidDeposit: inFlag(flags, "bid-deposit", () => parseCoin(deposit)) }),
    bidTimeoutMs: duration("bid-timeout"),
    manifestTimeoutMs: duration("manifest-timeout"),
    withdrawalPeriodMs: duration("withdrawal-period"),
    tenantAttributes: readTenantAttributes(flags.text("provider-config")),
    overcommit: {
      cpu: flags.decimal("overcommit-pct-cpu"),
      memory: flags.decimal("overcommit-pct-mem"),
      storage: flags.decimal("overcommit-pct-storage"),
    },
    nodePortQuantity: flags.count("cluster-node-port-quantity"),
    monitor: {
      retries: flags.count("monitor-max-retries"),
      retryMs: duration("monitor-retry-period"),
      retryJitterMs: jitter("monitor-retry-period-jitter"),
      periodMs: duration("monitor-healthcheck-period"),
      periodJitterMs: jitter("monitor-healthcheck-period-jitter"),
    },
    inventoryPollMs: duration("inventory-resource-poll-period"),
    publicHostname: readHost(flags, "cluster-public-hostname"),
    ingress: {
      domain: readHost(flags, "deployment-ingress-domain"),
      staticHosts: flags.given("deployment-ingress-static-hosts")
        ? flags.bool("deployment-ingress-static-hosts")
        : true,
      ...readListen(flags, "ingress-listen-address"),
      blockedHosts: flags.words("deployment-blocked-hostnames"),
      loopbackPorts: flags.bool("ingress-loopback-ports"),
      clients: {
        connectionsPerAddress: readConnections(flags),
        trustedProxies: inFlag(flags, "ingress-trusted-proxies", () =>
          parseNetworks(flags.words("ingress-trusted-proxies")),
        ),
      },
    },
    gateway: readListen(flags, "gateway-listen-address"),
  };
}

/** A host name in lower case: names of tenants are made from it. */
function readHost(flags: Flags, name: string): string {
  const text = flags.text(name).toLowerCase();
  if (isIP(text) !== 0 || normalHost(text) === text) return text;
  throw usageError(
    `${flags.label(name)} takes a host name such as apps.example.com, not ${JSON.stringify(text.slice(0, 80))}`,
    "write the name alone, without https://, port, path and *",
  );
}

function readConnections(flags: Flags): number {
  const count = flags.count("ingress-connections-per-address");
  if (count === 0) throw usageError("--ingress-connections-per-address takes a number from 1 on, not 0");
  return count;
}

function readPricing(flags: Flags): PricingStrategy {
  const strategy = flags.text("bid-price-strategy");
  if (strategy === "randomRange") return randomRangePricing();
  if (strategy === "shellScript") {
    return scriptPricing({
      path: flags.text("bid-price-script-path"),
      processLimit: flags.count("bid-price-script-process-limit"),
      timeoutMs: durationFlag(flags, "bid-price-script-timeout"),
    });
  }
  const scale = (name: string) => flags.text(`bid-price-${name}-scale`);
  const [cpu, memory, storage] = [scale("cpu"), scale("memory"), scale("storage")];
  return scalePricing(readScales({ cpu, memory, storage, endpoint: scale("endpoint"), ip: scale("ip") }));
}

/** The fault names the flag. */
function readScales(texts: ScaleFlags): Scales {
  try {
    return parseScales(texts);
  } catch (error) {
    throw usageError(errorText(error));
  }
}

/** A price in another denomination than the fee's says nothing about the fee. */
function readGasPrice(flags: Flags, denom: string): bigint {
  const text = flags.text("gas-prices");
  if (text === "" || text === "0") return 0n;
  const price = inFlag(flags, "gas-prices", () => parseDecCoin(text));
  return price.denom === denom ? price.amount : 0n;
}

function readPortRange(flags: Flags): { readonly first: number; readonly last: number } {
  const text = flags.text("cluster-node-port-range");
  const [first = 0, last = 0] = text.split("-").map(Number);
  if (!/^\d{1,5}-\d{1,5}$/.test(text) || first < 1 || last > 65_535 || first > last) {
    throw usageError(`--cluster-node-port-range takes two ports such as 30000-32767, not "${text}"`);
  }
  return { first, last };
}

function readListen(flags: Flags, name: string): { readonly host: string; readonly port: number } {
  const text = flags.text(name);
  const match = /^(.*):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2] ?? Number.NaN);
  if (match === null || !(port <= 65_535))
    throw usageError(`--${name} takes <host>:<port> such as 0.0.0.0:8443, not "${text}"`);
  return { host: match[1] === "" || match[1] === undefined ? "0.0.0.0" : match[1], port };
}

const MAX_TENANT_FILE = 64 * 1024;

const TenantFile = v.strictObject({
  attributes: v.array(v.strictObject({ key: v.string(), value: v.string() })),
});

/** `attributes: [{key, value}]` of a YAML file. */
function readTenantAttributes(path: string): Attribute[] {
  if (path === "") return [];
  try {
    const { attributes } = v.parse(TenantFile, parse(readFileText(path, { maxBytes: MAX_TENANT_FILE, pipes: true })));
    return attributes.map(({ key, value }) => ({ $typeName: "svc.base.v1beta1.Attribute", key, value }));
  } catch (error) {
    throw commandError(`--provider-config: ${path}: ${errorText(error)}`, {
      hint: "write attributes: [{key: ..., value: ...}]",
    });
  }
}
