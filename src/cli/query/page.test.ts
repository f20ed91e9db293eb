import { describe, expect, test } from "vitest";
import { resolveFlags } from "../command/flags.ts";
import { PAGE_FLAGS } from "../command/global-flags.ts";
import { pageRequest } from "./page.ts";

const page = (given: Record<string, string | boolean> = {}) =>
  pageRequest(resolveFlags(PAGE_FLAGS, new Map(Object.entries(given)), {}));

describe("the page of a list", () => {
  test("is the first one, of 100 rows, without flags", () => {
    expect(page()).toEqual({ key: null, offset: "0", limit: "100", count_total: false, reverse: false });
  });

  test.each([
    [{ limit: "0" }, { limit: "100" }],
    [{ limit: "1000" }, { limit: "1000" }],
    [
      { limit: "7", page: "3" },
      { limit: "7", offset: "14" },
    ],
    [{ page: "2" }, { offset: "100" }],
    [
      { reverse: true, "count-total": true },
      { reverse: true, count_total: true },
    ],
  ])("%j", (given, expected) => expect(page(given)).toMatchObject(expected));

  test("has at most 1000 rows", () => {
    expect(() => page({ limit: "1001" })).toThrow("--limit: a page has at most 1000 rows, not 1001");
  });
});
