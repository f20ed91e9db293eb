import type { ManifestService, ManifestStorage } from "../../../../../sdl/index.ts";
import { isPersistent, isRam } from "../../../contract/index.ts";
import { volumeName } from "../names.ts";

/** The class that stands for the cluster's own choice. */
export const DEFAULT_CLASS = "default";

interface Mounted {
  readonly storage: ManifestStorage;
  readonly mount: string;
  readonly readOnly: boolean;
}

function mounted({ resources, params }: ManifestService): Mounted[] {
  return resources.storage.flatMap((storage) => {
    const target = (params?.storage ?? []).find(({ name }) => name === storage.name);
    return target === undefined ? [] : [{ storage, mount: target.mount, readOnly: target.readOnly }];
  });
}

/** Whether any volume of the service keeps its content. */
export function hasPersistent(service: ManifestService): boolean {
  return service.resources.storage.some(isPersistent);
}

export function mountsOf(service: ManifestService) {
  return mounted(service).map(({ storage, mount, readOnly }) => ({
    name: volumeName(storage.name),
    mountPath: mount,
    ...(readOnly ? { readOnly } : {}),
  }));
}

/** Volumes that end with their pod. */
export function volumesOf(service: ManifestService) {
  return mounted(service)
    .filter(({ storage }) => !isPersistent(storage))
    .map(({ storage }) => ({
      name: volumeName(storage.name),
      emptyDir: { ...(isRam(storage) ? { medium: "Memory" } : {}), sizeLimit: storage.size.val },
    }));
}

/**
 * Claims of each replica, which outlive its pods. A cluster does not change them later, so they depend on the order
 * alone: not on an update's mounts, nor on their order.
 */
export function claimsOf({ resources }: ManifestService) {
  return resources.storage
    .filter(isPersistent)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((storage) => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: volumeName(storage.name) },
      spec: {
        accessModes: ["ReadWriteOnce"],
        ...classOf(storage),
        resources: { requests: { storage: storage.size.val } },
      },
    }));
}

/** Name of the claim that a pod has for a volume. */
export function claimName(volume: string, pod: string): string {
  return `${volumeName(volume)}-${pod}`;
}

/** Storage class of a volume as its tenant wrote it. */
export function storageClass({ attributes }: ManifestStorage): string {
  return attributes?.find(({ key }) => key === "class")?.value ?? DEFAULT_CLASS;
}

function classOf(storage: ManifestStorage): object {
  const name = storageClass(storage);
  return name === DEFAULT_CLASS ? {} : { storageClassName: name };
}
