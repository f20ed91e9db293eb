import { describe, expect, it } from "vitest";
import { MAX_TIMER_MS, parseDurationMs } from "./duration.ts";

describe("durations", () => {
  it.each([
    ["300ms", 300],
    ["10s", 10_000],
    ["0.5s", 500],
    ["1.5m", 90_000],
    ["1h30m", 5_400_000],
    ["1d", 86_400_000],
    ["0s", 0],
    ["0.4ms", 0],
    ["9999d", MAX_TIMER_MS],
    [`${"9".repeat(400)}d`, MAX_TIMER_MS],
  ])("%s are %d ms", (text, ms) => expect(parseDurationMs(text)).toBe(ms));

  it.each(["", "5", "0", "s", "5 m", " 5m", "-5m", "+5m", "5m3", "1e3s", ".5s", "5.s", "5M", "5us", "٥m"])(
    "%j is none",
    (text) => expect(parseDurationMs(text)).toBeUndefined(),
  );
});
