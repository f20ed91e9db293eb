import { describe, expect, it } from "vitest";
import { createLogger, isLogFormat, isLogLevel, LOG_LEVELS, type LogFormat, type LogLevel } from "./log.ts";

function capture(format: LogFormat, level: LogLevel = "info") {
  const lines: string[] = [];
  const now = () => Date.UTC(2026, 10, 21, 10, 0, 0, 7);
  return { lines, log: createLogger({ level, format, write: (line) => lines.push(line), now }) };
}

describe("the plain format", () => {
  it("pads the message and lists the fields", () => {
    const { lines, log } = capture("plain");
    log.info("found leases", { module: "provider-cluster", "num-active": 3n });
    log.error("halted");
    expect(lines).toEqual([
      "I[2026-11-21|10:00:00.007] found leases                                 module=provider-cluster num-active=3\n",
      "E[2026-11-21|10:00:00.007] halted\n",
    ]);
  });

  it("quotes what is not one word, so that no value can look like another line or field", () => {
    const { lines, log } = capture("plain");
    log.warn("a\nb", { a: "x y", b: "k=v", c: "", d: 'q"', e: "line\nline", f: { g: 1 }, h: [1, "a b"], i: "ü" });
    expect(lines[0]).toContain("] a\\u000ab  ");
    expect(lines[0]).toContain(
      ' a="x y" b="k=v" c="" d="q\\"" e="line\\nline" f="{\\"g\\":1}" h="[1,\\"a b\\"]" i=ü\n',
    );
    expect(lines[0]?.split("\n")).toHaveLength(2);
  });

  it("writes no control of a terminal, whoever chose the text", () => {
    const { lines, log } = capture("plain");
    // Escape, its one-character form, delete, a line separator, and an override of the direction of writing.
    for (const control of ["\u001b", "\u009b", "\u007f", "\u2028", "\u202e", "\u2066"]) {
      log.info(`a${control}[2J`, { memo: `a${control}b`, moniker: `two words${control}` });
    }
    expect(lines.join("").replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(lines[1]).toContain("] a\\u009b[2J");
    expect(lines[1]).toContain(' memo="a\\u009bb" moniker="two words\\u009b"');
  });
});

describe("the json format", () => {
  it("is one object a line", () => {
    const { lines, log } = capture("json");
    log.child({ module: "rpc" }).info("listening", { address: "tcp://127.0.0.1:26657", height: 5n });
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      level: "info",
      time: "2026-11-21T10:00:00.007Z",
      module: "rpc",
      address: "tcp://127.0.0.1:26657",
      height: "5",
      message: "listening",
    });
  });
});

describe("both formats", () => {
  it.each(["plain", "json"] as const)("%s: leaves out what is below the level", (format) => {
    const count = (level: LogLevel) => {
      const { lines, log } = capture(format, level);
      log.debug("1");
      log.info("2");
      log.warn("3");
      log.error("4");
      return lines.length;
    };
    expect(LOG_LEVELS.map(count)).toEqual([4, 4, 3, 2, 1, 0, 0]);
  });

  it.each(["plain", "json"] as const)("%s: blanks secrets, shows bytes as hex and errors by their text", (format) => {
    const { lines, log } = capture(format);
    log.info("x", {
      passphrase: "hunter2",
      Private_Key: "abc",
      hash: new Uint8Array([1, 171]),
      error: new Error("no"),
    });
    expect(lines[0]).not.toMatch(/hunter2|abc/);
    expect(lines[0]).toMatch(/01ab/);
    expect(lines[0]).toMatch(/no/);
    expect(lines[0]?.match(/\[redacted\]/g)).toHaveLength(2);
  });

  it("know their names", () => {
    expect(isLogLevel("warn") && !isLogLevel("warning") && isLogFormat("json") && !isLogFormat("text")).toBe(true);
  });
});
