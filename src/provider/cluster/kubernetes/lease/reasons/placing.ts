/** Resources that a scheduler names as lacking. */
const LACKING = /\bInsufficient ([a-z0-9](?:[-a-z0-9./]{0,61}[a-z0-9])?)/g;

/**
 * Why no node takes a pod, for its tenant. Schedulers' messages describe nodes, their labels and taints, so only the
 * names of resources are kept.
 */
export function placingText(message: string): string {
  const lacking = new Set([...message.matchAll(LACKING)].map(([, resource]) => plainName(resource ?? "")));
  if (/\bToo many pods\b/.test(message)) lacking.add("pods");
  if (lacking.size === 0) return "no node of the provider takes it now; ask the provider if that lasts";
  const words = [...lacking].join(", ");
  return `no node of the provider has room for it now (${words}): it starts when there is; ask the provider if that lasts`;
}

function plainName(resource: string): string {
  if (resource === "ephemeral-storage") return "storage";
  return /^[a-z]+\.com\/gpu$/.test(resource) ? "gpu" : resource;
}

/** Why a node ended a pod for good, for its tenant. */
export function evictedText(message: string): string {
  if (/ephemeral.{0,80}storage.{0,80}exceeds|EmptyDir volume .{0,300}exceeds/i.test(message))
    return "its ephemeral storage was exceeded, so it was ended: write less, or give its profile more storage";
  const [, resource] = /node was low on resource: ([a-z-]{1,40})/.exec(message) ?? [];
  if (resource === undefined) return "its node ended it and another takes its place; ask the provider if that lasts";
  return `its node ran out of ${plainName(resource)} and ended it: another takes its place; ask the provider if that lasts`;
}
