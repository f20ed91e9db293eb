export { type BlockEvent, type MarketEvent, marketEvents } from "./events.ts";
export { highestPrice, type Offer } from "./filters.ts";
export type { OrderPhase, OrderStatus } from "./order.ts";
export { type OrderChain, OrderService } from "./service.ts";
