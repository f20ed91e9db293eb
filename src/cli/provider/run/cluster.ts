import { existsSync } from "node:fs";
import { type ClusterKind, clusterKind, type FoundCluster } from "../../../provider/index.ts";
import type { Flags } from "../../command/flags.ts";
import { commandError } from "../../errors.ts";
import { CLUSTER } from "./settings.ts";

/** The cluster that the flags name, and where it is if they say that too. */
export interface ChosenKind {
  readonly kind: ClusterKind;
  readonly address: string | undefined;
}

/** Flags that choose a cluster. */
export const CLUSTER_FLAGS = [CLUSTER.clusterOrch, CLUSTER.clusterconfig, CLUSTER.clusterEngine];

/** A configuration file of an orchestrator says that there is one. */
export function chosenKind(flags: Flags): ChosenKind {
  const kind = clusterKind({ orchestrator: flags.bool("cluster-orch") || flags.given("clusterconfig") });
  const address = kind.orchestrator ? givenConfiguration(flags) : flags.optional("cluster-engine");
  return { kind, address };
}

/** The orchestrator's configuration file, where one is named. */
export function givenConfiguration(flags: Flags): string | undefined {
  const path = flags.optional("clusterconfig");
  if (path === undefined || existsSync(path)) return path;
  throw commandError(`there is no file ${path}`, { hint: "name the cluster's configuration with --clusterconfig" });
}

/** Looks where the flags say, or at the usual places. */
export function findCluster({ kind, address }: ChosenKind): Promise<FoundCluster> {
  return kind.find(address);
}
