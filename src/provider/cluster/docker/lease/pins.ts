import type { LeaseSpec } from "../../contract/index.ts";
import type { ImagePin, LeaseRecord } from "../journal.ts";

/**
 * The record with another specification; pins of removed services become the lease's earlier images. A failed update is
 * retried only by another manifest, not by a restarted daemon that deploys its record.
 */
export function withSpec(record: LeaseRecord, spec: LeaseSpec): LeaseRecord {
  const names = new Set(spec.group.services.map(({ name }) => name));
  const images = Object.fromEntries(Object.entries(record.images).filter(([name]) => names.has(name)));
  const failed = spec.generation === record.spec.generation ? record.failed : {};
  return { ...withImages(record, images), spec, failed };
}

/** The record with another image of a service. */
export function withPin(record: LeaseRecord, service: string, pin: ImagePin): LeaseRecord {
  return withImages(record, { ...record.images, [service]: pin });
}

/** The record without the earlier images that are no longer on the engine. */
export function withoutGone(record: LeaseRecord, isThere: (imageId: string) => boolean): LeaseRecord {
  return { ...record, earlier: record.earlier.filter(isThere) };
}

function withImages(record: LeaseRecord, images: LeaseRecord["images"]): LeaseRecord {
  const now = idsOf(images);
  const earlier = new Set([...record.earlier, ...idsOf(record.images)]);
  return { ...record, images, earlier: [...earlier].filter((id) => !now.has(id)) };
}

function idsOf(images: LeaseRecord["images"]): Set<string> {
  return new Set(Object.values(images).map(({ imageId }) => imageId));
}
