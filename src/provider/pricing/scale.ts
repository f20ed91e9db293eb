import { DEC_ONE, type Dec, formatDecShort, tryParseDec } from "../../util/index.ts";
import type { RowNeed, VolumeNeed } from "../inventory/index.ts";
import type { PricingStrategy, ScaleFlags } from "./strategy.ts";

const MIB = 1n << 20n;
const EPHEMERAL = "ephemeral";
const USD = "usd";
/** At 6 seconds a block, in a month of 365.25 days / 12. */
export const BLOCKS_PER_MONTH = 438_300n;
const COINS_PER_TOKEN = 1_000_000n;
const MILLI = 1_000n;
const GIB_IN_MIB = 1_024n;

/** Prices per block and unit, scaled 10^18: thousandths of a core, MiB, MiB of a storage class, endpoint, leased IP. */
export interface Scales {
  readonly cpu: Dec;
  readonly memory: Dec;
  readonly storage: ReadonlyMap<string, Dec>;
  readonly endpoint: Dec;
  readonly ip: Dec;
}

/**
 * Prices per block, or in US dollars a month where they end in `usd`: `1.6usd` for a core, `0.8usd` for a GiB of memory or
 * storage, `0.05usd` for an endpoint.
 */
export function parseScales(flags: ScaleFlags): Scales {
  const token = parseTokenUsd(flags.tokenUsd ?? "");
  const scales: Scales = {
    cpu: parseScale("cpu", flags.cpu, { token, pieces: MILLI }),
    memory: parseScale("memory", flags.memory, { token, pieces: GIB_IN_MIB }),
    storage: parseStorageScales(flags.storage, token),
    endpoint: parseScale("endpoint", flags.endpoint, { token, pieces: 1n }),
    ip: parseScale("ip", flags.ip, { token, pieces: 1n }),
  };
  const all = [scales.cpu, scales.memory, scales.endpoint, scales.ip, ...scales.storage.values()];
  if (all.every((scale) => scale === 0n)) {
    throw new Error("at least one bid price must be a non-zero number: set --bid-price-cpu-scale or one of its kind");
  }
  return scales;
}

/**
 * Sum of the resources' prices. Divisions round up at the 18th decimal, so that the sum never falls below the
 * provider's scales.
 */
export function scalePricing(scales: Scales, flags?: ScaleFlags): PricingStrategy {
  return {
    ...(flags === undefined ? {} : { flags }),
    description: `scale: ${describe(scales)}`,
    async price({ rows }) {
      if (rows.some(({ gpu }) => gpu > 0n))
        throw new Error("no pricing configured for GPUs: a price script can set one");
      const price = rows.reduce((sum, row) => sum + rowPrice(row, scales), 0n) + ipPrice(rows, scales);
      if (price === 0n) throw new Error("a bid of zero was produced");
      return price;
    },
  };
}

function rowPrice(row: RowNeed, scales: Scales): Dec {
  const memory = perMib(scales.memory * row.memory * row.count);
  const storage = row.volumes.reduce(
    (sum, volume) => sum + perMib(storageScale(volume, scales) * volume.bytes * row.count),
    0n,
  );
  return scales.cpu * row.cpu * row.count + memory + storage + scales.endpoint * BigInt(row.endpoints);
}

/** A leased address is paid once, however many services share it. */
function ipPrice(rows: readonly RowNeed[], scales: Scales): Dec {
  return scales.ip * BigInt(new Set(rows.flatMap((row) => row.leasedIps)).size);
}

function storageScale(volume: VolumeNeed, scales: Scales): Dec {
  const name = volume.persistent ? volume.class : EPHEMERAL;
  const scale = scales.storage.get(name);
  if (scale === undefined) throw new Error(`no pricing configured for storage class "${name}"`);
  return scale;
}

function perMib(value: bigint): Dec {
  return (value + MIB - 1n) / MIB;
}

/** How dollars become coins. */
interface Dollars {
  /** Dollars for a million coins; undefined if the operator has not said. */
  readonly token: Dec | undefined;
  /** Number of a scale's units in the unit of a price in dollars. */
  readonly pieces: bigint;
}

function parseScale(name: string, text: string, dollars: Dollars): Dec {
  const isUsd = text.endsWith(USD);
  const value = tryParseDec(text === "" ? "0" : isUsd ? text.slice(0, -USD.length) : text);
  if (value === undefined || value < 0n) {
    throw new Error(`--bid-price-${name}-scale takes a decimal that is not negative, not "${text}"`);
  }
  if (!isUsd) return value;
  if (dollars.token === undefined)
    throw new Error(`--bid-price-${name}-scale is in dollars: say what a token costs with --bid-price-token-usd`);
  return perBlock(value, dollars.token, dollars.pieces);
}

/** Rounded up at the 18th decimal, as the price is. */
function perBlock(usdMonth: Dec, token: Dec, pieces: bigint): Dec {
  const divisor = token * BLOCKS_PER_MONTH * pieces;
  return (usdMonth * COINS_PER_TOKEN * DEC_ONE + divisor - 1n) / divisor;
}

function parseTokenUsd(text: string): Dec | undefined {
  if (text === "") return undefined;
  const value = tryParseDec(text);
  if (value === undefined || value <= 0n)
    throw new Error(`--bid-price-token-usd takes a decimal above zero, not "${text}"`);
  return value;
}

function parseStorageScales(text: string, token: Dec | undefined): ReadonlyMap<string, Dec> {
  const scales = new Map<string, Dec>();
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [name = "", value = ""] = part.includes("=")
      ? part.split("=", 2).map((each) => each.trim())
      : [EPHEMERAL, part.trim()];
    checkStorageClass(name, part, scales);
    scales.set(name, parseScale("storage", value, { token, pieces: GIB_IN_MIB }));
  }
  return new Map([[EPHEMERAL, 0n], ...scales]);
}

function checkStorageClass(name: string, part: string, known: ReadonlyMap<string, Dec>): void {
  const flag = "--bid-price-storage-scale";
  if (!/^[\w.-]+$/.test(name)) throw new Error(`${flag} takes a name before =, such as beta1=0.002, not "${part}"`);
  if (known.has(name)) throw new Error(`${flag} has a price for "${name}" twice: write one, such as ${name}=0.002`);
}

function describe(scales: Scales): string {
  const storage = [...scales.storage].map(([name, scale]) => `${name} storage ${formatDecShort(scale)}/MiB`);
  return [
    `cpu ${formatDecShort(scales.cpu)}/mcpu`,
    `memory ${formatDecShort(scales.memory)}/MiB`,
    ...storage,
    `endpoint ${formatDecShort(scales.endpoint)}`,
    `ip ${formatDecShort(scales.ip)}`,
  ].join(", ");
}
