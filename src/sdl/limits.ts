/**
 * Bounds of one replica and totals of one group; quantities in thousandths of a core and bytes, prices in whole units
 * of the denomination per block. The field names are those of the chain's parameters.
 */
export interface SdlLimits {
  readonly unitCpuMin: bigint;
  readonly unitCpuMax: bigint;
  readonly unitMemoryMin: bigint;
  readonly unitMemoryMax: bigint;
  /** Of each volume. */
  readonly unitStorageMin: bigint;
  readonly unitStorageMax: bigint;
  readonly unitGpuMax: bigint;
  readonly unitCountMax: number;
  readonly unitPriceMax: bigint;
  readonly groupUnitsMax: number;
  readonly groupsMax: number;
  readonly groupCpuMax: bigint;
  readonly groupMemoryMax: bigint;
  readonly groupStorageMax: bigint;
  readonly groupGpuMax: bigint;
}

/** Auditors that one group may name. */
export const MAX_AUDITORS = 64;

const MIB = 1024n ** 2n;
const TIB = 1024n ** 4n;

/** The defaults of the chain's parameters. */
export const DEFAULT_LIMITS: SdlLimits = {
  unitCpuMin: 10n,
  unitCpuMax: 384_000n,
  unitMemoryMin: MIB,
  unitMemoryMax: 2n * TIB,
  unitStorageMin: 5n * MIB,
  unitStorageMax: 32n * TIB,
  unitGpuMax: 24n,
  unitCountMax: 50,
  unitPriceMax: 10_000_000n,
  groupUnitsMax: 20,
  groupsMax: 20,
  groupCpuMax: 19_200_000n,
  groupMemoryMax: 100n * TIB,
  groupStorageMax: 1600n * TIB,
  groupGpuMax: 1200n,
};

/** Bytes in the largest unit that divides them. */
export function formatBytes(bytes: bigint): string {
  const units = ["", "Ki", "Mi", "Gi", "Ti"];
  let power = 0;
  let value = bytes;
  while (power < units.length - 1 && value !== 0n && value % 1024n === 0n) {
    value /= 1024n;
    power += 1;
  }
  return `${value}${units[power]}`;
}
