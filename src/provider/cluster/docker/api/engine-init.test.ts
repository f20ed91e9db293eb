import { expect, it } from "vitest";
import { silentLogger } from "../../../../util/index.ts";
import { EngineInit } from "./engine-init.ts";
import { EngineFailure } from "./failure.ts";

const lacking = new EngineFailure("refused", "container-init binary not found on the host: stat catatonit");

it("is lacking only where the trial found none; containers from before are made anew", () => {
  const init = new EngineInit(silentLogger, () => 10);
  expect(
    init.isLacking(new EngineFailure("refused", "invalid signal: catatonit"), { createdAt: 5, isTrial: false }),
  ).toBe(false);
  expect(init.isThere).toBe(true);
  expect(init.isLacking(lacking, { createdAt: 5, isTrial: true })).toBe(true);
  expect(init.isThere).toBe(false);
  expect(init.isLacking(lacking, { createdAt: 5, isTrial: false })).toBe(true);
  expect(init.isLacking(lacking, { createdAt: 20, isTrial: false })).toBe(false);
});
