import { describe, expect, test } from "vitest";
import {
  DEC_ONE,
  decFromInt,
  decMul,
  decMulTruncate,
  decQuo,
  decQuoRoundUp,
  decQuoTruncate,
  decTruncate,
  parseDec,
} from "./decimal.ts";

const dec = parseDec;

describe("decimals of 18 digits", () => {
  test("are multiplied with the half to the even digit, or cut", () => {
    // 0.000000000000000005 and 0.000000000000000015, times a tenth: a half of the last digit.
    expect([decMul(5n, dec("0.1")), decMul(15n, dec("0.1")), decMul(25n, dec("0.1"))]).toEqual([0n, 2n, 2n]);
    expect([decMul(-5n, dec("0.1")), decMul(-15n, dec("0.1")), decMul(-16n, dec("0.1"))]).toEqual([0n, -2n, -2n]);
    expect([decMulTruncate(15n, dec("0.1")), decMulTruncate(19n, dec("0.1"))]).toEqual([1n, 1n]);
    expect(decMul(dec("1.5"), dec("2.5"))).toBe(dec("3.75"));
  });

  test("are divided with the half to the even digit, cut, or rounded up", () => {
    const [one, three] = [DEC_ONE, decFromInt(3n)];
    expect(decQuo(one, three)).toBe(dec("0.333333333333333333"));
    expect(decQuo(decFromInt(2n), three)).toBe(dec("0.666666666666666667"));
    expect(decQuoTruncate(decFromInt(2n), three)).toBe(dec("0.666666666666666666"));
    expect(decQuoRoundUp(one, three)).toBe(dec("0.333333333333333334"));
    expect(decQuoRoundUp(decFromInt(6n), three)).toBe(decFromInt(2n));
    expect([decQuo(1n, decFromInt(2n)), decQuo(3n, decFromInt(2n))]).toEqual([0n, 2n]);
    expect(decTruncate(dec("-1.9"))).toBe(-1n);
  });
});
