import { describe, expect, it } from "vitest";
import { checkLeaseImages, type ImageWish, makeRoomForImage } from "./images.ts";

const image = (id: string, bytes = 10) => ({ config: id, bytes });

describe("images of a lease", () => {
  it("take no more together than it may have", () => {
    const [base, app] = [image("a", 30 << 20), image("b", 20 << 20)];
    const most = 50n << 20n;
    checkLeaseImages([], 0n);
    checkLeaseImages([base, app], most);
    expect(() => checkLeaseImages([base, app], most - 1n)).toThrow(/take 50 MiB, this provider has 49 MiB for them/);
    // Services that share an image take it once.
    checkLeaseImages([base, app, base, app], most);
    expect(() => checkLeaseImages([base, app, image("c", 1)], most)).toThrow(/use smaller ones/);
  });
});

describe("room for the image of an update", () => {
  /** The engine's images by id, and those that it does not remove. */
  async function left(ids: string, wish: Partial<ImageWish>, kept = ""): Promise<string> {
    const there = new Set(ids);
    const weightOf = (id: string) => (there.has(id) ? image(id) : undefined);
    const discard = async (id: string) => void (kept.includes(id) || there.delete(id));
    const most = 30n;
    await makeRoomForImage(
      { weightOf, heldFor: weightOf, discard },
      { wanted: [image("n")], earlier: [], leaving: new Set(), most, ...wish },
    );
    return [...there].join("");
  }

  it("is made by the oldest of the images before, and no more of them than needed", async () => {
    expect(await left("abc", { earlier: ["a", "b", "c"] })).toBe("bc");
    expect(await left("ab", { earlier: ["a", "b"] })).toBe("ab");
    expect(await left("abcdefgh", { earlier: [..."abcdefgh"] })).toBe("gh");
  });

  it("counts what the service has until the new one is ready, but never refuses for it", async () => {
    const leaving = new Set(["c"]);
    expect(await left("abc", { earlier: ["a", "b"], leaving })).toBe("bc");
    expect(await left("abc", { earlier: ["a", "b"], leaving, wanted: [image("n", 30)] })).toBe("c");
  });

  it("is refused where a container still runs from an image of before", async () => {
    await expect(left("abc", { earlier: [..."abc"] }, "abc")).rejects.toThrow(/images of the lease take/);
    expect(await left("ab", { earlier: ["a", "b"] }, "ab")).toBe("ab");
  });

  it("counts an image that is wanted again once", async () => {
    expect(await left("ab", { earlier: ["a", "b"], wanted: [image("a", 10), image("n", 10)] })).toBe("ab");
  });
});
