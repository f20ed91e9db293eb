import { beforeAll, describe, expect, it, vi } from "vitest";
import { parseDec } from "../../util/index.ts";

let text: typeof import("./text.tsx");
let price: typeof import("./price.tsx");
beforeAll(async () => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => {});
  text = await import("./text.tsx");
  price = await import("./price.tsx");
  vi.unstubAllGlobals();
});

describe("numbers on pages", () => {
  it("stand in groups of three", () => {
    expect([0n, 999n, 1000n, 1234567n].map((each) => text.grouped(each))).toEqual([
      "0",
      "999",
      "1\u202f000",
      "1\u202f234\u202f567",
    ]);
  });

  it("are exact, and say so where nine places are too few", () => {
    expect(text.decimal(1_500_000n, 6)).toBe("1.5");
    expect(text.decimal(-5n, 1)).toBe("−0.5");
    expect(text.decimal(1n, 6)).toBe("0.000001");
    expect(text.decimal(2_446_453_379_123_456_789n, 18)).toBe("2.446453379…");
    expect(text.decimal(10n ** 30n, 6)).toBe(`1${"\u202f000".repeat(8)}`);
  });

  it("are prices in one unit, however small they are", () => {
    const texts = ["0.36", "9999.4", "657450"].map((amount) => {
      return price.priceText({ denom: "utoken", amount: parseDec(amount) });
    });
    expect(texts).toEqual(["0.00000036 TOKEN", "0.009999 TOKEN", "0.6575 TOKEN"]);
    expect(price.priceText({ denom: "stake", amount: parseDec("1.5") })).toBe("1.5 stake");
  });

  it("are percentages of digits times 10^18", () => {
    expect(text.percent("100000000000000000")).toBe("10 %");
    expect(text.percent("333333333333333333")).toBe("33.33 %");
    expect(text.percent("what")).toBe("–");
  });
});
