import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { parseDec } from "../../util/index.ts";
import { GroupSpecSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatPrice, groupPrice, priceOverTime } from "./price.ts";

const coin = (amount: string, denom = "utoken") => ({ denom, amount: parseDec(amount) });

describe("prices over time", () => {
  it("follow the measured time between blocks", () => {
    const price = priceOverTime(coin("1.5"), 6);
    expect(price).toEqual({
      denom: "utoken",
      perBlock: parseDec("1.5"),
      perHour: parseDec("900"),
      perDay: parseDec("21600"),
      perMonth: parseDec("657450"),
    });
    expect(priceOverTime(coin("1"), 0.1).perHour).toBe(parseDec("36000"));
  });

  it("cut what is below the last digit", () => {
    expect(priceOverTime({ denom: "utoken", amount: 1n }, 7000).perHour).toBe(0n);
  });

  it("of a group are sums of its rows", () => {
    const row = (amount: string, count: number) => ({
      count,
      price: { denom: "utoken", amount: `${parseDec(amount)}` },
    });
    const group = create(GroupSpecSchema, { resources: [row("1.25", 2), row("0.5", 3)] });
    expect(groupPrice(group)).toEqual(coin("4"));
  });
});

describe("prices for people", () => {
  it.each([
    ["0", "utoken", "0 utoken"],
    ["1.25", "utoken", "1.25 utoken"],
    ["0.000123456", "utoken", "0.0001235 utoken"],
    ["9999.4", "utoken", "9999 utoken"],
    ["657450", "utoken", "0.6575 TOKEN"],
    ["123456789", "utoken", "123.5 TOKEN"],
    ["1234567890123", "utoken", "1234568 TOKEN"],
    ["657450", "stake", "657450 stake"],
  ])("%s %s", (amount, denom, text) => {
    expect(formatPrice(coin(amount, denom))).toBe(text);
  });
});
