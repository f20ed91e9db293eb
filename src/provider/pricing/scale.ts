import { type Dec, formatDecShort, tryParseDec } from "../../util/index.ts";
import type { RowNeed, VolumeNeed } from "../inventory/index.ts";
import type { PricingStrategy } from "./strategy.ts";

const MIB = 1n << 20n;
const EPHEMERAL = "ephemeral";

/** Prices per block and unit, scaled 10^18: thousandths of a core, MiB, MiB of a storage class, endpoint, leased IP. */
export interface Scales {
  readonly cpu: Dec;
  readonly memory: Dec;
  readonly storage: ReadonlyMap<string, Dec>;
  readonly endpoint: Dec;
  readonly ip: Dec;
}

/** The flags of the same names. */
export interface ScaleFlags {
  readonly cpu: string;
  readonly memory: string;
  /** `0.001` or `0.001,beta1=0.002,default=0.003`; the bare number is for storage that does not persist. */
  readonly storage: string;
  readonly endpoint: string;
  readonly ip: string;
}

export function parseScales(flags: ScaleFlags): Scales {
  const scales: Scales = {
    cpu: parseScale("cpu", flags.cpu),
    memory: parseScale("memory", flags.memory),
    storage: parseStorageScales(flags.storage),
    endpoint: parseScale("endpoint", flags.endpoint),
    ip: parseScale("ip", flags.ip),
  };
  const all = [scales.cpu, scales.memory, scales.endpoint, scales.ip, ...scales.storage.values()];
  if (all.every((scale) => scale === 0n)) {
    throw new Error("at least one bid price must be a non-zero number: set --bid-price-cpu-scale or one of its kind");
  }
  return scales;
}

/**
 * Sum of what each resource costs. Divisions round up at the 18th decimal, so that the sum never falls below the
 * provider's scales.
 */
export function scalePricing(scales: Scales): PricingStrategy {
  return {
    description: `scale: ${describe(scales)}`,
    async price({ rows }) {
      if (rows.some(({ gpu }) => gpu > 0n))
        throw new Error("no pricing configured for GPUs: a price script can have one");
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

function parseScale(name: string, text: string): Dec {
  const value = tryParseDec(text === "" ? "0" : text);
  if (value === undefined || value < 0n) {
    throw new Error(`--bid-price-${name}-scale takes a decimal that is not negative, not "${text}"`);
  }
  return value;
}

function parseStorageScales(text: string): ReadonlyMap<string, Dec> {
  const scales = new Map<string, Dec>([[EPHEMERAL, 0n]]);
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [name, value] = part.includes("=") ? part.split("=", 2) : [EPHEMERAL, part];
    scales.set((name ?? "").trim(), parseScale("storage", (value ?? "").trim()));
  }
  return scales;
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
