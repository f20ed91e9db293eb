import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Overlap } from "./follow.ts";

/** The lines of `lines` that are new after `kept`. */
function join(kept: readonly string[], lines: readonly string[]): string[] {
  const lineOf = (message: string) => ({ name: "web-0", message });
  const overlap = new Overlap(kept.map(lineOf));
  for (const [at, line] of lines.entries()) {
    const known = overlap.push(lineOf(line));
    if (known !== undefined) return [...known.map(({ message }) => message), ...lines.slice(at + 1)];
  }
  return overlap.flush().map(({ message }) => message);
}

describe("joining a stream to what was read before", () => {
  it("leaves out the longest run that continues the past", () => {
    expect(join(["a", "b", "c"], ["b", "c", "d"])).toEqual(["d"]);
    expect(join(["a", "b"], ["a", "b"])).toEqual([]);
    expect(join(["a"], ["b", "c"])).toEqual(["b", "c"]);
    expect(join([], ["a"])).toEqual(["a"]);
    expect(join(["a", "a", "b"], ["a", "a", "b", "a"])).toEqual(["a"]);
    // The past lines end within what looked like a match.
    expect(join(["a", "b", "c"], ["b", "x"])).toEqual(["b", "x"]);
  });

  it("gives every line once, whatever was missed and wherever the new stream begins", () => {
    const text = fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.nat(30), fc.nat(30), (lines, read, tail) => {
        const seen = lines.slice(0, read);
        const from = Math.max(0, Math.min(read, lines.length) - tail);
        expect([...seen, ...join(seen, lines.slice(from))]).toEqual(lines);
      }),
      { verbose: true },
    );
  });
});
