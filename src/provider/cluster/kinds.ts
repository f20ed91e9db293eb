import type { ClusterKind, HostCluster } from "./contract/index.ts";
import { dockerCluster } from "./docker/index.ts";
import { kubernetesCluster } from "./kubernetes/index.ts";

/** The kind of cluster that a single machine can be. */
export const hostCluster: HostCluster = dockerCluster;

/** Every kind of cluster that this release knows: a new driver is a folder beside this file and a name in this list. */
export const CLUSTER_KINDS: readonly ClusterKind[] = [hostCluster, kubernetesCluster];

/** The kind that the operator chose. */
export function clusterKind(wish: Pick<ClusterKind, "orchestrator">): ClusterKind {
  return CLUSTER_KINDS.find(({ orchestrator }) => orchestrator === wish.orchestrator) ?? hostCluster;
}
