import { expect, it } from "vitest";
import type { OrderStatus } from "../orders/index.ts";
import { countReasons } from "./gateway-sources.ts";

function refused(reason: string, count: number): OrderStatus[] {
  const id = { owner: "svc1x", dseq: 1n, gseq: 1, oseq: 1 };
  return Array.from({ length: count }, () => ({ id, phase: "refused", reason }));
}

it("names the most frequent reasons and counts the others together", () => {
  const many = Array.from({ length: 50 }, (_, i) => refused(`the order requires attribute k${i}=x`, 1)).flat();
  const counts = countReasons([...many, ...refused("our price is too high", 7), ...refused("y".repeat(5_000), 2)]);
  expect(Object.keys(counts)).toHaveLength(21);
  expect(counts["our price is too high"]).toBe(7);
  expect(counts["y".repeat(200)]).toBe(2);
  expect(counts["other reasons"]).toBe(32);
});

it("counts refusals alone", () => {
  const [won] = refused("lease lost", 1);
  expect(countReasons(won === undefined ? [] : [{ ...won, phase: "lost" }])).toEqual({});
});
