import { describe, expect, it } from "vitest";
import { Position } from "./logs.ts";
import type { PodLine } from "./pod-lines.ts";

function line(time: string, text: string): PodLine {
  const whole = `2026-01-02T03:04:0${time}Z`;
  return { time: whole, at: Date.parse(whole), text };
}

/** The shown lines of a stream. */
function shown(position: Position, lines: readonly PodLine[]): string[] {
  const isNew = position.filter();
  return lines.filter((each) => isNew(each) && position.add(each) === undefined).map(({ text }) => text);
}

describe("the position in a pod's log", () => {
  const lines = [line("1.5", "one"), line("1.7", "out"), line("1.6", "err"), line("1.7", "same time")];

  it("leaves out no line whose stream was passed by the other one", () => {
    expect(shown(new Position(), lines)).toEqual(["one", "out", "err", "same time"]);
  });

  it("goes on behind the last line, also of those of one time", () => {
    const position = new Position();
    shown(position, lines);
    expect(position.at).toBe(Date.parse("2026-01-02T03:04:01.7Z"));
    expect(shown(position, [...lines, line("1.7", "new"), line("2.0", "newer")])).toEqual(["new", "newer"]);
    expect(shown(position, [line("1.7", "old"), line("2.0", "newer"), line("3.0", "newest")])).toEqual(["newest"]);
  });
});
