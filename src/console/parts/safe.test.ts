import { describe, expect, it } from "vitest";
import { MAX_TEXT, safe, safeUrl } from "./safe.ts";

describe("texts of strangers", () => {
  it("show direction, zero-width and control characters as codes", () => {
    expect(safe("a\u202ecod.exe\u200b\u0007").text).toBe("a\\u202ecod.exe\\u200b\\u0007");
    expect(safe("one\ntwo").text).toBe("one\ntwo");
    expect(safe("one\ntwo\u00a0", { isName: true }).text).toBe("one\\u000atwo\\u00a0");
  });

  it("are cut, and say by how much", () => {
    const { text, cut } = safe("x".repeat(1_000_000));
    expect([text.length, cut]).toEqual([MAX_TEXT, 1_000_000 - MAX_TEXT]);
  });

  it("are links only for https without a password", () => {
    expect(safeUrl("https://example.com/a")).toBe("https://example.com/a");
    for (const text of ["javascript:alert(1)", "http://example.com", "https://a:b@example.com", "https://", "//x"]) {
      expect(safeUrl(text), text).toBeUndefined();
    }
  });
});
