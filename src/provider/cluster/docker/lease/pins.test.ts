import { describe, expect, it } from "vitest";
import { sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import type { ImagePin, LeaseRecord } from "../journal.ts";
import { withoutGone, withPin, withSpec } from "./pins.ts";

const pin = (imageId: string): ImagePin => ({ reference: "app:1", imageId, generation: 1 });

function record(images: Record<string, string>): LeaseRecord {
  const pins = Object.entries(images).map(([name, id]) => [name, pin(id)]);
  const spec = sampleSpec([sampleService("app:1")]);
  return { spec, images: Object.fromEntries(pins), earlier: [], volumes: [], failed: {}, closing: false };
}

describe("images that a lease had before", () => {
  it("are those that no service has, the oldest first", () => {
    const first = withPin(record({ web: "a", db: "a" }), "web", pin("b"));
    expect(first.earlier).toEqual([]);
    const second = withPin(withPin(first, "db", pin("c")), "web", pin("d"));
    expect(second.earlier).toEqual(["a", "b"]);
    // An image that comes back is not an earlier one.
    expect(withPin(second, "db", pin("a")).earlier).toEqual(["b", "c"]);
  });

  it("are also those of services that an update took away", () => {
    const { images, earlier } = withSpec(record({ web: "a", db: "b" }), sampleSpec([sampleService("app:2")]));
    expect([images, earlier]).toEqual([{ web: pin("a") }, ["b"]]);
  });

  it("leave an update that failed alone until there is another manifest", () => {
    const failed = { web: { config: "c", error: "it was not ready in time" } };
    const before = { ...record({}), failed };
    expect(withSpec(before, before.spec).failed).toEqual(failed);
    expect(withSpec(before, { ...before.spec, generation: before.spec.generation + 1 }).failed).toEqual({});
  });

  it("are forgotten when they are gone", () => {
    const before = { ...record({}), earlier: ["a", "b"] };
    expect(withoutGone(before, (id) => id === "b").earlier).toEqual(["b"]);
  });
});
