import { expect, test } from "vitest";
import type { OrderRecord } from "../client/index.ts";
import { MOST_PAGES, openOrderList } from "./open-orders.ts";

/** A list of this many pages with one open order each; `fails` once at the page with that number. */
function listOf(pages: number, fails = -1) {
  let failing = fails;
  return openOrderList(async (key) => {
    const page = Number(Buffer.from(key).toString() || "0");
    if (page === failing) {
      failing = -1;
      throw new Error("no answer");
    }
    const order = { id: { owner: "svc1owner", dseq: BigInt(page), gseq: 1, oseq: 1 } } as OrderRecord;
    return { orders: [order], nextKey: Buffer.from(page + 1 < pages ? `${page + 1}` : "") };
  });
}

const numbers = async (list: ReturnType<typeof openOrderList>) => {
  const { ids, isWhole } = await list();
  return [ids.map(({ dseq }) => Number(dseq)), isWhole] as const;
};

const upTo = (first: number, end: number) => Array.from({ length: end - first }, (_, at) => first + at);

test("a list that is too long for one call goes on with the next, and then begins again", async () => {
  const list = listOf(MOST_PAGES + 50);
  expect(await numbers(list)).toEqual([upTo(0, MOST_PAGES), false]);
  expect(await numbers(list)).toEqual([upTo(MOST_PAGES, MOST_PAGES + 50), true]);
  expect(await numbers(list)).toEqual([upTo(0, MOST_PAGES), false]);
});

test("a list that fails in the middle leaves no order out", async () => {
  const list = listOf(4, 2);
  await expect(list()).rejects.toThrow("no answer");
  expect(await numbers(list)).toEqual([upTo(0, 4), true]);
});
