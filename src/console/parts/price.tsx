import { formatPrice, type PriceOverTime } from "../../sdl/index.ts";
import { t } from "../text/index.ts";

/** A price over a time, with that per block on hover. */
export function Per({ price, span }: { price: PriceOverTime; span: "perHour" | "perDay" | "perMonth" }) {
  const { denom, perBlock } = price;
  return (
    <span class="amount" title={t.value.perBlock(formatPrice({ denom, amount: perBlock }))}>
      {formatPrice({ denom, amount: price[span] })}
    </span>
  );
}
