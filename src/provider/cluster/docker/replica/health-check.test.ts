import { expect, test } from "vitest";
import { seldomChecked } from "./health-check.ts";

const SECOND = 1e9;

test("health checks of images come every 30 seconds at most, and are else as the image has them", () => {
  const check = { Test: ["CMD", "true"], Interval: 1, Timeout: 3 * SECOND, Retries: 2 };
  expect(seldomChecked(check)).toEqual({ ...check, Interval: 30 * SECOND, StartInterval: 30 * SECOND });
  expect(seldomChecked({ ...check, Interval: 60 * SECOND, StartInterval: 1 })).toMatchObject({
    Interval: 60 * SECOND,
    StartInterval: 30 * SECOND,
  });
  expect(seldomChecked({ Test: ["CMD-SHELL", "true"] })).toMatchObject({ Interval: 30 * SECOND });
});

test("an image without a health check gets none", () => {
  for (const check of [undefined, {}, { Test: [] }, { Test: ["NONE"] }]) {
    expect(seldomChecked(check)).toBeUndefined();
  }
});
