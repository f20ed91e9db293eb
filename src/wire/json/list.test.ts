import { describe, expect, test } from "vitest";
import { GenesisStateSchema } from "../gen/sdk/auth/v1beta1/auth_pb.js";
import { fromJson, isObject, JsonList, type JsonValue, sortJson } from "./index.ts";
import { writeSortedJson } from "./text.ts";

function listOf(...parts: readonly (readonly JsonValue[])[]): JsonList {
  return new JsonList(() => parts);
}

describe("a list that is read in parts", () => {
  test("has the items of all parts in their order, also where a part is empty", () => {
    expect([...listOf([1, 2], [], ["a"])]).toEqual([1, 2, "a"]);
    expect([...listOf()]).toEqual([]);
  });

  test("is read anew with every walk", () => {
    let walks = 0;
    const list = new JsonList(() => {
      walks += 1;
      return [[walks]];
    });
    expect([[...list], [...list]]).toEqual([[1], [2]]);
  });

  test("reads no part before its items are asked for", () => {
    const read: number[] = [];
    const list = new JsonList(function* () {
      for (const part of [0, 1, 2]) {
        read.push(part);
        yield [part];
      }
    });
    for (const item of list) if (item === 1) break;
    expect(read).toEqual([0, 1]);
  });

  test("is written as an array of the same items is, with sorted keys", () => {
    const items = Array.from({ length: 600 }, (_, i) => ({ b: i, a: [i] }));
    const written = (value: JsonValue | JsonList) => {
      let text = "";
      writeSortedJson(value, (part) => {
        text += part;
      });
      return text;
    };
    expect(written(listOf(items.slice(0, 255), items.slice(255, 257), items.slice(257)))).toBe(written(items));
    expect(written(listOf())).toBe("[]");
    expect(JSON.stringify({ list: listOf([1], [2]) })).toBe('{"list":[1,2]}');
  });

  test("is refused where another value is expected, and is no object", () => {
    const read = (value: unknown) => () => fromJson(GenesisStateSchema, value as JsonValue);
    expect(read({ params: listOf([{}]) })).toThrow("a list");
    expect(read({ params: { max_memo_characters: listOf(["1"]) } })).toThrow("an integer was expected");
    expect(read(listOf([{}]))).toThrow("a list");
    expect(isObject(listOf([1]) as unknown as JsonValue)).toBe(false);
  });

  test("keeps its items where keys are sorted", () => {
    expect(sortJson({ b: listOf([{ d: 1, c: 2 }]) as unknown as JsonValue, a: 1 })).toEqual({
      a: 1,
      b: [{ c: 2, d: 1 }],
    });
  });
});
