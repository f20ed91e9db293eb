import type { Duration } from "@bufbuild/protobuf/wkt";
import { toNanos } from "../../wire/index.ts";

/**
 * Limits on parameters that governance may set, so that it can always set others: within them a proposal of new
 * parameters, its deposit and a vote fit a block, and no time and no sum overflows.
 */

/** How many times dearer than on a new chain gas may become. */
const MOST_TIMES = 20n;
/** Gas of a block: a proposal of all parameters of any module takes a tenth of a million on a new chain. */
export const LEAST_BLOCK_GAS = 100_000n * MOST_TIMES;
/** Bytes of a block: enough for the votes of a thousand validators and some proposals. */
export const LEAST_BLOCK_BYTES = 262_144n;
/** Maximum supply that inflation may reach: the voting power of all coins stays below an engine's limit. */
export const MOST_SUPPLY = (2n ** 60n - 1n) * 1_000_000n;
/**
 * Maximum of a duration that is added to the time of a block: before the year 2162 the sum has less than 63 bits of
 * nanoseconds.
 */
const MOST_YEARS = 100n;
const YEAR = 365n * 86_400n * 1_000_000_000n;
const SECOND_NANOS = 1_000_000_000;

/** Faults of the limits of a block; -1 is no limit. */
export function blockProblems(block: { readonly maxBytes: bigint; readonly maxGas: bigint }): string[] {
  const isSmall = (value: bigint, least: bigint): boolean => value !== -1n && value < least;
  const why = "or the next proposal may not fit";
  return [
    ...(isSmall(block.maxBytes, LEAST_BLOCK_BYTES)
      ? [`block.max_bytes must be -1 or at least ${LEAST_BLOCK_BYTES}, ${why}`]
      : []),
    ...(isSmall(block.maxGas, LEAST_BLOCK_GAS)
      ? [`block.max_gas must be -1 or at least ${LEAST_BLOCK_GAS}, ${why}`]
      : []),
  ];
}

/** Faults of gas prices by their names, compared with a new chain's. */
export function priceProblems(
  prices: Readonly<Record<string, bigint>>,
  usual: Readonly<Record<string, bigint>>,
): string[] {
  return Object.entries(prices).flatMap(([name, price]) => {
    const most = (usual[name] ?? 0n) * MOST_TIMES;
    return price > most ? [`params.${name}: must be at most ${most}, or the next proposal may not fit a block`] : [];
  });
}

/** Faults of a duration. */
export function durationProblems(
  name: string,
  duration: Pick<Duration, "seconds" | "nanos"> | undefined,
  mostYears = MOST_YEARS,
): string[] {
  const isWhole = duration !== undefined && duration.nanos >= 0 && duration.nanos < SECOND_NANOS;
  const nanos = isWhole ? toNanos(duration) : 0n;
  return nanos > 0n && nanos <= mostYears * YEAR ? [] : [`${name}: must be positive and at most ${mostYears} years`];
}
