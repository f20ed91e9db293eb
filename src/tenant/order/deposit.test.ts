import { describe, expect, test } from "vitest";
import { parseDecCoin } from "../../util/index.ts";
import { leastDeposit } from "./deposit.ts";

describe("deposits", () => {
  const terms = { minDeposits: [{ denom: "utoken", amount: 5n }], startBlocks: 100n, numberBase: 0n };

  test("the chain's least, or what the first blocks may cost", () => {
    expect(leastDeposit(parseDecCoin("0.01utoken"), terms)).toEqual({ denom: "utoken", amount: 5n });
    expect(leastDeposit(parseDecCoin("0.0512utoken"), terms)).toEqual({ denom: "utoken", amount: 6n });
  });

  test("another denomination is refused with the right one", () => {
    expect(() => leastDeposit(parseDecCoin("1stake"), terms)).toThrow("deployments are paid in utoken");
  });
});
