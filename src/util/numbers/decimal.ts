/**
 * Fixed-point decimals with 18 digits, held as integers scaled by 10^18. Exact and deterministic: used for prices and
 * rates on the chain. Every division names its rounding.
 */
export type Dec = bigint;

export const DEC_DIGITS = 18;
export const DEC_ONE: Dec = 10n ** 18n;

/** Amounts on the chain stay below 2^256. */
export const MAX_AMOUNT = 2n ** 256n;

const DEC_PATTERN = /^(-?)(\d{1,78})(?:\.(\d{1,18}))?$/;
const INT_PATTERN = /^-?(0|[1-9]\d{0,77})$/;

/** Parses `12`, `0.5`, `-1.25`; at most 18 decimals. Returns undefined where the text is not such a number. */
export function tryParseDec(text: string): Dec | undefined {
  const match = DEC_PATTERN.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "0", fraction = ""] = match;
  const value = BigInt(whole) * DEC_ONE + BigInt(fraction.padEnd(DEC_DIGITS, "0"));
  return sign === "-" ? -value : value;
}

/** Reads a decimal such as `0.025` into an integer scaled by 10^18. Throws one clear sentence. */
export function parseDec(text: string): Dec {
  const value = tryParseDec(text);
  if (value === undefined)
    throw new Error(`invalid decimal "${text.slice(0, 80)}": write digits with at most 18 decimals`);
  return value;
}

/** Always 18 decimals: `1.250000000000000000`. */
export function formatDec(value: Dec): string {
  const digits = (value < 0n ? -value : value).toString().padStart(DEC_DIGITS + 1, "0");
  const split = digits.length - DEC_DIGITS;
  return `${value < 0n ? "-" : ""}${digits.slice(0, split)}.${digits.slice(split)}`;
}

/** Without trailing zeros: `1.25`, `3`. For people, not for wire formats. */
export function formatDecShort(value: Dec): string {
  return formatDec(value).replace(/\.?0+$/, "");
}

/** Canonical decimal integer text within the range of amounts, else undefined. Length is capped before conversion. */
export function tryParseInt(text: string): bigint | undefined {
  if (!INT_PATTERN.test(text) || text === "-0") return undefined;
  const value = BigInt(text);
  return value < MAX_AMOUNT && value > -MAX_AMOUNT ? value : undefined;
}

export function decFromInt(value: bigint): Dec {
  return value * DEC_ONE;
}

/** Largest integer not above a non-negative decimal. */
export function decFloor(value: Dec): bigint {
  return value >= 0n ? value / DEC_ONE : -((-value + DEC_ONE - 1n) / DEC_ONE);
}

/** Smallest integer not below the decimal. */
export function decCeil(value: Dec): bigint {
  return -decFloor(-value);
}

/** The product, rounded half to even at the last digit. */
export function decMul(a: Dec, b: Dec): Dec {
  return roundHalfEven(a * b);
}

/** The product, cut at the last digit. */
export function decMulTruncate(a: Dec, b: Dec): Dec {
  return (a * b) / DEC_ONE;
}

/** The quotient to 36 digits, rounded half to even at the last digit: the division of the ecosystem's chains. */
export function decQuo(a: Dec, b: Dec): Dec {
  return roundHalfEven((a * DEC_ONE * DEC_ONE) / b);
}

/** The quotient, cut at the last digit. */
export function decQuoTruncate(a: Dec, b: Dec): Dec {
  return (a * DEC_ONE) / b;
}

/** The quotient of two decimals that are not negative, rounded up at the last digit. */
export function decQuoRoundUp(a: Dec, b: Dec): Dec {
  return (a * DEC_ONE + b - 1n) / b;
}

/** The integer part, cut towards zero. */
export function decTruncate(value: Dec): bigint {
  return value / DEC_ONE;
}

/** A number with twice the digits brought to the usual ones; exactly between two the even one wins. */
function roundHalfEven(value: bigint): Dec {
  if (value < 0n) return -roundHalfEven(-value);
  const whole = value / DEC_ONE;
  const twice = (value - whole * DEC_ONE) * 2n;
  const isUp = twice > DEC_ONE || (twice === DEC_ONE && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}
