import type { ManifestExpose, ManifestService } from "../../../sdl/index.ts";

/** Port under which others reach the expose: `as`, or the container port where `as` is not given. */
export function externalPort(expose: ManifestExpose): number {
  return expose.externalPort === 0 ? expose.port : expose.externalPort;
}

/** Whether the ingress serves the expose by host name: global TCP at external port 80. */
export function isHttpExpose(expose: ManifestExpose): boolean {
  return expose.global && expose.proto === "TCP" && externalPort(expose) === 80;
}

/** Whether the expose gets a port of the host: global and not HTTP. */
export function isNodePortExpose(expose: ManifestExpose): boolean {
  return expose.global && !isHttpExpose(expose);
}

/** Whether the volume keeps its content over updates and restarts. */
export function isPersistent(storage: ManifestService["resources"]["storage"][number]): boolean {
  return attribute(storage.attributes, "persistent") === "true";
}

/** Whether the volume lives in memory. */
export function isRam(storage: ManifestService["resources"]["storage"][number]): boolean {
  return attribute(storage.attributes, "class") === "ram";
}

function attribute(
  attributes: readonly { readonly key: string; readonly value: string }[] | undefined,
  key: string,
): string | undefined {
  return attributes?.find((entry) => entry.key === key)?.value;
}
