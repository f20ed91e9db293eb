import { formatPrice, type PriceOverTime } from "../../sdl/index.ts";
import { type DecimalCoin, DISPLAY_DENOM, DISPLAY_EXPONENT, NATIVE_DENOM } from "../../util/index.ts";
import { t } from "../text/index.ts";

/** A price over a time, with that per block as the chain has it on hover. */
export function Per({ price, span }: { price: PriceOverTime; span: "perHour" | "perDay" | "perMonth" }) {
  const { denom, perBlock } = price;
  return (
    <span class="amount" title={t.value.perBlock(formatPrice({ denom, amount: perBlock }))}>
      {priceText({ denom, amount: price[span] })}
    </span>
  );
}

/** A price in the unit in which pages show all amounts, however small it is. */
export function priceText({ denom, amount }: DecimalCoin): string {
  if (denom !== NATIVE_DENOM) return formatPrice({ denom, amount });
  return formatPrice({ denom: DISPLAY_DENOM, amount: amount / 10n ** BigInt(DISPLAY_EXPONENT) });
}
