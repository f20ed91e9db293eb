import { afterEach, expect, it, vi } from "vitest";
import { evenClock, steadyClock, unlessAborted, waitAtMost } from "./clock.ts";

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

const never = new Promise<never>(() => {});

it("a wait ends with its task, or when that takes too long", async () => {
  await waitAtMost(steadyClock, HOUR_MS, Promise.resolve());
  await waitAtMost(steadyClock, 1, never);
  await expect(waitAtMost(steadyClock, HOUR_MS, Promise.reject(new Error("no")))).rejects.toThrow("no");
});

it("work gives its result, or the reason of the signal if that comes first", async () => {
  const end = new AbortController();
  expect(await unlessAborted(Promise.resolve(7), end.signal)).toBe(7);
  await expect(unlessAborted(Promise.reject(new Error("no")), end.signal)).rejects.toThrow("no");
  const late = unlessAborted(never, end.signal);
  end.abort(new Error("enough"));
  await expect(late).rejects.toThrow("enough");
  await expect(unlessAborted(never, end.signal)).rejects.toThrow("enough");
});
