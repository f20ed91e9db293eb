export { FRAME } from "./frames.ts";
export { DEFAULT_LIMITS, type GatewayLimits } from "./limits.ts";
export { Gateway, type GatewayOptions } from "./server.ts";
export type { GatewaySources, InventoryStatus, OrderAnswer, ResourceSum } from "./sources.ts";
export { CLOSE } from "./stream.ts";
