import { describe, expect, test } from "vitest";
import { Flags } from "../../command/flags.ts";
import { readValidity } from "./cert.ts";

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 500);

function validity(given: Readonly<Record<string, string>>) {
  const values = Object.entries(given).map(([name, value]) => [name, { value, source: "flag" as const }] as const);
  return readValidity(new Flags(new Map(values)), NOW);
}

const at = (ms: number) => new Date(ms).toISOString();

describe("dates of a certificate", () => {
  test.each<[Readonly<Record<string, string>>, string, string]>([
    [{}, "2026-01-01T12:00:00.000Z", "2027-01-01T12:00:00.000Z"],
    [{ naf: "30d" }, "2026-01-01T12:00:00.000Z", "2026-01-31T12:00:00.000Z"],
    [{ nbf: "2030-02-01T00:00:00+01:00", naf: "1d" }, "2030-01-31T23:00:00.000Z", "2030-02-01T23:00:00.000Z"],
    [{ naf: "2026-06-01T00:00:00.9Z" }, "2026-01-01T12:00:00.000Z", "2026-06-01T00:00:00.000Z"],
    [
      { nbf: "2020-01-01T00:00:00Z", naf: "2028-01-01T00:00:00Z" },
      "2020-01-01T00:00:00.000Z",
      "2028-01-01T00:00:00.000Z",
    ],
  ])("%j", (given, begin, end) => {
    const { notBefore, notAfter } = validity(given);
    expect([at(notBefore), at(notAfter)]).toEqual([begin, end]);
  });

  test.each<[Readonly<Record<string, string>>, string]>([
    [{ nbf: "tomorrow" }, '--nbf takes a time such as 2027-01-31T12:00:00Z, not "tomorrow"'],
    [{ naf: "1y" }, '--naf takes <n>d or a time such as 2027-01-31T12:00:00Z, not "1y"'],
    [{ naf: "0d" }, "would end before it begins"],
    [{ naf: "2025-01-01T00:00:00Z" }, "would end before it begins"],
    [{ nbf: "2020-01-01T00:00:00Z", naf: "1d" }, "would have expired already"],
    [{ naf: "999999999d" }, "--naf takes"],
    [{ nbf: "9999-01-01T00:00:00Z", naf: "999d" }, "too far away"],
    [{ nbf: "2026-02-30T00:00:00Z" }, "--nbf takes"],
  ])("%j is refused", (given, text) => expect(() => validity(given)).toThrow(text));
});
