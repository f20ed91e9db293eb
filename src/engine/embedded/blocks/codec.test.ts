import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ExecTxResultSchema } from "../../../wire/gen/comet/v1/abci_pb.js";
import { decodeTxResult, encodeTxResult } from "./codec.ts";

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
      expect(encodeTxResult({ ...result, log: undefined })).toEqual(encodeTxResult({ ...result, log: "" }));
    }),
    { numRuns: 30 },
  );
});
