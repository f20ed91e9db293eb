/** For how long heights behind the last one can be read. */
export interface Pruning {
  /** Heights that are kept, the last one included; 0 = all. */
  readonly keepRecent: bigint;
  /** Heights are given up every so many blocks. */
  readonly interval: bigint;
}

/** The strategies by which operators of the ecosystem know them; `custom` has numbers of its own. */
export const PRUNING_STRATEGIES = {
  default: { keepRecent: 362_880n, interval: 10n },
  nothing: { keepRecent: 0n, interval: 10n },
  everything: { keepRecent: 2n, interval: 10n },
} as const satisfies Record<string, Pruning>;

/** The least that `custom` may say. */
export const MIN_KEEP_RECENT = 2n;
export const MIN_PRUNING_INTERVAL = 10n;

/** The lowest height to keep behind a block. */
export function lowestKept({ keepRecent }: Pruning, height: bigint): bigint {
  return keepRecent === 0n || height < keepRecent ? 0n : height - keepRecent + 1n;
}
