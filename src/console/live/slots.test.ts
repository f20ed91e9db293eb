import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Slots } from "./slots.ts";

const slots = () => new Slots<string>((row) => row);
const shown = (list: readonly { readonly row: { readonly value: string } }[]) => list.map(({ row }) => row.value);

describe("places of a live list", () => {
  it("are the same ones when all rows are others", () => {
    const places = slots();
    const before = places.take(["a", "b", "c"]);
    const after = places.take(["x", "y", "z"]);
    expect(after).toBe(before);
    expect(shown(after)).toEqual(["x", "y", "z"]);
  });

  it("go with their rows, and that of a row that has left is the one of the row that came", () => {
    const places = slots();
    const [a, b, c] = places.take(["a", "b", "c"]);
    expect(places.take(["x", "a", "b"])).toEqual([c, a, b]);
    expect(c?.row.value).toBe("x");
  });

  it("are for no other row while they are held", () => {
    const places = slots();
    const [a] = places.take(["a"]);
    const [x] = places.take(["x"], a?.id);
    expect([x?.id === a?.id, x?.row.value, a?.row.value]).toEqual([false, "x", "a"]);
  });

  it("show the rows in their order, one place each, whatever came before", () => {
    const rows = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { maxLength: 6 });
    fc.assert(
      fc.property(fc.array(rows, { maxLength: 8 }), (turns) => {
        const places = slots();
        for (const turn of turns) {
          const found = places.take(turn);
          expect(shown(found)).toEqual(turn);
          expect(new Set(found.map(({ id }) => id)).size).toBe(turn.length);
        }
      }),
    );
  });
});
