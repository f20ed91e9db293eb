/** The provider daemon, and the parts of it that commands use. */
export { type ChainView, chainView } from "./chain.ts";
export {
  type AllowedRegistry,
  type ClusterDriver,
  type ClusterKind,
  clusterKind,
  type FoundCluster,
  hostCluster,
  leaseNamespace,
  parseAllowedRegistry,
} from "./cluster/index.ts";
export { askProvider, type ControlOrder, type ControlState, isDraining, setDraining } from "./control/index.ts";
export type { IngressConfig, ProviderConfig } from "./daemon/index.ts";
export {
  type GatewayIdentity,
  knownChain,
  makeRoom,
  type ProviderRequest,
  type RunningProvider,
  runProvider,
} from "./daemon/index.ts";
export { networkTexts, normalHost, parseNetworks } from "./ingress/index.ts";
export { endPlane, PLANE_WORD, PlaneLink, type PlaneProgram, type PlaneSettings } from "./plane/index.ts";
export * from "./pricing/index.ts";
