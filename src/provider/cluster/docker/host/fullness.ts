import { statfs } from "node:fs/promises";

/** A volume is full with a hundredth of its size left, and no longer so with a twentieth; of large ones, with these bytes. */
const FULL = { part: 100n, bytes: 16n << 20n } as const;
const FREE = { part: 20n, bytes: 80n << 20n } as const;
/** Overhead that a file system may have besides its size. */
const SLACK = 16n << 20n;

/** The missing resource of a full volume. */
export type Lack = "room" | "files";

interface SpaceQuery {
  /** Bytes that the volume was made with. */
  readonly size: bigint;
  /** Whether it was full when it was looked at last: then it needs more to count as free, so that it is not told again and again. */
  readonly wasFull: boolean;
  readonly measure?: Measure;
}

/**
 * The exhausted resource of the file system at the path; undefined if there is none, or if it is not the volume's own.
 */
export async function lackOf(path: string, { size, wasFull, measure = statfs }: SpaceQuery): Promise<Lack | undefined> {
  const space = await measure(path, { bigint: true }).catch(() => undefined);
  if (space === undefined || space.blocks * space.bsize > size + size / 4n + SLACK) return undefined;
  // The file system is larger than the volume by its own overhead; its last blocks take no large write.
  const beside = space.blocks * space.bsize - size;
  const left = space.bavail * space.bsize - (beside > 0n ? beside : 0n);
  const { part, bytes } = wasFull ? FREE : FULL;
  const share = size / part;
  if (left <= (share < bytes ? share : bytes)) return "room";
  return space.ffree <= (wasFull ? space.files / FREE.part : 0n) ? "files" : undefined;
}

type Measure = (
  path: string,
  options: { readonly bigint: true },
) => Promise<Record<"blocks" | "bsize" | "bavail" | "files" | "ffree", bigint>>;
