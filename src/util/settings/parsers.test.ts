import { describe, expect, it } from "vitest";
import { asCount, asDuration, asDurationOrNone, asNumber, asSwitch, asText, asWords, optional } from "./parsers.ts";
import { WrongForm } from "./setting.ts";

describe("texts of settings", () => {
  it.each([
    [asText, "", ""],
    [optional(asCount), "", undefined],
    [optional(asCount), "7", 7],
    [asWords, " a, b,,", ["a", "b"]],
    [asSwitch, "", false],
    [asSwitch, "No", false],
    [asSwitch, "1", true],
    [asDuration, "1h30m", 5_400_000],
    [asDurationOrNone, "0", 0],
    [asDurationOrNone, "0s", 0],
    [asDurationOrNone, "5s", 5000],
    [asCount, "", 0],
    [asCount, "9007199254740991", Number.MAX_SAFE_INTEGER],
    [asNumber, "1.5", 1.5],
  ])("%o reads %j", (parse, text, value) => expect(parse(text)).toEqual(value));

  it.each([
    [asSwitch, "maybe", "true or false"],
    [asDuration, "0s", "a duration such as 30s, 5m or 1h30m"],
    [asDuration, "5", "a duration such as 30s, 5m or 1h30m"],
    [asDurationOrNone, "", "a duration such as 30s, 5m or 1h30m"],
    [asCount, "-1", "a whole number"],
    [asCount, "1e3", "a whole number"],
    [asCount, "9007199254740992", "a whole number up to 9007199254740991"],
    [asNumber, "-1", "a number"],
    [asNumber, "", "a number"],
  ])("%o refuses %j", (parse, text, form) => expect(() => parse(text)).toThrow(new WrongForm(form)));
});
