import { expect, it } from "vitest";
import { podError } from "./status.ts";

const POD = { running: true, ready: true, probed: false, waiting: undefined, exit: undefined, trouble: undefined };

it("reports the end of a program that has just been started again, and nothing of one that never ended", () => {
  const ended = { ...POD, exit: { code: 3, reason: "Error" } };
  expect(podError("web-0", ended)).toBe("web-0: the program ended with exit code 3");
  expect(podError("web-0", POD)).toBeUndefined();
});
