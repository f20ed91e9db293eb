import { expect, test } from "vitest";
import { parseGas, parseGasAdjustment } from "./gas.ts";

test.each([
  ["", 200_000n],
  ["auto", "auto"],
  ["90000", 90_000n],
  ["9223372036854775807", 9223372036854775807n],
])("reads the gas setting %j", (text, gas) => {
  expect(parseGas(text)).toBe(gas);
});

test.each(["abc", "-1", "1.5", "1e5", "AUTO"])("refuses the gas setting %j", (text) => {
  expect(() => parseGas(text)).toThrow(/gas must be either integer or auto/);
  expect(() => parseGas("9223372036854775808")).toThrow(/more gas than any transaction may have/);
});

test("refuses adjustments that are not positive", () => {
  expect(parseGasAdjustment("1.3")).toBe(13n * 10n ** 17n);
  for (const text of ["0", "-1", "x", ""]) expect(() => parseGasAdjustment(text)).toThrow(/is not a positive number/);
});
