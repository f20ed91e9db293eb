export {
  AddressBook,
  type AddressLedger,
  type AddressState,
  addressPool,
  type Holders,
  type Holding,
  isSameHolding,
  leasedAddresses,
  MAX_POOL,
  NO_ADDRESSES,
  normalAddress,
  portTaken,
} from "./addresses/index.ts";
export { answersCheck, gpuCheck, known } from "./checks.ts";
export { ConnectionGuard, DEFAULT_PORT_LIMITS, halfOf, type PortLimits } from "./connection-guard.ts";
export { EventLog, streamEvents, tellNotKept } from "./eventlog.ts";
export { type Listeners, LocalCarrier } from "./local-carrier.ts";
export { LineBudget, lastLines, linesOf, MAX_LINE, OpenLine } from "./log-lines.ts";
export { mergedByTime } from "./merged.ts";
export { isPortFree, PortAllocator, type PortProbe } from "./port-allocator.ts";
export { type PortProxy, tcpProxy, udpProxy } from "./port-proxy.ts";
export { FORBIDDEN, isPublicAddress } from "./private/addresses.ts";
export { HostData } from "./private/host-data.ts";
export { LineQueue } from "./queue.ts";
export { type ImageReference, isRegistryHost, parseReference } from "./reference.ts";
export { type BackoffPolicy, DEFAULT_BACKOFF, restartDelay } from "./restarts/backoff.ts";
export { endedText, outOfMemoryText, shownBytes } from "./restarts/ends.ts";
export { checkImage, checkLeasedIps, checkMemory, checkPorts, checkServices, checkVolumes } from "./spec-rules.ts";
