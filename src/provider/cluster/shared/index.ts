export { type BackoffPolicy, DEFAULT_BACKOFF, restartDelay } from "./backoff.ts";
export { checkSpec, MIN_MEMORY } from "./check-spec.ts";
export { streamEvents } from "./event-stream.ts";
export { EventLog } from "./eventlog.ts";
export { type PortProxy, tcpProxy, udpProxy } from "./port-proxy.ts";
export { LineQueue } from "./queue.ts";
export { type ImageReference, isRegistryHost, parseReference } from "./reference.ts";
