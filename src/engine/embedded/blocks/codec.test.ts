import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ExecTxResultSchema } from "../../../wire/gen/comet/v1/abci_pb.js";
import { decodeTxResult, EncodedTxResult, encodeTxResult } from "./codec.ts";

const text = fc.oneof(fc.constant(""), fc.string(), fc.string({ unit: "grapheme", minLength: 100, maxLength: 200 }));
const attributes = fc.array(fc.record({ key: text, value: text, index: fc.boolean() }), { maxLength: 5 });
const gas = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("a result has the bytes of its message, and is read as it was written, a success without a log", () => {
  const results = fc.record({
    code: fc.nat(2 ** 31),
    codespace: text,
    data: fc.uint8Array(),
    log: text,
    gasWanted: gas,
    gasUsed: fc.oneof(fc.constant(0n), gas),
    events: fc.array(fc.record({ type: text, attributes }), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(results, (result) => {
      const bytes = encodeTxResult(result);
      expect(bytes).toEqual(toBinary(ExecTxResultSchema, create(ExecTxResultSchema, result)));
      const { code, log } = result;
      expect(decodeTxResult(bytes)).toMatchObject({ ...result, log: code === 0 && log === "" ? undefined : log });
      const encoded = new EncodedTxResult(result);
      expect({ ...encoded, events: encoded.events }).toMatchObject({ ...result, bytes });
      expect(encodeTxResult({ ...result, log: undefined })).toEqual(encodeTxResult({ ...result, log: "" }));
    }),
    { numRuns: 30 },
  );
});

test("a text that was cut in the middle of a character has the bytes of its message", () => {
  const result = { code: 1, codespace: "sdk", log: "cut \ud83d", gasWanted: 1n, gasUsed: 1n, events: [] };
  const message = create(ExecTxResultSchema, result);
  expect(encodeTxResult({ ...result, data: message.data })).toEqual(toBinary(ExecTxResultSchema, message));
});
