import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { toHex } from "../../util/index.ts";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import { bigintValue, presentValue, protoValue, uint64Value, type ValueCodec } from "../index.ts";

function roundTrip<V>(codec: ValueCodec<V>, value: V): [V, string] {
  const bytes = codec.encode(value);
  return [codec.decode(bytes), toHex(bytes)];
}

describe("value codecs", () => {
  test("write one form for each value and read it back", () => {
    expect(roundTrip(bigintValue, -(2n ** 100n))).toEqual([-(2n ** 100n), toHex(Buffer.from(`${-(2n ** 100n)}`))]);
    expect(roundTrip(bigintValue, 0n)).toEqual([0n, "30"]);
    expect(roundTrip(uint64Value, 258n)).toEqual([258n, "0000000000000102"]);
    expect(roundTrip(presentValue, true)).toEqual([true, "01"]);
    const defaults = create(CoinSchema);
    expect(roundTrip(protoValue(CoinSchema), defaults)).toEqual([defaults, "00"]);
  });

  test("read integers of each length as the plain conversion does", () => {
    for (let digits = 1; digits <= 40; digits++) {
      const least = 10n ** BigInt(digits - 1);
      for (const value of [least, least + 1n, (10n * least) / 3n, 9n * least + 7n, 10n * least - 1n]) {
        for (const signed of [value, -value]) {
          expect(roundTrip(bigintValue, signed)).toEqual([signed, toHex(Buffer.from(`${signed}`))]);
          const padded = Buffer.from(`${signed < 0n ? "" : "000"}${signed}`);
          expect(bigintValue.decode(padded)).toBe(signed);
        }
      }
    }
    for (const text of ["1a", "1 2", "--1", "1.0", "1e3", "/", ":"])
      expect(() => bigintValue.decode(Buffer.from(text))).toThrow(SyntaxError);
  });

  test("read values at an offset of a larger buffer", () => {
    const buffer = Uint8Array.of(9, 0, 0, 0, 0, 0, 0, 1, 2, 9);
    expect(uint64Value.decode(buffer.subarray(1, 9))).toBe(258n);
    expect(bigintValue.decode(Buffer.from("x12x").subarray(1, 3))).toBe(12n);
  });

  test("write messages canonically and leave unknown fields out", () => {
    const coins = protoValue(CoinSchema);
    const message = create(CoinSchema, { denom: "utoken", amount: "5" });
    message.$unknown = [{ no: 9, wireType: 0, data: Uint8Array.of(1) }];
    expect(toHex(coins.encode(message))).toBe("0a0675746f6b656e120135");
    const read = coins.decode(Buffer.from("0a0675746f6b656e1201354801", "hex"));
    expect([read.denom, read.amount, read.$unknown]).toEqual(["utoken", "5", undefined]);
  });
});
