export { ADDRESS_HELD, addressName, addressObjects, leasedIpObject, leasedServices } from "./addresses.ts";
export { ingressObjects, routeObjects } from "./ingress.ts";
export { GROUP, GROUP_VERSION, KIND, LEASES_SPACE, type Wanted, wanted } from "./kinds.ts";
export { type LeaseRun, leaseObjects } from "./lease.ts";
export { hostObjects, type ManifestEnd, manifestObject } from "./manifest.ts";
export {
  GPU_LABEL,
  LABEL,
  labelValue,
  leasedIpName,
  leaseLabels,
  leaseOfNamespace,
  nodePortsName,
  volumeName,
  workloadName,
} from "./names.ts";
export { CONTAINER, podConfig } from "./pod/pod.ts";
export { gpuResource, gpuVendors } from "./pod/resources.ts";
export { claimName, DEFAULT_CLASS, hasPersistent, storageClass } from "./pod/volumes.ts";
export { innerPorts } from "./services.ts";
export { LINGER_MS, type ObjectSettings } from "./settings.ts";
export { namespaceObject } from "./space.ts";
