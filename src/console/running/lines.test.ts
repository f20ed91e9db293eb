import { describe, expect, it } from "vitest";
import { LineStore, levelOf, shownText } from "./lines.ts";

const ALL = { search: "", level: "other" } as const;

function filled(messages: Iterable<string>): LineStore {
  const store = new LineStore();
  for (const message of messages) store.push({ name: "web-0", message });
  return store;
}

describe("lines of containers", () => {
  it("obey nothing: colours, cursors, titles, clipboards and directions are gone or shown as codes", () => {
    const hostile = "a\u001b[31mred\u001b[0m\u001b[2J\u001b]0;title\u0007\u001b]52;c;aGk=\u0007\u009b1m\u202eb\u200bc";
    expect(shownText(hostile)).toBe("ared1m\\u202eb\\u200bc");
  });

  it("are cut where they are long", () => {
    expect(shownText("x".repeat(1_000_000)).length).toBe(4_000);
  });

  it.each([
    ['{"level":"error","msg":"x"}', "error"],
    ["time=1 level=warn msg=x", "warning"],
    ["2026-01-01 12:00:00 ERROR no route", "error"],
    ["[warning] slow", "warning"],
    ["[error] slow", "error"],
    ["GET /errors 200", "other"],
    ["no error", "other"],
    ['{"level":"info","msg":"ERROR 5"}', "other"],
  ])("%s has the level %s", (text, level) => {
    expect(levelOf(text)).toBe(level);
  });

  it("are held within bounds; the newest stay", () => {
    const store = filled(Array.from({ length: 100_000 }, (_, i) => `line ${i}`));
    expect([store.received, store.held]).toEqual([100_000, 20_000]);
    const { lines, matches } = store.find(ALL, 2);
    expect([lines.map(({ text }) => text), matches]).toEqual([["line 99998", "line 99999"], 20_000]);
    expect(store.find({ ...ALL, search: "line 5" }, 10).matches).toBe(0);
  });

  it("that are long are fewer", () => {
    const store = filled(Array.from({ length: 5_000 }, () => "x".repeat(4_000)));
    expect(store.held).toBe(2_000);
  });

  it("are found by a part in any case, by their replica and by their level", () => {
    const store = filled(["Ready", "ERROR disk full", "[warn] slow"]);
    const found = (filter: Partial<Parameters<LineStore["find"]>[0]>) =>
      store.find({ ...ALL, ...filter }, 10).lines.map(({ text }) => text);
    expect(found({ search: "rEaDy" })).toEqual(["Ready"]);
    expect(found({ search: "WEB-0" }).length).toBe(3);
    expect(found({ level: "warning" })).toEqual(["ERROR disk full", "[warn] slow"]);
    expect(found({ level: "error", search: "slow" })).toEqual([]);
    expect(store.asText()).toContain("[web-0] Ready\n");
  });
});
