import { describe, expect, it } from "vitest";
import { parseBytes, parseCpu, parseGpuRam, parsePrice, parseWindow } from "./units.ts";

describe("sizes", () => {
  it.each<[string, bigint]>([
    ["1000", 1000n],
    ["1k", 1000n],
    ["1Ki", 1024n],
    ["1.5Ki", 1536n],
    [".5Mi", 524_288n],
    ["100M", 100_000_000n],
    ["0.3Gi", 322_122_547n],
    ["8G", 8_000_000_000n],
    ["2Ti", 2_199_023_255_552n],
    ["1P", 10n ** 15n],
    ["1Ei", 1024n ** 6n],
    ["9007199254740993", 9_007_199_254_740_993n],
  ])("%s is %d bytes", (text, bytes) => {
    expect(parseBytes(text)).toEqual({ value: bytes });
  });

  it.each([
    ["1gb", "write 1G"],
    ["1Gb", "write 1G"],
    ["1GB", "write 1G"],
    ["1gi", "write 1Gi"],
    ["1gib", "write 1Gi"],
    ["1.5GiB", "write 1.5Gi"],
    ["1K", "write 1k"],
    ["1ki", "write 1Ki"],
    ["64mb", "write 64M"],
    ["64m", "write 64Mi (or 64M)"],
    ["64 Mi", "write 64Mi"],
    ["100b", "write 100"],
    ["1t", "write 1T"],
  ])("%s has an exact replacement", (text, remedy) => {
    expect(parseBytes(text)).toMatchObject({ remedy });
  });

  it.each([
    "",
    "Mi",
    "-1",
    "+1",
    "1e9",
    "0x10",
    "1_000",
    "NaN",
    ".inf",
    "1.2.3",
    "1MiMi",
    "1 000",
    "1,5Gi",
    "\u0661Gi",
  ])("%j is refused", (text) => {
    expect(parseBytes(text)).toHaveProperty("problem");
  });
});

describe("cores", () => {
  it.each<[string, bigint]>([
    ["1", 1000n],
    ["0.5", 500n],
    [".25", 250n],
    ["2.", 2000n],
    ["100m", 100n],
    // The product as a double is 1004.9999999999999.
    ["1.005", 1004n],
    ["0.0009", 0n],
  ])("%s is %d thousandths", (text, milli) => {
    expect(parseCpu(text)).toEqual({ value: milli });
  });

  it.each([
    ["1.5m", "write 0.0015"],
    ["250milli", "write 250m"],
    ["2 cores", "write 2"],
    ["one", 'write cores such as 0.5 or 2, or thousandths such as "500m"'],
  ])("%j is refused with a remedy", (text, remedy) => {
    expect(parseCpu(text)).toMatchObject({ remedy });
  });

  it.each(["1e0", "-1", "1.5m", "one", "m", "1mm", "0x1", ""])("%j is refused", (text) => {
    expect(parseCpu(text)).toHaveProperty("problem");
  });
});

describe("memory of GPUs", () => {
  it("is printed again in whole gibibytes", () => {
    expect(parseGpuRam("80Gi")).toEqual({ value: "80Gi" });
    expect(parseGpuRam("81920Mi")).toEqual({ value: "80Gi" });
    expect(parseGpuRam("1Ti")).toEqual({ value: "1024Gi" });
  });

  it.each(["80", "80G", "512Mi", "gi"])("%s is refused", (text) => {
    expect(parseGpuRam(text)).toHaveProperty("problem");
  });
});

describe("prices", () => {
  it.each<[string, bigint]>([
    ["100", 100n * 10n ** 18n],
    ["20.5", 205n * 10n ** 17n],
    [".000000000000000001", 1n],
    ["10000000", 10n ** 25n],
  ])("%s", (text, amount) => {
    expect(parsePrice(text, 10_000_000n)).toEqual({ value: amount });
  });

  it.each(["0", "0.0", "-1", "1e3", "10000000.1", "012", "1,5", "", "0.0000000000000000001"])(
    "%j is refused",
    (text) => {
      expect(parsePrice(text, 10_000_000n)).toHaveProperty("problem");
    },
  );

  it("an exponent is not taken for a denomination", () => {
    const digits = "write digits with at most 18 decimals, for example 12.5";
    expect(parsePrice("1e30", 10_000_000n)).toMatchObject({ remedy: digits });
    expect(parsePrice("1.5E10", 10_000_000n)).toMatchObject({ remedy: "write 15000000000" });
    expect(parsePrice("10utoken", 10_000_000n)).toMatchObject({ remedy: "write amount: 10 and denom: utoken" });
  });
});

describe("time spans", () => {
  it("are seconds", () => {
    expect(parseWindow("24h")).toEqual({ value: 86_400n });
    expect(parseWindow("90m")).toEqual({ value: 5_400n });
    expect(parseWindow("1h30m")).toHaveProperty("problem");
    expect(parseWindow("0s")).toHaveProperty("problem");
  });
});
