export { randomRangePricing } from "./random-range.ts";
export { parseScales, type ScaleFlags, type Scales, scalePricing } from "./scale.ts";
export { type ScriptOptions, scriptPricing } from "./shell-script.ts";
export type { PriceRequest, PricingStrategy } from "./strategy.ts";
