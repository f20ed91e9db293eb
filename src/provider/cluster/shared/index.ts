export { type BackoffPolicy, DEFAULT_BACKOFF, restartDelay } from "./backoff.ts";
export { ConnectionGuard, DEFAULT_PORT_LIMITS, type PortLimits } from "./connection-guard.ts";
export { EventLog, streamEvents } from "./eventlog.ts";
export { type Listeners, LocalCarrier } from "./local-carrier.ts";
export { PortAllocator, type PortProbe } from "./port-allocator.ts";
export { type PortProxy, tcpProxy, udpProxy } from "./port-proxy.ts";
export { LineQueue } from "./queue.ts";
export { type ImageReference, isRegistryHost, parseReference } from "./reference.ts";
export { checkImage, checkMemory, checkNoLeasedIps, checkPorts, checkServices, checkVolumes } from "./spec-rules.ts";
