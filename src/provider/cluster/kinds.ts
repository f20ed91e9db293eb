import type { ClusterKind } from "./contract/index.ts";
import { dockerCluster } from "./docker/index.ts";
import { kubernetesCluster } from "./kubernetes/index.ts";

/** Every kind of cluster, the default first. A new driver is a folder beside this file and a name in this list. */
export const CLUSTER_KINDS: readonly [ClusterKind, ...ClusterKind[]] = [dockerCluster, kubernetesCluster];
