import {
  BECH32_PREFIX,
  COIN_TYPE,
  DEC_ONE,
  type Dec,
  type DecimalCoin,
  DISPLAY_DENOM,
  DISPLAY_EXPONENT,
  NATIVE_DENOM,
  parseDec,
} from "../../util/index.ts";

/** Longest name of a chain in a wallet's list. */
const MAX_NAME = 36;
/** Price per unit of gas that wallets propose where nodes ask for less. */
const USUAL_GAS_PRICE: Dec = parseDec("0.0025");
/** Times the usual price, for transactions that should come before others. */
const HIGH = 2n;

export interface ChainInfoParts {
  readonly chainId: string;
  /** URL of JSON-RPC, with websockets at `/websocket` below it. */
  readonly rpc: string;
  /** URL of REST. */
  readonly rest: string;
  /** Prices below which the node refuses transactions. */
  readonly minGasPrices: readonly DecimalCoin[];
}

/** The chain as a wallet takes it into its list, in the form of Keplr, which other wallets share. */
export function chainInfo({ chainId, rpc, rest, minGasPrices }: ChainInfoParts) {
  const token = { coinDenom: DISPLAY_DENOM, coinMinimalDenom: NATIVE_DENOM, coinDecimals: DISPLAY_EXPONENT };
  return {
    chainId,
    chainName: chainId.slice(0, MAX_NAME),
    rpc,
    rest,
    bip44: { coinType: COIN_TYPE },
    bech32Config: bech32Config(BECH32_PREFIX),
    currencies: [token],
    feeCurrencies: [{ ...token, gasPriceStep: gasPriceStep(minGasPrices) }],
    stakeCurrency: token,
    features: ["query:/cosmos/bank/v1beta1/spendable_balances"],
  };
}

function bech32Config(prefix: string) {
  return {
    bech32PrefixAccAddr: prefix,
    bech32PrefixAccPub: `${prefix}pub`,
    bech32PrefixValAddr: `${prefix}valoper`,
    bech32PrefixValPub: `${prefix}valoperpub`,
    bech32PrefixConsAddr: `${prefix}valcons`,
    bech32PrefixConsPub: `${prefix}valconspub`,
  };
}

function gasPriceStep(minGasPrices: readonly DecimalCoin[]) {
  const low = minGasPrices.find(({ denom }) => denom === NATIVE_DENOM)?.amount ?? 0n;
  const average = low > USUAL_GAS_PRICE ? low : USUAL_GAS_PRICE;
  return { low: toNumber(low), average: toNumber(average), high: toNumber(average * HIGH) };
}

/** Wallets multiply prices as floating-point numbers. */
function toNumber(price: Dec): number {
  return Number(price) / Number(DEC_ONE);
}
