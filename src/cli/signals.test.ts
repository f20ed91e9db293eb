import { afterEach, expect, test, vi } from "vitest";
import { stopRequested } from "./signals.ts";

afterEach(() => vi.restoreAllMocks());

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

test("nothing is listened to any more when it is forgotten", () => {
  const before = process.listenerCount("SIGHUP");
  stopRequested().forget();
  expect(process.listenerCount("SIGHUP")).toBe(before);
});
