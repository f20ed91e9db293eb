import fc from "fast-check";

export const IS_NIGHT = process.env.SVC_TEST_NIGHTLY !== undefined;

/** The size of what guards a statistical promise: small in `npm test`, and large in `npm run nightly`. */
export function sized(small: number, large: number): number {
  return IS_NIGHT ? large : small;
}

/** Rows of a table that takes minutes: every nth in `npm test`, all of them in `npm run nightly`. */
export function sampled<T>(rows: readonly T[], nth: number): readonly T[] {
  return rows.filter((_, i) => i % sized(nth, 1) === 0);
}

/** Rows of a table for one of several engines: `npm test` deals the rows out between the engines; at night each engine has all rows. */
export function inTurn<T>(rows: readonly T[], { at, of }: { readonly at: number; readonly of: number }): readonly T[] {
  return IS_NIGHT ? rows : rows.filter((_, i) => i % of === at);
}

/** Tests of `npm run nightly` alone. `npm test` does not register them, because a skipped test would be a fault there. */
export function atNight(define: () => void): void {
  if (IS_NIGHT) define();
}

/** Tests of what is the same for several engines: `npm test` has them for the first, and the night for each. */
export function onFirst(at: number, define: () => void): void {
  if (at === 0 || IS_NIGHT) define();
}

/** Random runs of a property: a few in `npm test`, ten times as many at night. */
export function runs(count: number): number {
  return count * Number(process.env.SVC_TEST_RUNS ?? "1");
}

const IS_WHOLE = process.env.SVC_TEST_WHOLE !== undefined;
const PART = 6;

/** Rows of a long table: every sixth among the unit tests, all among the slow ones. */
export function part<T>(rows: readonly T[]): readonly T[] {
  return IS_WHOLE ? rows : rows.filter((_, i) => i % PART === 0);
}

/** Tests that only the slow run of their file has. */
export function thorough(define: () => void): void {
  if (IS_WHOLE) define();
}

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x110000;

/** Texts of any characters. (The library's own take seconds, to build a table of all of them.) */
export function anyText(): fc.Arbitrary<string> {
  const character = fc.nat(CODE_POINTS - SURROGATES - 1).map((code) => {
    return String.fromCodePoint(code < FIRST_SURROGATE ? code : code + SURROGATES);
  });
  return fc.array(character).map((characters) => characters.join(""));
}
