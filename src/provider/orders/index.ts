export type { OrderChain } from "./options.ts";
export { ORDER_PHASES, type OrderEntry, type OrderPhase, type OrderStatus } from "./order.ts";
export { OrderService } from "./service.ts";
export { highestPrice, type Offer } from "./stages/filters.ts";
export { type BlockEvent, type MarketEvent, marketEvents } from "./stages/watch.ts";
