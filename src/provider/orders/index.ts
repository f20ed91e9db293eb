export { type BlockEvent, type MarketEvent, marketEvents } from "./events.ts";
export { highestPrice, type Offer } from "./filters.ts";
export type { Patience } from "./giving-way.ts";
export type { OrderChain } from "./options.ts";
export { ORDER_PHASES, type OrderEntry, type OrderPhase, type OrderStatus } from "./order.ts";
export { OrderService } from "./service.ts";
