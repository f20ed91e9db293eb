import type { ManifestService } from "../../../../../sdl/index.ts";
import { isPersistent } from "../../../contract/index.ts";
import { claimName } from "../../objects/index.ts";
import { hindranceText } from "../../view/hindrances.ts";
import type { ObservedPod } from "../../view/pods.ts";
import type { ClusterView } from "../../view/view.ts";

/** Schedulers' messages about a pod that waits for volumes; there are none while its volume is being made. */
const UNBOUND = /PersistentVolumeClaims|persistentvolumeclaim "[^"]*" not found|\bVolumeBinding\b/;

type View = Pick<ClusterView, "volumeRefusal" | "hindrance">;

/** The obstacle to a pod's first start, for its tenant: volumes, a runtime. Undefined if unknown. */
export function waitError(view: View, service: ManifestService, pod: ObservedPod): string | undefined {
  return pod.placed ? nodeError(view, pod) : volumeError(view, service, pod);
}

function nodeError(view: View, pod: ObservedPod): string | undefined {
  if (pod.waiting?.reason !== "ContainerCreating" || pod.exit !== undefined) return undefined;
  const hindrance = view.hindrance(pod);
  return hindrance === undefined ? undefined : hindranceText(hindrance);
}

function volumeError(
  view: View,
  service: ManifestService,
  { namespace, name, trouble, ended }: ObservedPod,
): string | undefined {
  if (ended || (trouble !== undefined && !UNBOUND.test(trouble))) return undefined;
  for (const { name: volume } of service.resources.storage.filter(isPersistent)) {
    const reason = view.volumeRefusal(namespace, claimName(volume, name));
    if (reason !== undefined) return `the cluster does not make its volume "${volume}": ${reason}`;
  }
  return trouble === undefined ? undefined : "the cluster has not made its volumes yet; ask the provider if that lasts";
}
