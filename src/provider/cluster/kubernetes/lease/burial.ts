import type { DriverContext } from "../context.ts";
import { KIND } from "../objects/index.ts";
import type { ObservedPod } from "../view/pods.ts";
import { shown } from "./manifest.ts";

/** Ended pods of a service that stay, for those who look for the reason. */
const KEPT = 3;

/** Removes what nodes have ended but the last few of each service: a cluster keeps thousands of them. */
export async function buryPods(context: DriverContext, namespace: string): Promise<void> {
  const ended = context.view.pods(namespace).filter((pod) => pod.ended && !pod.terminating);
  const services = new Set(ended.map(({ service }) => service));
  const old = [...services].flatMap((name) => olderOnes(ended.filter(({ service }) => service === name)));
  if (old.length === 0) return;
  await shown(context, "ended pods of a lease are not removed", async () => {
    for (const { name, uid } of old) await context.api.delete(KIND.pod, { namespace, name }, { uid });
  });
}

function olderOnes(pods: readonly ObservedPod[]): ObservedPod[] {
  return [...pods].sort((a, b) => b.createdAt - a.createdAt).slice(KEPT);
}
