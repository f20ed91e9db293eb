import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonList } from "../wire/index.ts";
import { readWithLists } from "./genesis-lists.ts";

const SIZES = { long: 4, part: 2 };

/** The JSON value with its lists walked. */
function whole(text: string): unknown {
  const json = readWithLists(Buffer.from(text), SIZES);
  if (typeof json !== "object" || json === null || Array.isArray(json)) return json;
  const copy = {};
  for (const [name, value] of Object.entries(json)) {
    const read = value instanceof JsonList ? [...value] : value;
    Object.defineProperty(copy, name, { value: read, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

function verdict(read: () => unknown): unknown {
  try {
    return { read: read() };
  } catch {
    return "refused";
  }
}

describe("JSON with long lists", () => {
  test("says what JSON.parse says, whatever its spacing", () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const names = fc.constantFrom("a", 'a"b', "a\\", "__proto__", "[", ":,", "é\u2028");
    const file = fc.oneof(fc.dictionary(fc.oneof(names, fc.string()), fc.oneof(fc.array(value), value)), value);
    fc.assert(
      fc.property(file, fc.constantFrom(0, 1, "\t"), (json, indent) => {
        const text = JSON.stringify(json, undefined, indent);
        expect(whole(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  test("is refused wherever JSON.parse refuses it", () => {
    const valid = '{"a":[ 1 ,{"b":[2,"],"]},[]],"c":{"d":[1,2,3]},"a":[4,5,6,7],"e":[    ]}';
    for (let at = 0; at < valid.length; at++) {
      for (const put of ["", ",", "]", "}", "[", '"', ":", "\\", "1", " "]) {
        for (const broken of [
          valid.slice(0, at) + put + valid.slice(at + 1),
          valid.slice(0, at) + put + valid.slice(at),
        ])
          expect(
            verdict(() => whole(broken)),
            broken,
          ).toEqual(verdict(() => JSON.parse(broken)));
      }
      expect(verdict(() => whole(valid.slice(0, at)))).toEqual("refused");
    }
  });

  test.each([
    '{"a":[     ,1]}',
    '{"a":[1,      ]}',
    '{"a":[     ]}',
    '{"a":[1,2,3],"a":5}',
    '{"a":[1,2,3],"a":[4,5,6]}',
    '{"a":5 [1,2,3]}',
    "{[1,2,3]}",
  ])("%s is judged as JSON.parse judges it", (text) =>
    expect(verdict(() => whole(text))).toEqual(verdict(() => JSON.parse(text))),
  );

  test("a list of the length is read in parts, a shorter one is not", () => {
    const read = (text: string) => (readWithLists(Buffer.from(text), SIZES) as { a: unknown }).a;
    expect(read('{"a":[1,22]}')).toBeInstanceOf(JsonList);
    expect(read('{"a":[1,2]}')).toEqual([1, 2]);
  });
});
