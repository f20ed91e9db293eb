import { describe, expect, it } from "vitest";
import { Book } from "./book.ts";
import type { Tracked } from "./order.ts";

function order(n: number, over: Partial<Tracked>): Tracked {
  const id = { owner: "svc1owner", dseq: BigInt(n), gseq: 1, oseq: 1 };
  return { id, text: `svc1owner/${n}/1/1`, detectedAt: 0, phase: "checking", checks: 0, ...over };
}

/** A book with the numbers of orders that have these fields. */
function bookWith(...parts: readonly (readonly [count: number, over: Partial<Tracked>])[]): Book {
  const book = new Book();
  let n = 0;
  for (const [count, over] of parts) for (let i = 0; i < count; i++) book.add(order(n++, over));
  return book;
}

const WAITING = { phase: "refused", obstacle: "money" } as const;
const OVER = { phase: "closed" } as const;
const dseqs = (book: Book) => book.all().map(({ id }) => Number(id.dseq));

describe("the orders that a provider keeps in mind", () => {
  it("are a crowd when more than 2,500 wait", () => {
    expect(bookWith([2_500, WAITING], [1_000, { phase: "open" }]).isCrowded).toBe(false);
    expect(bookWith([2_501, WAITING]).isCrowded).toBe(true);
  });

  it("are the first 5,000 that wait and some that came since the last count", () => {
    const book = bookWith([5_000, WAITING]);
    let forgotten = 0;
    for (let n = 5_000; n < 20_000; n++) if (book.add(order(n, WAITING))) forgotten += 1;
    expect(forgotten).toBeGreaterThan(0);
    expect(dseqs(book).slice(0, 5_000)).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
    expect(book.all().length).toBeLessThanOrEqual(5_500);
  });

  it("are the last 1,000 that are over, and all that have or may get a bid", () => {
    const book = bookWith([10, { phase: "open" }], [10, { phase: "checking" }], [10_000, OVER]);
    expect(dseqs(book).slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(dseqs(book).slice(-1_000)).toEqual(Array.from({ length: 1_000 }, (_, n) => 9_020 + n));
    expect(book.all().length).toBeLessThanOrEqual(20 + 1_500);
  });
});
