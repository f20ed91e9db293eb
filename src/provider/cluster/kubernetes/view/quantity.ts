const SUFFIXES: Readonly<Record<string, bigint>> = {
  "": 1_000n,
  m: 1n,
  k: 10n ** 6n,
  M: 10n ** 9n,
  G: 10n ** 12n,
  T: 10n ** 15n,
  P: 10n ** 18n,
  E: 10n ** 21n,
  Ki: 1_000n << 10n,
  Mi: 1_000n << 20n,
  Gi: 1_000n << 30n,
  Ti: 1_000n << 40n,
  Pi: 1_000n << 50n,
  Ei: 1_000n << 60n,
};
/** A mantissa with limited digits, and a limited power of ten. */
const PATTERN = /^(\d{1,24})(?:\.(\d{0,12}))?(?:([a-zA-Z]{0,2})|[eE]([-+]?\d{1,2}))$/;

/** Thousandths of a quantity as clusters write it (`100m`, `1.5`, `64Mi`, `1e3`), rounded down; anything else counts as zero. */
export function milliQuantity(text: unknown): bigint {
  const [, whole = "", fraction = "", suffix = "", power] = PATTERN.exec(typeof text === "string" ? text : "") ?? [];
  const scale = power === undefined ? SUFFIXES[suffix] : SUFFIXES[""];
  if (whole === "" || scale === undefined) return 0n;
  const exponent = Number(power ?? 0) - fraction.length;
  const amount = BigInt(`${whole}${fraction}`) * scale;
  return exponent >= 0 ? amount * 10n ** BigInt(exponent) : amount / 10n ** BigInt(-exponent);
}

/** The same in whole units. */
export function quantity(text: unknown): bigint {
  return milliQuantity(text) / 1_000n;
}
