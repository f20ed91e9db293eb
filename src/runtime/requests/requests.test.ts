import { describe, expect, test } from "vitest";
import { testKey } from "../../testing/index.ts";
import { defineErrors, SvcError } from "../../util/index.ts";
import { Certificate_State } from "../../wire/gen/svc/cert/v1beta1/cert_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { checkAddress, minimumsProblems, readState } from "./requests.ts";

const errors = defineErrors("test", { bad: [7, "bad", "write a good one"] });

describe("addresses", () => {
  test("of accounts pass, everything else is refused with the place where it stands", () => {
    const { address, bytes } = testKey("alice");
    expect(() => checkAddress("owner", address)).not.toThrow();
    for (const text of ["", "alice", `${address} `, encodeAddress(bytes, "valoper"), "x".repeat(5000)]) {
      expect(() => checkAddress("owner", text)).toThrow(
        /^owner ".{0,100}" is not an account address: invalid address$/,
      );
    }
  });

  test("are refused with the caller's error", () => {
    expect(() => checkAddress("auditor", "a\nb", errors.bad)).toThrow('auditor "a\\nb" is not an account address: bad');
  });
});

describe("states", () => {
  test("are found by name; the empty text is no state", () => {
    expect(readState("valid", Certificate_State)).toBe(Certificate_State.valid);
    expect(readState("", Certificate_State)).toBeUndefined();
    expect(readState("closed", { open: 1, closed: 2 })).toBe(2);
    expect(() => readState("x", { none: 0, a: 1, b: 2, c: 3 })).toThrow('unknown state "x": write a, b or c');
  });

  test.each(["invalid", "Valid", "1", "2", "constructor", "__proto__", "x".repeat(5000)])("%j is none", (text) => {
    expect(() => readState(text, Certificate_State, errors.bad)).toThrow(
      /^unknown state ".{1,40}": write valid or revoked: bad$/,
    );
    expect(() => readState(text, Certificate_State)).toThrow(SvcError);
  });
});

describe("minimum amounts", () => {
  test("stand once for each denomination and are positive", () => {
    const coin = (denom: string, amount: string) => ({ denom, amount });
    expect(minimumsProblems("min", [coin("utoken", "5"), coin("stake", "1")])).toEqual([]);
    expect(minimumsProblems("min", [])).toEqual(["min: there must be at least one"]);
    const bad = [coin("utoken", "0"), coin("!", "1"), coin("utoken", "1"), coin("utoken", "2")];
    expect(minimumsProblems("min", bad)).toEqual([
      "min[0]: 0utoken is not positive: invalid coins",
      'min[1]: invalid denomination "!": invalid coins',
      "min[3]: utoken appears twice",
    ]);
  });
});
