export { ChangeablePrices, type PriceChange, priceChange } from "./changeable.ts";
export { parseScales, type Scales, scalePricing } from "./scale.ts";
export { type ScriptOptions, scriptPricing } from "./shell-script.ts";
export { type PriceRequest, type PricingStrategy, randomRangePricing, type ScaleFlags } from "./strategy.ts";
