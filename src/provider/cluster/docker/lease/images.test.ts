import { describe, expect, it } from "vitest";
import { sampleService, sampleSpec } from "../../../../../test/support/conformance/index.ts";
import { LEASE_VOLUMES, MAX_VOLUMES } from "../images/limits.ts";
import { planService } from "../replica/plan.ts";
import { checkImageVolumes, LeaseImages, largestImage } from "./images.ts";
import type { LeaseState } from "./state.ts";

describe("volumes that an image declares", () => {
  const declared = (count: number) => Array.from({ length: count }, (_, each) => `/data/${each}`);
  const check = (count: number, replicas: number, mounted: readonly string[] = []) =>
    checkImageVolumes("app:1", { declared: declared(count), mounted: new Set(mounted), replicas });

  it("are as many as its lease may have in all, shared out among its replicas", () => {
    check(MAX_VOLUMES, 1);
    check(MAX_VOLUMES, LEASE_VOLUMES / MAX_VOLUMES);
    const one = LEASE_VOLUMES / MAX_VOLUMES + 1;
    expect(() => check(MAX_VOLUMES, one)).toThrow(/app:1 declares 64 volumes, with 5 replicas 51 are possible/);
    check(5, 50);
    expect(() => check(6, 50)).toThrow(/with 50 replicas 5 are possible/);
    expect(() => check(1, LEASE_VOLUMES + 1)).toThrow(/0 are possible/);
  });

  it("do not count where the tenant mounts something himself", () => {
    check(6, 50, ["/data/3"]);
    check(6, 50, ["/data/3/"]);
    expect(() => check(7, 50, ["/data/3"])).toThrow(/declares 6 volumes/);
  });
});

describe("images of a lease", () => {
  it("do not wait for one that has failed and hangs at its next try", async () => {
    const tries: string[] = [];
    const pull = async (image: string) => {
      tries.push(image);
      if (image === "bad" && tries.length > 1) await new Promise(() => {});
      if (image === "bad") throw new Error("refused");
      return `id of ${image}`;
    };
    const images = new LeaseImages(leaseState({ pull }), () => {});
    const service = (name: string, image: string) => planService(sampleService(image, { name }));
    await images.resolve(service("one", "bad"));
    await expect.poll(() => images.nextTry("one")).toBeDefined();
    await expect.poll(() => (images.nextTry("one") ?? 0) < Date.now()).toBe(true);
    await images.resolve(service("one", "bad"));
    await expect.poll(() => tries).toEqual(["bad", "bad"]);
    await images.resolve(service("two", "good"));
    await expect.poll(() => tries).toEqual(["bad", "bad", "good"]);
    images.stop();
  });

  it("may each take what the lease pays for as storage, and four gibibytes in any case", () => {
    const storage = (gib: number) => [{ name: "default", size: { val: String(gib * 2 ** 30) } }];
    const service = (gib: number, count: number) => {
      const { resources, ...rest } = sampleService("app:1", { count });
      return { ...rest, resources: { ...resources, storage: storage(gib) } };
    };
    expect(largestImage([service(1, 1)])).toBe(4n << 30n);
    expect(largestImage([service(10, 2), service(1, 1)])).toBe(21n << 30n);
  });
});

/** The part of a lease's state that its images need; the record is kept in memory. */
function leaseState({ pull }: { readonly pull: (image: string) => Promise<string> }): LeaseState {
  const spec = sampleSpec([sampleService("bad", { name: "one" }), sampleService("good", { name: "two" })]);
  const state = {
    spec,
    namespace: "lease",
    units: [],
    errors: new Map<string, string>(),
    record: { spec, images: {}, earlier: [] },
    event: () => {},
    notices: { say: () => {} },
    update: async () => {},
    context: {
      images: { pull, weightOf: () => undefined, heldFor: () => undefined },
      health: { observe: () => {} },
      news: { failed: () => {} },
      settings: { timing: { backoff: { first: 1, initial: 1, max: 1, resetAfter: 1 } }, limits: {} },
    },
  };
  return state as unknown as LeaseState;
}
