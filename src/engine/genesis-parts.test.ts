import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toUtf8 } from "../util/index.ts";
import { readGenesisParts } from "./genesis-parts.ts";

/** The file as `JSON.parse` reads it, put together from its parts. */
function whole(text: string): unknown {
  const { json, part } = readGenesisParts(toUtf8(text));
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const { app_state: state } = json as { app_state?: unknown };
  if (typeof state !== "object" || state === null || Array.isArray(state)) return json;
  const parts = Object.entries(state).map(([name, number]) => [name, part(name, number)] as const);
  return { ...json, app_state: Object.fromEntries(parts) };
}

describe("a genesis file in parts", () => {
  test("says what it says as a whole, whatever its spacing", () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    const texts = fc.constantFrom("app_state", 'a"b', "a\\", "{", "]", ":,", "é\u2028");
    const state = fc.oneof(fc.dictionary(fc.oneof(texts, fc.string()), value), value);
    const file = fc.record({ chain_id: fc.oneof(texts, value), app_state: state, later: value }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(file, value), fc.constantFrom(0, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(json, undefined, indent);
        expect(whole(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    '{"app_state":{"a":1},"app_state":{"b":[2]}}',
    '{"app_state":{"a":1,"a":{"b":2}}}',
    '{"app_state":[{"a":1}],"b":{"a":1}}',
    '{"app_state":5,"b":{"a":1}}',
    '{"app\\u005fstate":{"a":7},"b":{"a":1}}',
    '{"app_state":{"a":{"app_state":{"a":0}}}}',
    ' {"a":"app_state" , "b":{"c":1}} ',
    '["app_state",{"a":1}]',
    '{"app_state":{}}',
    '{"app_state":{"__proto__":{"a":1}}}',
  ])("%s is read as JSON.parse reads it", (text) => {
    expect(whole(text)).toEqual(JSON.parse(text));
  });

  test("is refused as a whole or in the part that is not JSON", () => {
    const valid = '{"chain_id":"a","app_state":{"auth":{"x":[1,"}"]},"bank":{}},"b":[]}';
    for (let at = 0; at < valid.length; at++) {
      for (const broken of [valid.slice(0, at), valid.slice(0, at) + valid.slice(at + 1), `${valid.slice(0, at)}}`]) {
        const [expected, read] = [() => JSON.parse(broken), () => whole(broken)];
        if (isRefused(expected)) expect(isRefused(read), broken).toBe(true);
        else expect(read()).toEqual(expected());
      }
    }
    expect(() => whole('{"app_state":{"bank":{]}}')).toThrow("invalid genesis: app_state.bank: ");
  });
});

function isRefused(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch {
    return true;
  }
}
