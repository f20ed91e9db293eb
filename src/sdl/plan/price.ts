import {
  type Dec,
  type DecimalCoin,
  DISPLAY_DENOM,
  DISPLAY_EXPONENT,
  decFromInt,
  formatDecShort,
  NATIVE_DENOM,
} from "../../util/index.ts";
import type { GroupSpec } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";

const HOUR_MS = 3_600_000n;
const DAY_MS = 24n * HOUR_MS;
/** A twelfth of 365.25 days. */
const MONTH_MS = 2_629_800_000n;

/** A price per block converted to longer times. */
export interface PriceOverTime {
  readonly denom: string;
  readonly perBlock: Dec;
  readonly perHour: Dec;
  readonly perDay: Dec;
  readonly perMonth: Dec;
}

/**
 * A price per block as an amount per hour, day and month.
 * @param price per block, scaled 10^18
 * @param blockSeconds the measured time between blocks, above zero; counted to the millisecond
 */
export function priceOverTime(price: DecimalCoin, blockSeconds: number): PriceOverTime {
  const milliseconds = BigInt(Math.max(1, Math.round(blockSeconds * 1000)));
  return {
    denom: price.denom,
    perBlock: price.amount,
    perHour: (price.amount * HOUR_MS) / milliseconds,
    perDay: (price.amount * DAY_MS) / milliseconds,
    perMonth: (price.amount * MONTH_MS) / milliseconds,
  };
}

/** The highest price of a group per block: the sum over its rows of price x count. */
export function groupPrice(group: GroupSpec): DecimalCoin {
  const rows = group.resources;
  const amount = rows.reduce((sum, { price, count }) => sum + BigInt(price?.amount ?? "0") * BigInt(count), 0n);
  return { denom: rows[0]?.price?.denom ?? "", amount };
}

/**
 * For people: four significant digits, but never fewer than all whole ones; large native amounts in the display unit.
 */
export function formatPrice({ denom, amount }: DecimalCoin): string {
  const display = 10n ** BigInt(DISPLAY_EXPONENT);
  if (denom === NATIVE_DENOM && amount >= decFromInt(display / 100n)) {
    return `${formatDecShort(roundSignificant(amount / display))} ${DISPLAY_DENOM}`;
  }
  return `${formatDecShort(roundSignificant(amount))} ${denom}`;
}

const SIGNIFICANT_DIGITS = 4;

/** Half up; digits before the point are kept. */
function roundSignificant(value: Dec): Dec {
  const surplus = Math.min(18, value.toString().length - SIGNIFICANT_DIGITS);
  if (surplus <= 0) return value;
  const unit = 10n ** BigInt(surplus);
  return ((value + unit / 2n) / unit) * unit;
}
