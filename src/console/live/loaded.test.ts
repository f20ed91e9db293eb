import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { untilLoaded } from "./loaded.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("loads again what a network that changed cut off", async () => {
  const step = vi.fn().mockRejectedValueOnce(new TypeError("Failed to fetch")).mockResolvedValueOnce("loaded");
  const loaded = untilLoaded(step);
  await vi.advanceTimersByTimeAsync(60 * 2_000);
  expect(await loaded).toBe("loaded");
  expect(step).toHaveBeenCalledTimes(2);
});

it("tells a refusal at once", async () => {
  const step = vi.fn().mockRejectedValue(new Error("no session"));
  await expect(untilLoaded(step)).rejects.toThrow("no session");
  expect(step).toHaveBeenCalledTimes(1);
});

it("ends after sixty tries, because a fault of the page looks the same", async () => {
  const step = vi.fn().mockRejectedValue(new TypeError("x is not a function"));
  const ended = expect(untilLoaded(step)).rejects.toThrow("x is not a function");
  await vi.advanceTimersByTimeAsync(60 * 2_000);
  await ended;
  expect(step).toHaveBeenCalledTimes(60);
});
