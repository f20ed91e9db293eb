import { describe, expect, it } from "vitest";
import { LINE_CUT, LineBudget, lastLines, linesOf, MAX_LINE, OpenLine } from "./log-lines.ts";

const NOTHING = Buffer.alloc(0);

/** A line of this many bytes that comes in pieces of this many. */
function fill(line: OpenLine, bytes: number, piece = 8_192): string {
  for (let at = 0; at < bytes; at += piece) line.push(Buffer.alloc(Math.min(piece, bytes - at), "x"));
  return line.end(NOTHING);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("a line", () => {
  it("is delivered up to a megabyte, and says if it was longer", () => {
    const line = new OpenLine(new LineBudget());
    expect(fill(line, MAX_LINE)).toBe("x".repeat(MAX_LINE));
    line.release();
    expect(fill(line, MAX_LINE + 1)).toBe(`${"x".repeat(MAX_LINE)}${LINE_CUT}`);
    line.release();
    expect([fill(line, 10), line.end(Buffer.alloc(MAX_LINE + 1, "y")).length]).toEqual([
      "x".repeat(10),
      MAX_LINE + LINE_CUT.length,
    ]);
  });

  it("is not cut within a character", () => {
    const line = new OpenLine(new LineBudget(), 8);
    line.push(Buffer.from("1234567é and more"));
    expect(line.end(NOTHING)).toBe(`1234567${LINE_CUT}`);
  });

  it("holds no more memory than one request has, beside other long lines", () => {
    const budget = new LineBudget();
    const lines = Array.from({ length: 100 }, () => new OpenLine(budget));
    const sizes = lines.map((line) => fill(line, MAX_LINE).length);
    const whole = sizes.filter((size) => size === MAX_LINE).length;
    expect(whole).toBeGreaterThan(10);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(32 << 20);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(64 << 10);
    for (const line of lines) line.release();
    expect(fill(new OpenLine(budget), MAX_LINE).length).toBe(MAX_LINE);
  });

  it("of a stream ends at its line end or with the stream, unless the stream may go on", async () => {
    const read = async (isOpen: boolean) => {
      const pieces = ["one\ntw", "o\n", "\nlo", "ng line", "\nlast"].map((text) => Buffer.from(text));
      const bytes = (async function* () {
        yield* pieces;
      })();
      return collect(linesOf(bytes, { budget: new LineBudget(), most: 5, isOpen }));
    };
    expect(await read(false)).toEqual(["one", "two", "", `long ${LINE_CUT}`, "last"]);
    expect(await read(true)).toEqual(["one", "two", "", `long ${LINE_CUT}`]);
  });
});

describe("the last lines of a log", () => {
  async function last(lines: readonly string[], count: number, hasTail = false) {
    const asked: number[] = [];
    const read = async function* (tail: number) {
      asked.push(tail);
      yield* tail < 0 ? lines : lines.slice(-tail);
    };
    return { lines: await collect(lastLines({ count, read, textOf: (line) => line, hasTail })), asked };
  }
  const short = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
  const long = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(20_000, "."));

  it("are those that were asked for, at one reading while they are short", async () => {
    for (const count of [0, 1, 3, 2_000, 5_000, 9_000]) {
      const { lines } = await last(short, count);
      expect(lines, `${count} lines`).toEqual(count === 0 ? [] : short.slice(-count));
    }
    expect((await last(short, 100)).asked).toEqual([-1]);
    expect(await last(long, 40)).toEqual({ lines: long.slice(-40), asked: [-1, -1] });
  });

  it("are looked for at the end where that can be read by itself", async () => {
    expect(await last(short, 3, true)).toEqual({ lines: short.slice(-3), asked: [67] });
    expect(await last(["one", "two"], 3, true)).toEqual({ lines: ["one", "two"], asked: [67, -1] });
    expect(await last(long, 10, true)).toEqual({ lines: long.slice(-10), asked: [74, 74] });
  });
});
