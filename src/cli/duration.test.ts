import { describe, expect, it } from "vitest";
import { parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["300ms", 300],
    ["10s", 10_000],
    ["1h30m", 5_400_000],
    ["0.5s", 500],
    ["1d", 86_400_000],
    ["9999d", 2 ** 31 - 1],
  ])("reads %s", (text, ms) => expect(parseDuration("x", text)).toBe(ms));

  it.each(["", "5", "s", "5 m", "-5m", "0s", "5m3"])("refuses %j", (text) => {
    expect(() => parseDuration("bid-timeout", text)).toThrow("--bid-timeout takes a duration");
  });
});
