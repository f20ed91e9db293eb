import { expect, it } from "vitest";
import { createLogger } from "../../../../util/index.ts";
import { Notices } from "./notices.ts";

it("what a tenant repeats is logged once a minute, with the number left out", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const notices = new Notices(log);
  for (const now of [0, 1, 59_999, 60_000, 119_999, 180_000]) notices.say("a container ended", { at: now }, now);
  const told = lines.map((line) => JSON.parse(line) as { at: number; others?: number });
  expect(told).toMatchObject([{ at: 0 }, { at: 60_000, others: 2 }, { at: 180_000, others: 1 }]);
  expect(told[0]).not.toHaveProperty("others");
});
