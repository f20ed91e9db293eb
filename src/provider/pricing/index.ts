export { parseScales, type ScaleFlags, type Scales, scalePricing } from "./scale.ts";
export { type ScriptOptions, scriptPricing } from "./shell-script.ts";
export { type PriceRequest, type PricingStrategy, randomRangePricing } from "./strategy.ts";
