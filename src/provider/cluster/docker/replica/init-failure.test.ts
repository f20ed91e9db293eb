import { expect, it } from "vitest";
import { readInitFailure } from "./init-failure.ts";

it.each([
  ["ERROR (catatonit:6): failed to exec pid1: No such file or directory", "no such file or directory"],
  ["[FATAL tini (7)] exec /no/such failed: No such file or directory", "no such file or directory"],
  ["ERROR: no such file", undefined],
  ["", undefined],
])("the init process says why the program did not begin: %s", (line, reason) => {
  expect(readInitFailure(line)).toBe(reason);
});
