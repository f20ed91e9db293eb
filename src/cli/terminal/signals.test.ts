import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { stopRequested } from "./signals.ts";

/** Other listeners in this process must not hear the signals of these tests. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const others = new Map<string, NodeJS.SignalsListener[]>();

beforeEach(() => {
  for (const signal of SIGNALS) {
    others.set(signal, process.listeners(signal));
    process.removeAllListeners(signal);
  }
});

afterEach(() => {
  vi.restoreAllMocks();
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal);
    for (const listener of others.get(signal) ?? []) process.on(signal, listener);
  }
});

test.each(["SIGINT", "SIGTERM"] as const)("%s is a wish to end", async (signal) => {
  const wish = stopRequested();
  process.emit(signal, signal);
  expect(await wish.received).toBe(signal);
  wish.forget();
});

test("a second Ctrl-C ends at once, a repeated request of a service manager does not", () => {
  const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
  const wish = stopRequested();
  process.emit("SIGTERM", "SIGTERM");
  process.emit("SIGTERM", "SIGTERM");
  process.emit("SIGINT", "SIGINT");
  expect(exit).not.toHaveBeenCalled();
  process.emit("SIGINT", "SIGINT");
  expect(exit).toHaveBeenCalledExactlyOnceWith(130);
  wish.forget();
});

test("nothing is listened to once it is forgotten", () => {
  const before = process.listenerCount("SIGHUP");
  stopRequested().forget();
  expect(process.listenerCount("SIGHUP")).toBe(before);
});
