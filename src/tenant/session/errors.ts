import { defineErrors } from "../../util/index.ts";

/** Errors between a deployment file and its containers. */
export const deployErrors = defineErrors("deploy", {
  noBids: [1, "no bid to accept"],
  notReady: [2, "the deployment is not ready"],
  leaseEnded: [3, "the lease has ended"],
  manifest: [4, "a provider did not accept the manifest"],
  changed: [5, "the deployment was made from another version of the file"],
  groupsChanged: [6, "groups cannot be changed"],
  noDeployment: [7, "no deployment to work on"],
  severalDeployments: [8, "several deployments are active", "say which one with --dseq"],
  noService: [9, "no such service"],
  funds: [10, "not enough funds"],
  closed: [11, "the deployment is closed"],
  interrupted: [12, "interrupted"],
  journal: [13, "unreadable record of a deployment"],
  cancelled: [15, "cancelled"],
  noLease: [14, "the deployment has no lease"],
  denom: [16, "another denomination"],
  deposit: [17, "the deposit is too small"],
  disproved: [18, "the chain proves otherwise", "the node lies or is behind: name another one with --node"],
});
