import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { GatewayHarness } from "../../testing/gateway.ts";
import { GiveBack } from "./give-back.ts";

const AFTER_MS = 1_000;
let collect: ReturnType<typeof vi.fn<() => void>>;
let giveBack: GiveBack;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  collect = vi.fn();
  giveBack = new GiveBack(AFTER_MS, collect);
});
afterEach(() => {
  vi.useRealTimers();
});

it("gives back once, however many streams have ended", () => {
  for (let count = 0; count < 1_000; count++) giveBack.later();
  vi.advanceTimersByTime(AFTER_MS - 1);
  expect(collect).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * AFTER_MS);
  expect(collect).toHaveBeenCalledTimes(1);
});

it("gives back again after the next one, and not when it is closed", () => {
  giveBack.later();
  vi.advanceTimersByTime(AFTER_MS);
  giveBack.later();
  vi.advanceTimersByTime(AFTER_MS);
  expect(collect).toHaveBeenCalledTimes(2);
  giveBack.later();
  giveBack.close();
  vi.advanceTimersByTime(AFTER_MS);
  expect(collect).toHaveBeenCalledTimes(2);
});

it("is asked when a stream of the gateway ends", async () => {
  vi.useRealTimers();
  const later = vi.spyOn(GiveBack.prototype, "later");
  const gateway = await GatewayHarness.open();
  try {
    const lease = await gateway.run(1n, { job: "sleep 1000" });
    const options = { services: [], follow: false, tail: -1, signal: new AbortController().signal };
    for await (const _ of gateway.client(gateway.credential("certificate")).logs(lease, options))
      expect(later).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(later).toHaveBeenCalledTimes(1), 30_000);
  } finally {
    await gateway.close();
    later.mockRestore();
  }
});
