import { mapValues } from "../util/index.ts";
/**
 * Limits of one replica and of one group in total: quantities in thousandths of a core and bytes, prices in whole units
 * of the denomination per block. Field names equal the chain's parameters. `group_bytes_max` and the fields after it
 * limit the text of a group, and thereby the work of everyone who reads it.
 */
export interface SdlLimits {
  readonly unitCpuMin: bigint;
  readonly unitCpuMax: bigint;
  readonly unitMemoryMin: bigint;
  readonly unitMemoryMax: bigint;
  /** Minimum size of each volume. */
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
  /** Maximum size of the encoded spec. */
  readonly groupBytesMax: number;
  readonly groupNameMax: number;
  readonly groupAuditorsMax: number;
  readonly groupAttributesMax: number;
  /** Maximum number of attributes of each kind of resource, and of each volume. */
  readonly unitAttributesMax: number;
  readonly attributeKeyMax: number;
  readonly attributeValueMax: number;
  readonly unitVolumesMax: number;
  readonly volumeNameMax: number;
  readonly unitEndpointsMax: number;
}

/** Names of the limits on how long the parts of a group may be. */
export type SizeLimit = Extract<
  keyof SdlLimits,
  | "groupBytesMax"
  | "groupNameMax"
  | "groupAuditorsMax"
  | "groupAttributesMax"
  | "unitAttributesMax"
  | "attributeKeyMax"
  | "attributeValueMax"
  | "unitVolumesMax"
  | "volumeNameMax"
  | "unitEndpointsMax"
>;

/** Default and highest value of such a limit: gas prices are measured up to the highest. */
export const SIZE_LIMITS: Readonly<Record<SizeLimit, { readonly default: number; readonly most: number }>> = {
  groupBytesMax: { default: 16_384, most: 32_768 },
  groupNameMax: { default: 64, most: 256 },
  groupAuditorsMax: { default: 16, most: 64 },
  groupAttributesMax: { default: 64, most: 256 },
  unitAttributesMax: { default: 64, most: 256 },
  attributeKeyMax: { default: 127, most: 127 },
  attributeValueMax: { default: 256, most: 1024 },
  unitVolumesMax: { default: 16, most: 256 },
  volumeNameMax: { default: 64, most: 256 },
  unitEndpointsMax: { default: 64, most: 1024 },
};

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
  ...sizeDefaults(),
};

function sizeDefaults(): Pick<SdlLimits, SizeLimit> {
  return mapValues(SIZE_LIMITS, (limit) => limit.default);
}

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
