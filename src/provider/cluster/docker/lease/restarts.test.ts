import { describe, expect, it } from "vitest";
import type { Observed } from "../replica/observe.ts";
import { Restarts } from "./state.ts";

type Unit = Pick<Observed, "id" | "service" | "running" | "startedAt">;

const unit = (id: string, startedAt = 1, running = true): Unit => ({ id, service: "web", running, startedAt });

/** The next container to stop of a service with these containers; the ones named `ready` are ready. */
function nextOf(restarts: Restarts, units: readonly Unit[], ready: readonly string[]): string | undefined {
  return restarts.next(units as readonly Observed[], ({ id }) => ready.includes(id))?.id;
}

function asked(...units: readonly Unit[]): Restarts {
  const restarts = new Restarts();
  restarts.add("web", units as readonly Observed[]);
  return restarts;
}

describe("containers that a tenant wants to start again", () => {
  it("are stopped one after the other: the second when the first is ready again", () => {
    const restarts = asked(unit("a"), unit("b"));
    expect(nextOf(restarts, [unit("a"), unit("b")], ["a", "b"])).toBe("a");
    expect(nextOf(restarts, [unit("a", 1, false), unit("b")], ["b"])).toBeUndefined();
    expect(nextOf(restarts, [unit("a", 2), unit("b")], ["b"])).toBeUndefined();
    expect(nextOf(restarts, [unit("a", 2), unit("b")], ["a", "b"])).toBe("b");
    expect(nextOf(restarts, [unit("a", 2), unit("b", 3)], ["a", "b"])).toBeUndefined();
  });

  it("are forgotten when they are gone", () => {
    const restarts = asked(unit("a"), unit("b"));
    const units: readonly Unit[] = [unit("b"), unit("c")];
    restarts.add("web", units as readonly Observed[]);
    expect(restarts.size).toBe(2);
  });

  it("begin with one that serves nobody", () => {
    expect(nextOf(asked(unit("a"), unit("b")), [unit("a"), unit("b")], ["a"])).toBe("b");
  });

  it("are only those that ran, of the service that was named", () => {
    const other = { ...unit("c"), service: "db" };
    const restarts = asked(unit("a", 1, false), other);
    expect(nextOf(restarts, [unit("a"), other], ["a", "c"])).toBeUndefined();
  });
});
