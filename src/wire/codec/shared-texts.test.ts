import { create, type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/support/runs.ts";
import { SvcError } from "../../util/index.ts";
import { MsgSendSchema } from "../gen/sdk/bank/v1beta1/tx_pb.js";
import { CoinSchema } from "../gen/sdk/base/v1beta1/coin_pb.js";
import { TxBodySchema, TxRawSchema } from "../gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeTx, packAny } from "../index.ts";
import { decodeMessage, decodeStrictly, encodeMessage, wireErrors } from "./index.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Bytes of texts that hash alike, nearly alike, are no UTF-8, or hold zeros and marks. */
const textBytes = fc.oneof(
  fc.string({ unit: fc.constantFrom("A", "a", "B", "b", "#", "1"), maxLength: 6 }).map(utf8),
  // "Aa" and "BB" have one hash, and so have all texts made of them.
  fc.array(fc.constantFrom("Aa", "BB"), { minLength: 1, maxLength: 8 }).map((parts) => utf8(parts.join(""))),
  fc.constantFrom("\0", "\0\0", "", "\ufeffa", "a\ufeff", "\u0080", "\u{1f600}").map(utf8),
  fc.uint8Array({ maxLength: 8 }),
  fc.integer({ min: 250, max: 260 }).map((length) => utf8("a".repeat(length))),
);

function field(number: number, content: Uint8Array): Uint8Array {
  const head = content.length < 128 ? [content.length] : [(content.length & 127) | 128, content.length >> 7];
  return new Uint8Array([number * 8 + 2, ...head, ...content]);
}

const coins = fc
  .tuple(textBytes, textBytes)
  .map(([denom, amount]) => new Uint8Array([...field(1, denom), ...field(2, amount)]));
const bodies = fc
  .tuple(fc.array(fc.tuple(textBytes, fc.uint8Array({ maxLength: 8 })), { maxLength: 4 }), textBytes)
  .map(([anys, memo]) => {
    const messages = anys.map(([url, value]) => field(1, new Uint8Array([...field(1, url), ...field(2, value)])));
    return new Uint8Array([...messages.flatMap((each) => [...each]), ...field(2, memo)]);
  });

/** The library's reading; undefined where it refuses the bytes. */
function plainly<D extends DescMessage>(schema: D, bytes: Uint8Array): MessageShape<D> | undefined {
  try {
    return fromBinary(schema, bytes);
  } catch {
    return undefined;
  }
}

function strictly<D extends DescMessage>(schema: D, bytes: Uint8Array, views: boolean): MessageShape<D> | undefined {
  try {
    return decodeStrictly(schema, bytes, wireErrors.malformed, { views });
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

it("a transaction keeps what it was when its buffer is written again", () => {
  const body = { messages: [], memo: "memo", timeoutHeight: 0n, extensionOptions: [], nonCriticalExtensionOptions: [] };
  const message = packAny(MsgSendSchema, create(MsgSendSchema, { fromAddress: "from", toAddress: "to" }));
  const bodyBytes = encodeMessage(TxBodySchema, create(TxBodySchema, { ...body, messages: [message] }));
  const buffer = encodeMessage(TxRawSchema, create(TxRawSchema, { bodyBytes, authInfoBytes: new Uint8Array(0) }));
  const tx = decodeTx(buffer);
  const before = structuredClone([tx.raw, tx.body, tx.messages.map(({ value }) => value)]);
  buffer.fill(0xff);
  expect([tx.raw, tx.body, tx.messages.map(({ value }) => value)]).toEqual(before);
});

describe("texts that readings share", () => {
  it.each([
    ["coins", CoinSchema, coins],
    ["bodies of transactions", TxBodySchema, bodies],
  ] as const)("are those of the bytes, whatever was read before: %s", (_, schema, arbitrary) => {
    fc.assert(
      fc.property(fc.array(arbitrary, { minLength: 1, maxLength: 30 }), (sources) => {
        for (const source of sources) {
          const bytes = new Uint8Array(source);
          const expected = plainly(schema, bytes);
          for (const views of [false, true]) {
            const found = strictly(schema, bytes, views);
            if (found === undefined) continue;
            expect(found).toEqual(expected);
            const again = fromBinary(schema, encodeMessage(schema, found));
            expect(again).toEqual(expected);
          }
          if (expected !== undefined) expect(decodeMessage(schema, bytes)).toEqual(expected);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
