/** The one reader of the marketplace, for tenants and providers. */
export { found, saysNotFound } from "./not-found.ts";
export { type ChainQuery, type MarketFilter, type MarketReader, marketReader, type OrderPage } from "./reader.ts";
export { balanceNow, WEB_GATEWAY, webGateway } from "./records.ts";
export type * from "./types.ts";
