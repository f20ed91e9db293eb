import type { ManifestService } from "../../../../../sdl/index.ts";
import { type LeaseSpec, leaseNamespace } from "../../../contract/index.ts";
import { KIND, type Wanted, wanted } from "../kinds.ts";
import { LABEL, leaseLabels, podSelector, workloadName } from "../names.ts";
import type { ObjectSettings } from "../settings.ts";
import { podTemplate } from "./pod.ts";
import { claimsOf, hasPersistent } from "./volumes.ts";

/** How a service is run besides what its manifest says. */
export interface RunOptions {
  /** How often the tenant had it started again. */
  readonly restarts: number;
  /** How many replicas it has for now. */
  readonly replicas: number;
}

/**
 * The object that keeps the replicas of a service running. Replicas without a volume of their own are replaced one by
 * one, the new one first; two cannot share a volume, so with one the old goes first.
 */
export function workload(
  spec: LeaseSpec,
  service: ManifestService,
  settings: ObjectSettings,
  { restarts, replicas }: RunOptions,
): Wanted {
  const namespace = leaseNamespace(spec.id);
  const labels = { ...leaseLabels(settings.provider, spec.id), [LABEL.service]: service.name };
  const metadata = { name: workloadName(service.name), namespace, labels };
  const common = {
    replicas,
    revisionHistoryLimit: 1,
    // A program that ends at once must not count as the new version.
    minReadySeconds: 1,
    selector: { matchLabels: podSelector(namespace, service.name) },
    template: podTemplate(spec, service, settings, restarts),
  };
  if (!hasPersistent(service)) {
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
    return wanted(KIND.deployment, metadata, { spec: { ...common, strategy } });
  }
  return wanted(KIND.statefulSet, metadata, {
    spec: {
      ...common,
      serviceName: service.name,
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate" },
      volumeClaimTemplates: claimsOf(service),
    },
  });
}
