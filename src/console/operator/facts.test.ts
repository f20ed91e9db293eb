import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

let keptRows: typeof import("./facts.ts").keptRows;

beforeAll(async () => {
  vi.stubGlobal("document", { baseURI: "http://localhost/console/" });
  ({ keptRows } = await import("./facts.ts"));
});
afterAll(() => {
  vi.unstubAllGlobals();
});

describe("rows of the facts", () => {
  const before = [
    { order: "1", phase: "open" },
    { order: "2", phase: "open" },
  ];

  it("stay the same list while nothing changes", () => {
    expect(keptRows(before, structuredClone(before))).toBe(before);
  });

  it("stay the same objects where others change, come or go", () => {
    const after = keptRows(before, [
      { order: "2", phase: "open" },
      { order: "3", phase: "won" },
    ]);
    expect(after).toEqual([before[1], { order: "3", phase: "won" }]);
    expect(after[0]).toBe(before[1]);
  });
});
