export { DEFAULT_LIMITS, type GatewayLimits } from "./limits.ts";
export { Gateway, type GatewayOptions } from "./server.ts";
export type { GatewaySources, InventoryStatus, OrderAnswer, ResourceSum } from "./sources.ts";
export { FRAME } from "./streams/frames.ts";
export { CLOSE } from "./streams/stream.ts";
