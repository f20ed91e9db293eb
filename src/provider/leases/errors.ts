import { defineErrors } from "../../util/index.ts";

/** Refusals of manifests and requests for leases; each is preceded by its detail. */
export const leaseErrors = defineErrors("lease", {
  notFound: [2, "you have no active lease with these numbers at this provider"],
  noManifest: [3, "the lease has no manifest yet", "send it with: svc provider send-manifest FILE --dseq NUMBER"],
  busy: [4, "another manifest of this deployment is being processed", "try again in a moment"],
  versionMismatch: [
    5,
    "the manifest is not the one that the deployment on the chain names",
    "send the file that the deployment was created with, or update the deployment first: svc tx deployment update FILE --dseq NUMBER",
  ],
  hostMissing: [8, "an HTTP service must have a hostname on this provider", "add a name of your own under accept"],
  unknownService: [10, "the lease has no such service"],
  closing: [11, "the lease is being closed"],
  notReady: [12, "the destination has no replica that is ready", "wait until lease-status shows one, then try again"],
  migrating: [14, "your host names are already being migrated", "try again in a moment"],
  noAddress: [15, "none of your deployments has an address of that name at this provider"],
  addressesMigrating: [16, "your leased addresses are already being migrated", "try again in a moment"],
  noEndpoint: [13, "the manifest of the destination has no such leased address"],
});
