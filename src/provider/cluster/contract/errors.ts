import { defineErrors, isOneOf } from "../../../util/index.ts";

/** Refusals and faults of clusters; the detail in front gives the value and the remedy. */
export const clusterErrors = defineErrors("cluster", {
  notFound: [2, "no container engine answers"],
  unreachable: [3, "the cluster does not answer", "start it; workloads and their state are kept"],
  refused: [4, "the cluster refused the request"],
  unsupported: [5, "this provider cannot run the deployment"],
  firewall: [
    6,
    "network rules that keep tenants off the host cannot be set",
    "run the provider as root on Linux with nftables installed",
  ],
  imageRefused: [7, "the image is not allowed on this provider"],
  staleGeneration: [8, "a newer manifest of the lease is already in force"],
  unknownLease: [9, "the lease has no workload here"],
  noReplica: [10, "no running replica"],
  closing: [11, "the lease is being removed"],
  noPorts: [12, "no host port is left", "deploy with fewer global ports, or at another provider"],
  imageNotFound: [13, "no such image"],
  registryRefused: [14, "the registry refused"],
  registryNotAllowed: [15, "the registry is not allowed"],
  registryUnreachable: [16, "the registry does not answer"],
  imageTooLarge: [17, "the image is too large"],
  imageInvalid: [18, "the image cannot be used"],
  noRoom: [19, "the provider has no room for the image"],
  notInstalled: [
    20,
    "the cluster is not prepared for a provider",
    "run svc provider cluster install as an administrator of the cluster",
  ],
  noAddresses: [21, "no IP address is left", "deploy with fewer leased addresses, or at another provider"],
  partMissing: [22, "the cluster lacks, or does not have ready, what a setting of the provider names"],
});

const LASTING = [
  clusterErrors.unsupported,
  clusterErrors.imageRefused,
  clusterErrors.staleGeneration,
  clusterErrors.noPorts,
  clusterErrors.noAddresses,
];

/** Whether the same manifest will meet the refusal again, whatever the time: the tenant has to change something. */
export function isLasting(error: unknown): boolean {
  return isOneOf(LASTING, error);
}
