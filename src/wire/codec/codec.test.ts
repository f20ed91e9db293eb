import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/support/runs.ts";
import { PublicKeySchema, ValidatorUpdateSchema } from "../gen/comet/v1/abci_pb.js";
import { CanonicalVoteSchema } from "../gen/comet/v1/types_pb.js";
import { TxResponseSchema } from "../gen/sdk/base/abci/v1beta1/abci_pb.js";
import { PageRequestSchema } from "../gen/sdk/base/query/v1beta1/pagination_pb.js";
import { CoinSchema } from "../gen/sdk/base/v1beta1/coin_pb.js";
import { FeeSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { BidSchema } from "../gen/svc/market/v1beta1/market_pb.js";
import { allMessages } from "../registry.ts";
import { decodeMessage, decodeStrictly, encodeMessage, wireErrors } from "./index.ts";

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const uint32 = fc.integer({ min: 0, max: 0xffffffff });
const text = fc.string({ unit: "grapheme" });
const bytes = fc.uint8Array().map((value) => new Uint8Array(value));

/** Any message of a schema, by its descriptor; `depth` bounds nesting. */
function messages(schema: DescMessage, depth = 3): fc.Arbitrary<MessageShape<DescMessage>> {
  const fields = schema.fields.filter((field) => field.message === undefined || depth > 0);
  const entries = fields.map((field) => {
    const inner = field.message === undefined ? scalarOf(field) : messages(field.message, depth - 1);
    const value = field.fieldKind === "list" ? fc.array(inner, { maxLength: 3 }) : fc.option(inner, { nil: undefined });
    return [field, value] as const;
  });
  return fc.tuple(...entries.map(([, value]) => value)).map((values) => {
    const init: Record<string, unknown> = {};
    entries.forEach(([field], i) => {
      if (values[i] === undefined) return;
      if (field.oneof === undefined) init[field.localName] = values[i];
      else init[field.oneof.localName] = { case: field.localName, value: values[i] };
    });
    return create(schema, init);
  });
}

function scalarOf(field: DescMessage["fields"][number]): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map((value) => value.number));
  const byType: Record<number, fc.Arbitrary<unknown>> = {
    3: int64,
    4: uint64,
    5: fc.integer(),
    8: fc.boolean(),
    9: text,
    12: bytes,
    13: uint32,
    16: int64,
  };
  const arbitrary = byType[field.scalar ?? 0];
  if (arbitrary === undefined) throw new Error(`no values for ${field.toString()}`);
  return arbitrary;
}

const schemas = allMessages().filter((type) => !type.typeName.startsWith("google."));

describe("the compiled codec", () => {
  it("writes and reads every message as the library does", () => {
    for (const schema of schemas) {
      fc.assert(
        fc.property(messages(schema), (message) => {
          const encoded = encodeMessage(schema, message);
          expect(Buffer.from(encoded).toString("hex")).toBe(Buffer.from(toBinary(schema, message)).toString("hex"));
          const decoded = decodeMessage(schema, encoded);
          expect(decoded).toEqual(fromBinary(schema, encoded));
          expect(Object.keys(decoded)).toEqual(Object.keys(create(schema, decoded)));
        }),
        { numRuns: runs(2) },
      );
    }
  });

  it("writes messages larger than its buffer, and forgets a failed one", () => {
    const key = new Uint8Array(100_000).fill(7);
    const large = create(PageRequestSchema, { key });
    expect(encodeMessage(PageRequestSchema, large)).toEqual(toBinary(PageRequestSchema, large));
    const coin = create(CoinSchema, { denom: "a" });
    expect(() => encodeMessage(CoinSchema, { ...coin, amount: "\ud800" })).toThrow(
      "Coin.amount: the text is not valid",
    );
    expect(encodeMessage(CoinSchema, coin)).toEqual(new Uint8Array([10, 1, 97]));
  });

  it("writes a chosen member of a oneof even when it is empty", () => {
    const key = create(PublicKeySchema, { sum: { case: "ed25519", value: new Uint8Array() } });
    expect(encodeMessage(PublicKeySchema, key)).toEqual(new Uint8Array([10, 0]));
    expect(decodeMessage(PublicKeySchema, new Uint8Array([10, 0]))).toEqual(key);
  });

  it("writes negative numbers and fixed widths", () => {
    const update = create(ValidatorUpdateSchema, { power: -1n });
    expect(Buffer.from(encodeMessage(ValidatorUpdateSchema, update)).toString("hex")).toBe("10ffffffffffffffffff01");
    const vote = create(CanonicalVoteSchema, { height: 258n });
    expect(Buffer.from(encodeMessage(CanonicalVoteSchema, vote)).toString("hex")).toBe("110201000000000000");
  });

  it.each([
    [FeeSchema, { gasLimit: -1n }, /Fee.gas_limit: -1 is not an integer/],
    [FeeSchema, { gasLimit: 2n ** 64n }, /Fee.gas_limit/],
    [FeeSchema, { amount: [{ denom: "a", amount: 5 as never }] }, /Fee.amount: Coin.amount: 5 is not a string/],
    [TxResponseSchema, { code: 1.5 }, /TxResponse.code: 1.5 is not an integer/],
    [TxResponseSchema, { code: 2 ** 32 }, /TxResponse.code/],
  ])("refuses a value that does not fit (%#)", (schema, init, why) => {
    expect(() => encodeMessage(schema, create(schema as never, init as never))).toThrow(why);
  });
});

describe("strict reading", () => {
  const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

  it.each([
    ["-2147483648", "1080808080f8ffffffff01", -(2 ** 31)],
    ["-1", "10ffffffffffffffffff01", -1],
    ["2147483647", "10ffffffff07", 2 ** 31 - 1],
  ])("takes the number %s of 32 bits", (_, text, nanos) => {
    expect(decodeStrictly(DurationSchema, hex(text), wireErrors.malformed)).toMatchObject({ nanos });
  });

  it.each([
    ["2147483648", "108080808008"],
    ["-2147483649", "10fffffffff7ffffffff01"],
    ["4294967296", "108080808010"],
  ])("refuses the number %s, which has more than 32 bits", (_, text) => {
    expect(() => decodeStrictly(DurationSchema, hex(text), wireErrors.malformed)).toThrow(
      "out of the range of 32 bits",
    );
  });
});

describe("reading answers", () => {
  it("passes over unknown fields and takes the last of a repeated one", () => {
    const coin = decodeMessage(CoinSchema, new Uint8Array([10, 1, 97, 24, 5, 34, 1, 0, 10, 1, 98, 45, 0, 0, 0, 0]));
    expect(coin).toEqual(create(CoinSchema, { denom: "b" }));
  });

  it("copies what it reads", () => {
    const source = new Uint8Array([10, 1, 7]);
    const page = decodeMessage(PageRequestSchema, source);
    source[2] = 9;
    expect(page.key).toEqual(new Uint8Array([7]));
  });

  it("survives any bytes with an error or a message", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (garbage) => {
        try {
          encodeMessage(BidSchema, decodeMessage(BidSchema, garbage));
        } catch (error) {
          expect(error).toMatchObject({ codespace: "wire", code: 1 });
        }
      }),
      { numRuns: 2000 },
    );
  });
});
