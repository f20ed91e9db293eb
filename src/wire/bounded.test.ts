import { describe, expect, it } from "vitest";
import {
  decodeBounded,
  jsonRefusal,
  MAX_REQUEST_BYTES,
  MAX_REQUEST_VALUES,
  MAX_TX_REQUEST_BYTES,
  maxRequestBytes,
  readBoundedJson,
} from "./bounded.ts";
import { QueryAllBalancesRequestSchema } from "./gen/sdk/bank/v1beta1/query_pb.js";
import { Service, TxEncodeRequestSchema } from "./gen/sdk/tx/v1beta1/service_pb.js";

const MANY = "values";
const DEEP = "values in one another";

describe("JSON of strangers", () => {
  const list = (items: number) => `[${Array(items).fill("1").join(",")}]`;

  it("may have so many values, and not one more", () => {
    expect(jsonRefusal(list(MAX_REQUEST_VALUES - 1))).toBeUndefined();
    expect(jsonRefusal(list(MAX_REQUEST_VALUES))).toContain(MANY);
    expect(() => readBoundedJson(list(MAX_REQUEST_VALUES))).toThrow(MANY);
    expect(readBoundedJson(list(3))).toEqual([1, 1, 1]);
  });

  it.each([
    ["objects", "{},".repeat(MAX_REQUEST_VALUES), MANY],
    ["keys", `{${'"k":1,'.repeat(MAX_REQUEST_VALUES)}`, MANY],
    ["lists in one another", "[".repeat(129), DEEP],
    ["objects in one another", '{"a":'.repeat(129), DEEP],
    ["lists after a string with escapes", `["\\\\\\"",${"[".repeat(129)}`, DEEP],
    ["lists after a string that ends with a backslash", `["\\\\",${"[".repeat(129)}`, DEEP],
  ])("is refused for too many %s", (_, text, words) => {
    expect(jsonRefusal(text)).toContain(words);
  });

  it.each([
    ["brackets and commas in a string", JSON.stringify(`"[{,\\`.repeat(MAX_REQUEST_VALUES))],
    ["a string that does not end", `["${"[".repeat(1_000)}`],
    ["as deep as it may be", "[".repeat(128) + "]".repeat(128)],
    ["many lists side by side", `[${Array(1_000).fill("[[]]").join(",")}]`],
    ["nothing", ""],
  ])("is not refused for %s", (_, text) => {
    expect(jsonRefusal(text)).toBeUndefined();
  });
});

describe("messages of strangers", () => {
  /** Empty values of a field, two bytes each. */
  const empty = (number: number, count: number) => Buffer.alloc(2 * count, Buffer.of((number << 3) | 2, 0));
  const inside = (bytes: Buffer) => {
    const head = [0x0a];
    for (let left = bytes.length; left > 0; left >>>= 7) head.push((left & 127) | (left > 127 ? 128 : 0));
    return Buffer.concat([Buffer.from(head), bytes]);
  };

  it("may have so many fields, and not one more", () => {
    const fields = (count: number) => decodeBounded(TxEncodeRequestSchema, inside(empty(3, count - 1)));
    expect(fields(MAX_REQUEST_VALUES).tx?.signatures).toHaveLength(MAX_REQUEST_VALUES - 1);
    expect(() => fields(MAX_REQUEST_VALUES + 1)).toThrow("more than 32768 fields");
  });

  it("may have so many bytes, and more with a transaction", () => {
    expect(maxRequestBytes(QueryAllBalancesRequestSchema)).toBe(MAX_REQUEST_BYTES);
    const ask = (bytes: number) => decodeBounded(QueryAllBalancesRequestSchema, empty(2, bytes / 2));
    expect(ask(MAX_REQUEST_BYTES).pagination).toBeDefined();
    expect(() => ask(MAX_REQUEST_BYTES + 2)).toThrow("larger than 65536 bytes");
  });

  it("carry transactions in these rpcs", () => {
    const carriers = Service.methods.filter(({ input }) => maxRequestBytes(input) === MAX_TX_REQUEST_BYTES);
    expect(carriers.map(({ name }) => name).sort()).toEqual([
      "BroadcastTx",
      "Simulate",
      "TxDecode",
      "TxDecodeAmino",
      "TxEncode",
      "TxEncodeAmino",
    ]);
  });
});
