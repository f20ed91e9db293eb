import { expect, it } from "vitest";
import { Hindrances } from "./hindrances.ts";

it("remembers what a node cannot do for a pod, until it looks for the pod's image or the pod is gone", () => {
  const hindrances = new Hindrances();
  for (const uid of ["one", "two"]) hindrances.take(uid, "FailedMount", "timed out");
  expect(hindrances.of("one")).toEqual({ part: "volumes" });
  hindrances.take("one", "Scheduled", "");
  expect(hindrances.of("one")).toEqual({ part: "volumes" });
  // An image may take long to fetch, and the volumes are there by then.
  hindrances.take("one", "Pulling", "");
  expect(hindrances.of("one")).toBeUndefined();
  hindrances.forget("two");
  expect(hindrances.of("two")).toBeUndefined();
});
