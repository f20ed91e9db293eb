/** The provider daemon, and the parts of it that commands use. */
export { AUTHORITY, type CertificateSources, certificateFolders } from "./certificates/index.ts";
export { type ChainView, chainView } from "./chain.ts";
export {
  CLUSTER_KINDS,
  type Cluster,
  type ClusterCheck,
  type ClusterDriver,
  type ClusterInstallation,
  type ClusterKind,
  type ClusterSettings,
  clusterErrors,
  Fault,
  type FoundCluster,
  type InstalledObject,
  leaseNamespace,
  Unknown,
} from "./cluster/index.ts";
export {
  askProvider,
  type ControlOrder,
  type ControlState,
  changePrices,
  type Finding,
  isDraining,
  type OperatorFacts,
  readOperatorFacts,
  setDraining,
  tryPrices,
} from "./control/index.ts";
export type { IngressConfig, ProviderConfig, TlsConfig } from "./daemon/index.ts";
export {
  browserGateway,
  type GatewayIdentity,
  ingressTls,
  knownChain,
  makeRoom,
  type ProviderRequest,
  type RunningProvider,
  runProvider,
} from "./daemon/index.ts";
export { normalHost } from "./hostnames/index.ts";
export { Certificates, gatewayHost, tlsOrigin } from "./ingress/index.ts";
export { endPlane, hasPlane, PLANE_WORD, PlaneLink, type PlaneProgram, type PlaneSettings } from "./plane/index.ts";
export * from "./pricing/index.ts";
export { tryHost } from "./probe/index.ts";
export { isObstacle, OBSTACLES } from "./reasons.ts";
