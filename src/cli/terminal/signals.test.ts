import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SUPERVISED, stopRequested } from "./signals.ts";

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
  vi.unstubAllEnvs();
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

test("a second Ctrl-C says first what stays", () => {
  const said: string[] = [];
  vi.spyOn(process, "exit").mockImplementation(() => {
    said.push("exit");
    return undefined as never;
  });
  const wish = stopRequested(() => said.push("stays"));
  process.emit("SIGINT", "SIGINT");
  expect(said).toEqual([]);
  process.emit("SIGINT", "SIGINT");
  expect(said).toEqual(["stays", "exit"]);
  wish.forget();
});

test("a process whose starter has gone before it listens ends, too", async () => {
  vi.stubEnv(SUPERVISED, "1");
  vi.spyOn(process, "connected", "get").mockReturnValue(false);
  const wish = stopRequested();
  expect(await wish.received).toBe("disconnect");
  wish.forget();
});
