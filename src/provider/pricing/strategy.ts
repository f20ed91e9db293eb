import { randomBytes } from "node:crypto";
import { DEC_ONE, type Dec, toHex } from "../../util/index.ts";
import type { RowNeed } from "../inventory/index.ts";

/** The flags of the same names. */
export interface ScaleFlags {
  readonly cpu: string;
  readonly memory: string;
  /** `0.001` or `0.001,beta1=0.002,default=0.003`; the bare number is for storage that does not persist. */
  readonly storage: string;
  readonly endpoint: string;
  readonly ip: string;
  /** US dollars for a million of the smallest coin; empty where no price is in dollars. */
  readonly tokenUsd?: string;
}

const GIB = 1n << 30n;
const MIN_PER_GIB = 50n;
const MAX_PER_GIB = 1_048_576n;

/** Input of a strategy: the rows of an order, its tenant and the tenant's maximum price. */
export interface PriceRequest {
  readonly owner: string;
  readonly rows: readonly RowNeed[];
  readonly denom: string;
  /** Highest price per block for the whole group, scaled 10^18. */
  readonly maxPrice: Dec;
}

/** Prices an order per block for the whole group, scaled 10^18. Rejects with one sentence if it has no price. */
export interface PricingStrategy {
  /** One line for the start of the log. */
  readonly description: string;
  /** Prices as the operator wrote them; only where they are all that decides. */
  readonly flags?: ScaleFlags | undefined;
  price(request: PriceRequest): Promise<Dec>;
}

/** A price between two bounds that follow from the requested memory; for trials of a market, not for business. */
export function randomRangePricing(random: () => bigint = randomUint64): PricingStrategy {
  return {
    description: "randomRange: between 50 and 1048576 per GiB of memory, at most the tenant's price",
    async price({ rows, maxPrice }) {
      const memory = rows.reduce((sum, row) => sum + row.memory * row.count, 0n);
      const low = atLeastOne((memory * MIN_PER_GIB * DEC_ONE) / GIB);
      const high = atLeastOne(smaller((memory * MAX_PER_GIB * DEC_ONE) / GIB, maxPrice));
      return high <= low ? low : low + ((high - low) * random()) / (1n << 64n);
    },
  };
}

function randomUint64(): bigint {
  return BigInt(`0x${toHex(randomBytes(8))}`);
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function atLeastOne(value: bigint): bigint {
  return value < DEC_ONE ? DEC_ONE : value;
}
