import { describe, expect, it } from "vitest";
import { MAX_QUERY_LENGTH, matches, parseQuery } from "./query.ts";

const attributes = new Map([
  ["tm.event", ["Tx"]],
  ["tx.height", ["7"]],
  ["transfer.amount", ["500utoken", "10uvec"]],
  ["message.action", ["send"]],
  ["lease.date", ["2026-11-21"]],
  ["lease.time", ["2026-11-21T17:15:43.5Z"]],
  ["empty.key", [""]],
]);

function match(query: string): boolean {
  return matches(parseQuery(query), attributes);
}

describe("queries", () => {
  it.each([
    ["tm.event='Tx'", true],
    [" tm.event = 'Tx'  AND message.action='send' ", true],
    ["tm.event='Tx' AND message.action='delegate'", false],
    ["tx.height=7", true],
    ["tx.height>6 AND tx.height<8", true],
    ["tx.height>=8", false],
    ["tx.height<=7", true],
    ["transfer.amount>499", true],
    ["transfer.amount<10", false],
    ["transfer.amount CONTAINS 'uvec'", true],
    ["transfer.amount CONTAINS 'stake'", false],
    ["message.action EXISTS", true],
    ["message.module EXISTS", false],
    ["empty.key EXISTS AND empty.key=''", true],
    ["lease.date=DATE 2026-11-21", true],
    ["lease.date>DATE 2026-11-21", false],
    ["lease.time>TIME 2026-11-21T17:15:43Z", true],
    ["lease.time<TIME 2026-11-21T18:15:43+01:00", false],
    ["message.action>5", false],
  ])("%s", (query, expected) => {
    expect(match(query)).toBe(expected);
  });

  it.each([
    ["", "expected an attribute such as message.action at character 1"],
    ["bad", "expected one of = < <= > >= CONTAINS EXISTS at character 4"],
    ["a.b=", "expected a text in single quotes, a number, DATE or TIME at character 5"],
    ["a.b='x", "expected a text in single quotes, a number, DATE or TIME at character 5"],
    ["a.b='x' OR c.d='y'", "expected AND or the end at character 9"],
    ["a.b>'x'", "> takes a number, DATE or TIME, not a text at character 8"],
    ["a.b CONTAINS 5", "CONTAINS takes a text in single quotes at character 15"],
    ["a.b=5x", "expected a text in single quotes, a number, DATE or TIME at character 5"],
    [Array(17).fill("a.b=1").join(" AND "), "more than 16 conditions"],
    ["a.b>=TIME 2026-13-01T00:00:00Z", "invalid time"],
    ["a.b='it\\'s'", "expected AND or the end at character"],
    ["a.b EXISTS 'x'", "expected AND or the end at character 12"],
    ["a.b=DATE 2026-1-1", "expected a text in single quotes, a number, DATE or TIME at character 5"],
    ["(a.b=1)", "expected an attribute such as message.action at character 1"],
  ])("refuses %s", (query, text) => {
    expect(() => parseQuery(query)).toThrow(text);
  });

  it("is as long as the reference takes it, and no longer", () => {
    const query = (length: number) => "a.b='".padEnd(length - 1, "x").concat("'");
    expect(parseQuery(query(MAX_QUERY_LENGTH))).toHaveLength(1);
    expect(() => parseQuery(query(MAX_QUERY_LENGTH + 1))).toThrow("maximum query length exceeded");
  });
});
