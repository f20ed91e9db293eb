import { expect, it, onTestFinished, vi } from "vitest";
import type { DriverContext } from "./context.ts";
import { EngineWatch } from "./watch.ts";

const event = (id: string) => JSON.stringify({ Action: "die", Actor: { ID: id, Attributes: {} } });

/** An engine that sends this data as its events, and then nothing more. */
function engine(chunks: readonly string[]): DriverContext {
  const api = {
    forgetInfo: () => {},
    ping: async () => ({ kind: "podman" }),
    events: async function* (_: unknown, signal: AbortSignal) {
      yield* chunks;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
  const health = { up: () => {}, down: () => {} };
  return { api, health, naming: { prefix: "svc" } } as unknown as DriverContext;
}

it.each([
  ["end with a line end", [`${event("a")}\n`, `${event("b")}\n`]],
  ["end without one", [event("a"), event("b")]],
  ["are cut", [event("a").slice(0, 9), `${event("a").slice(9)}\n${event("b").slice(0, 5)}`, event("b").slice(5)]],
])("events of an engine that %s are told one by one", async (_, chunks) => {
  const told = vi.fn();
  const watch = new EngineWatch(engine(chunks), { connected: async () => {}, event: ({ id }) => told(id) });
  onTestFinished(() => watch.stop());
  await watch.start();
  await expect.poll(() => told.mock.calls.flat()).toEqual(["a", "b"]);
});
