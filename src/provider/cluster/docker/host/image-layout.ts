/** Whether it must survive a crash of the host undamaged. */
export interface ImageKind {
  readonly journal: boolean;
}

const BLOCK = 4096n;
const INODE = 256n;
/** A file system has one inode for so many bytes of its size, within the bounds below. */
const BYTES_PER_INODE = 16_384n;
const INODES = { least: 1_024n, most: 1n << 22n };
const JOURNAL = 4n << 20n;
/** Superblock, descriptors, bitmaps and the first folders. */
const FIXED = 1n << 20n;

/** How an ext4 image is made that has room for files of `size` bytes altogether, and for hardly more. */
export interface ImageLayout {
  /** Length of the image. */
  readonly bytes: bigint;
  /** Of `mkfs.ext4`. */
  readonly options: readonly string[];
}

/**
 * What the file system keeps for itself comes on top of the size: a volume of 64 MiB holds 64 MiB. The number of inodes
 * grows with the size, so that small files are limited as well.
 */
export function imageLayout(size: bigint, { journal }: ImageKind): ImageLayout {
  const inodes = clamp(size / BYTES_PER_INODE);
  const own = inodes * INODE + (journal ? JOURNAL : 0n) + FIXED + size / 256n;
  const bytes = ((size + own + BLOCK - 1n) / BLOCK) * BLOCK;
  const features = journal ? ["-J", "size=4", "-O", "^resize_inode"] : ["-O", "^resize_inode,^has_journal"];
  return { bytes, options: ["-m", "0", "-b", BLOCK.toString(), "-N", inodes.toString(), ...features] };
}

function clamp(inodes: bigint): bigint {
  if (inodes < INODES.least) return INODES.least;
  return inodes > INODES.most ? INODES.most : inodes;
}
