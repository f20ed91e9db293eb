import { expect, it } from "vitest";
import { silentLogger } from "../../../../util/index.ts";
import { EngineFailure } from "./failure.ts";
import { EngineHealth } from "./health.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("is away when a call had no answer only if it answers no other one either", async () => {
  let answers = true;
  let asked = 0;
  const health = new EngineHealth(silentLogger, async () => {
    asked++;
    if (!answers) throw new Error("no answer");
  });
  health.up("podman");
  health.observe(new EngineFailure("refused", "no such image"));
  expect(asked).toBe(0);
  for (let n = 0; n < 3; n++) health.observe(new EngineFailure("unreachable", "socket hang up"));
  await settled();
  expect([asked, health.reachable]).toEqual([1, true]);
  answers = false;
  health.observe(new EngineFailure("unreachable", "socket hang up"));
  await settled();
  expect(health.reachable).toBe(false);
  health.answered();
  expect([health.reachable, health.kind]).toEqual([true, "podman"]);
});
