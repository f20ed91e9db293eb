import { expect, it } from "vitest";
import { HOST_LIMITS } from "./limits.ts";
import { LookupPlaces } from "./places.ts";

const BUSY = /too many host names of all tenants wait/;

/** Fills all places and the waiting room with unanswered questions; returns the outcome of the waiting ones. */
function crowd(places: LookupPlaces): Promise<unknown>[] {
  const count = HOST_LIMITS.lookups + HOST_LIMITS.waiting;
  const asked = Array.from({ length: count }, (_, i) => {
    // Owners with places already come last.
    const owner = `owner ${i % HOST_LIMITS.lookups}`;
    return places.run(owner, () => new Promise(() => {})).catch((error: unknown) => error);
  });
  return asked.slice(HOST_LIMITS.lookups);
}

it("refuses the check that would come last where too many wait", async () => {
  const places = new LookupPlaces();
  const waiting = crowd(places);
  // On a tie, earlier questions stay.
  await expect(places.run("owner 0", () => Promise.resolve())).rejects.toThrow(BUSY);
  void places.run("newcomer", () => new Promise(() => {}));
  expect(String(await Promise.race(waiting))).toMatch(BUSY);
});
