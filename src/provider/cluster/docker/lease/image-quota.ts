import { clusterErrors } from "../../contract/index.ts";
import type { Images, WeighedImage } from "../images/images.ts";

/** A service of a lease is about to get an image. */
export interface ImageWish {
  /** That image, and those that the other services have. */
  readonly wanted: readonly WeighedImage[];
  /** Engine's ids of images that the lease had before, the oldest first. */
  readonly earlier: readonly string[];
  /** Those that the service has until the new one is ready; afterwards nothing needs them. */
  readonly leaving: ReadonlySet<string>;
  /** Bytes that all images of a lease may take. */
  readonly most: bigint;
}

/** Refuses images that take more than `most` bytes together. Those that services share count once. */
export function checkLeaseImages(images: readonly WeighedImage[], most: bigint): void {
  const total = totalOf(images);
  if (total <= most) return;
  throw clusterErrors.imageTooLarge(
    `the images of the lease take ${total >> 20n} MiB, this provider has ${most >> 20n} MiB for them; use smaller ones`,
  );
}

/**
 * Removes images that a lease had before until what it has on the disk is no more than it may be, then refuses the new one
 * where that was not enough. An image that a container still runs from stays, and counts.
 */
export async function makeRoomForImage(
  images: Pick<Images, "weightOf" | "heldFor" | "discard">,
  { wanted, earlier, leaving, most }: ImageWish,
): Promise<void> {
  const held = (ids: Iterable<string>) => [...ids].flatMap((id) => images.heldFor(id) ?? []);
  const running = [...leaving].flatMap((id) => images.weightOf(id) ?? []);
  const others = earlier.filter((id) => !leaving.has(id));
  for (const id of others) {
    if (totalOf([...wanted, ...running, ...held(others)]) <= most) break;
    await images.discard(id);
  }
  checkLeaseImages([...wanted, ...held(others)], most);
}

function totalOf(images: readonly WeighedImage[]): bigint {
  const bytes = new Map(images.map((image) => [image.config, BigInt(image.bytes)]));
  return [...bytes.values()].reduce((sum, each) => sum + each, 0n);
}
