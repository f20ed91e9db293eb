import { beforeAll, describe, expect, it, vi } from "vitest";

let route: typeof import("./route.ts");
beforeAll(async () => {
  vi.stubGlobal("location", { hash: "" });
  vi.stubGlobal("addEventListener", () => {});
  route = await import("./route.ts");
  vi.unstubAllGlobals();
});

describe("addresses of pages", () => {
  it("have words and a search, and any text survives in them", () => {
    const name = "a/b?c#d e%";
    const { words, search } = route.readRoute(`${route.link("account", name, 7n)}?after=ff`);
    expect(words).toEqual(["account", name, "7"]);
    expect(search.get("after")).toBe("ff");
  });

  it("may be damaged", () => {
    expect(route.readRoute("#/%zz//x").words).toEqual(["%zz", "x"]);
    expect(route.readRoute("").words).toEqual([]);
  });

  it("name heights by digits alone", () => {
    const heights = ["12", "0", "-1", "1e3", "", "99999999999999999999"].map((text) => route.readHeight(text));
    expect(heights).toEqual([12n, undefined, undefined, undefined, undefined, undefined]);
  });
});
