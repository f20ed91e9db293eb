import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type Attribute, AttributeSchema } from "../../wire/gen/svc/base/v1beta1/base_pb.js";
import { attributeFault, isAttributeKey, matchAttributes } from "./attributes.ts";

function attributes(pairs: Readonly<Record<string, string>>): Attribute[] {
  return Object.entries(pairs).map(([key, value]) => create(AttributeSchema, { key, value }));
}

describe("keys", () => {
  test.each(["ab", "region", "host", "a1", "a_", "a-", "capabilities/gpu/vendor/nvidia/model/a100", "a".repeat(127)])(
    "%s is offered and asked for",
    (key) => {
      expect([isAttributeKey(key, "offered"), isAttributeKey(key, "required")]).toEqual([true, true]);
    },
  );

  test.each(["ab*", "feature/*", "capabilities/gpu/vendor/amd/model/*", `${"a".repeat(127)}*`])(
    "the pattern %s is only asked for",
    (key) => {
      expect([isAttributeKey(key, "offered"), isAttributeKey(key, "required")]).toEqual([false, true]);
    },
  );

  test.each(["", "a", "1a", "-a", "/a", "a b", "a\nb", "ab\n", "a=b", "é1", "aé", "a*b", "ab**", "*", "a".repeat(128)])(
    "%j is neither",
    (key) => {
      expect([isAttributeKey(key, "offered"), isAttributeKey(key, "required")]).toEqual([false, false]);
    },
  );
});

test("faults in what is asked for are reported, too", () => {
  const fault = (key: string) => attributeFault(attributes({ [key]: "x" }), "required");
  expect([fault("a/*"), fault("ab**")?.split(": ")[1], fault("z*")?.split(": ")[1]]).toEqual([
    undefined,
    "only a requested key may end in *",
    "it is too short, a key has 2 to 127 characters",
  ]);
});

describe("lists", () => {
  test.each<[string, Attribute[], string]>([
    [
      "a bad key",
      attributes({ region: "eu", "no good": "x" }),
      'invalid attribute key "no good": a key may only have letters, digits and _ / . -',
    ],
    [
      "a long bad key",
      attributes({ ["x".repeat(5000)]: "" }),
      `invalid attribute key "${"x".repeat(128)}": it is too long, a key has 2 to 127 characters`,
    ],
    [
      "a short key",
      attributes({ z: "1" }),
      'invalid attribute key "z": it is too short, a key has 2 to 127 characters',
    ],
    ["no key", attributes({ "": "1" }), 'invalid attribute key "": it is too short, a key has 2 to 127 characters'],
    ["a digit first", attributes({ "1a": "1" }), 'invalid attribute key "1a": a key begins with a letter from a to z'],
    ["a pattern", attributes({ "a/*": "1" }), 'invalid attribute key "a/*": only a requested key may end in *'],
    [
      "a key twice",
      [...attributes({ region: "eu" }), ...attributes({ region: "eu" })],
      "attribute region appears twice",
    ],
    ["a long value", attributes({ region: "x".repeat(257) }), "the value of attribute region is too long"],
    ["a value of many bytes", attributes({ region: "é".repeat(129) }), "the value of attribute region is too long"],
    ["too many", attributes(numbered(129)), "129 attributes, at most 128 are allowed"],
  ])("with %s are refused", (_name, list, fault) => {
    expect(attributeFault(list, "offered")).toBe(fault);
  });

  test("of the largest size are good, and empty ones", () => {
    expect(attributeFault(attributes(numbered(128)), "offered")).toBeUndefined();
    expect(attributeFault(attributes({ region: "x".repeat(256), empty: "" }), "offered")).toBeUndefined();
    expect(attributeFault([], "required")).toBeUndefined();
  });
});

test("every required pair must be offered, a pattern by any key that begins like it", () => {
  const offered = attributes({ region: "eu", "feature/a": "true", "feature/b": "false" });
  const meets = (required: Readonly<Record<string, string>>) => matchAttributes(attributes(required), offered);
  expect(meets({})).toBe(true);
  expect(meets({ region: "eu" })).toBe(true);
  expect(meets({ region: "eu", "feature/*": "false" })).toBe(true);
  expect(meets({ "feature/*": "maybe" })).toBe(false);
  expect(meets({ region: "us" })).toBe(false);
  expect(meets({ Region: "eu" })).toBe(false);
  expect(meets({ regio: "eu" })).toBe(false);
  expect(meets({ region: "eu", tier: "x" })).toBe(false);
  expect(matchAttributes(attributes({ region: "eu" }), [])).toBe(false);
});

function numbered(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, "x"]));
}
