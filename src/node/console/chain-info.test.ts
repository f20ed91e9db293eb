import { describe, expect, it } from "vitest";
import { parseDecCoins } from "../../util/index.ts";
import { chainInfo } from "./chain-info.ts";

const parts = { chainId: "svc-1", rpc: "http://localhost:1", rest: "http://localhost:2" };

describe("what a wallet learns of the chain", () => {
  it("is its addresses, prefixes and token", () => {
    const token = { coinDenom: "TOKEN", coinMinimalDenom: "utoken", coinDecimals: 6 };
    expect(chainInfo({ ...parts, minGasPrices: [] })).toEqual({
      ...parts,
      chainName: "svc-1",
      bip44: { coinType: 118 },
      bech32Config: {
        bech32PrefixAccAddr: "svc",
        bech32PrefixAccPub: "svcpub",
        bech32PrefixValAddr: "svcvaloper",
        bech32PrefixValPub: "svcvaloperpub",
        bech32PrefixConsAddr: "svcvalcons",
        bech32PrefixConsPub: "svcvalconspub",
      },
      currencies: [token],
      feeCurrencies: [{ ...token, gasPriceStep: expect.anything() }],
      stakeCurrency: token,
      features: ["query:/cosmos/bank/v1beta1/spendable_balances"],
    });
  });

  it.each([
    ["", 0, 0.0025, 0.005],
    ["5uother", 0, 0.0025, 0.005],
    ["0.001utoken", 0.001, 0.0025, 0.005],
    ["0.3uother,0.1utoken", 0.1, 0.1, 0.2],
  ])("is prices of gas that a node with the minimum %j takes", (minimum, low, average, high) => {
    const { feeCurrencies } = chainInfo({ ...parts, minGasPrices: minimum === "" ? [] : parseDecCoins(minimum) });
    expect(feeCurrencies[0]?.gasPriceStep).toEqual({ low, average, high });
  });

  it("is a name that fits into the list, however long the chain's is", () => {
    const chainId = `${"a".repeat(45)}-1`;
    expect(chainInfo({ ...parts, chainId, minGasPrices: [] })).toMatchObject({ chainId, chainName: "a".repeat(36) });
  });
});
