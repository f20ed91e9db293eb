import { expect, it } from "vitest";
import { DEFAULT_LIMITS } from "./limits.ts";

it("keeps no more unread for all its connections than a small machine has", () => {
  expect(DEFAULT_LIMITS.connections * DEFAULT_LIMITS.sendBuffer).toBeLessThanOrEqual(128 << 20);
});
