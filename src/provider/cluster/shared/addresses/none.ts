import { type ClusterAddresses, clusterErrors } from "../../contract/index.ts";

/** Of clusters whose leases have no IP addresses of their own. */
export const NO_ADDRESSES: ClusterAddresses = {
  async claim(_, endpoints) {
    if (endpoints.length > 0) throw clusterErrors.unsupported("leased IP addresses are not available here");
  },
  async retain() {},
  async migrate() {},
  heldBy: () => [],
  holdersOf: () => [],
};
