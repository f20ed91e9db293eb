import { afterEach, expect, it, vi } from "vitest";
import { evenClock, steadyClock } from "./clock.ts";

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

it("runs evenly when the time of the machine is changed", () => {
  const before = [evenClock.now(), steadyClock.now()];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 24 * HOUR_MS });
  const after = [evenClock.now(), steadyClock.now()];
  for (const [i, now] of after.entries()) expect(now - (before[i] ?? 0)).toBeLessThan(HOUR_MS);
});

it("begins with the time of the machine", () => {
  expect(Math.abs(evenClock.now() - Date.now())).toBeLessThan(HOUR_MS);
});
