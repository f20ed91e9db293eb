import fc from "fast-check";
import { assert, describe, expect, it } from "vitest";
import { type ChangedLine, changedLines } from "./changes.ts";

/** Lines as `diff` prints them; `@5` stands for five lines that are left out. */
const printed = (lines: readonly ChangedLine[]): string =>
  lines
    .map((line) =>
      line.kind === "skip" ? `@${line.count}` : `${{ same: " ", gone: "-", new: "+" }[line.kind]}${line.text}`,
    )
    .join("\n");

describe("the comparison of two texts", () => {
  it("shows changed lines with two equal ones around them", () => {
    const text = ["a", "b", "c", "image: web:1", "d", "e", "f", "g"].join("\n");
    const lines = changedLines(text, text.replace("web:1", "web:2"));
    expect(printed(lines)).toBe(["@1", " b", " c", "-image: web:1", "+image: web:2", " d", " e", "@2"].join("\n"));
  });

  it("is empty for equal texts, and whole where nothing is equal", () => {
    expect(changedLines("a\nb", "a\nb")).toEqual([]);
    expect(printed(changedLines("a\nb", "c"))).toBe("-a\n-b\n+c");
    expect(printed(changedLines("", "a"))).toBe("-\n+a");
  });

  it("matches lines that stand between changes", () => {
    expect(printed(changedLines("1\n2\n3\n4", "0\n2\n3\n5"))).toBe("-1\n+0\n 2\n 3\n-4\n+5");
  });

  it("holds both texts, in their order", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 }).map((each) => each.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = changedLines(before, after);
        if (before === after) return lines.length === 0;
        const count = (kind: ChangedLine["kind"]) =>
          lines.reduce((sum, line) => sum + (line.kind !== kind ? 0 : line.kind === "skip" ? line.count : 1), 0);
        const same = count("same") + count("skip");
        assert.equal(same + count("gone"), before.split("\n").length);
        assert.equal(same + count("new"), after.split("\n").length);
        const texts = (kinds: readonly string[]) =>
          lines.flatMap((line) => (line.kind === "skip" || !kinds.includes(line.kind) ? [] : [line.text]));
        assert.isTrue(isWithin(texts(["same", "gone"]), before.split("\n")));
        assert.isTrue(isWithin(texts(["same", "new"]), after.split("\n")));
        return true;
      }),
    );
  });

  it("of long texts without an equal line ends", () => {
    const long = (word: string) => Array.from({ length: 5_000 }, (_, i) => `${word} ${i}`).join("\n");
    expect(changedLines(long("old"), long("new")).length).toBe(10_000);
  });
});

/** Whether lines stand in a text in this order. */
function isWithin(lines: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  for (const line of lines) {
    while (at < text.length && text[at] !== line) at += 1;
    if (at === text.length) return false;
    at += 1;
  }
  return true;
}
