import { create } from "@bufbuild/protobuf";
import { type Context, MOST_SUPPLY, paramsItem } from "../../runtime/index.ts";
import { checkPrefixes, item, type KVStore, protoValue } from "../../store/index.ts";
import { DEC_ONE, type Dec, decFromInt, decMul, decQuo, decTruncate, formatDec } from "../../util/index.ts";
import { type Minter, MinterSchema, type Params, ParamsSchema } from "../../wire/gen/sdk/mint/v1beta1/mint_pb.js";
import { FEE_COLLECTOR } from "../auth/index.ts";
import type { Bank } from "../bank/index.ts";

export const STORE = "mint";
export const ACCOUNT = "mint";

/** Functions of staking that minting needs. */
export interface Stake {
  /** Part of the supply that is bonded, as a decimal. */
  bondedRatio(ctx: Context): Dec;
  bondDenom(ctx: Context): string;
}

/** New coins with every block: the fewer of all coins are bonded, the more new ones in a year. */
export class MintKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly minter = item({ name: "minter", prefix: 0x01, value: protoValue(MinterSchema) });
  readonly #bank: Pick<Bank, "mint" | "sendModuleToModule" | "supply">;
  readonly #stake: Stake;

  constructor(bank: Pick<Bank, "mint" | "sendModuleToModule" | "supply">, stake: Stake) {
    this.#bank = bank;
    this.#stake = stake;
    checkPrefixes({ params: this.params, minter: this.minter });
  }

  getParams(ctx: Context): Params {
    return this.params.require(store(ctx));
  }

  getMinter(ctx: Context): Minter {
    return this.minter.require(store(ctx));
  }

  /** Mints for a block and gives the coins to the collector of fees. */
  beginBlock(ctx: Context): void {
    const params = this.getParams(ctx);
    const ratio = this.#stake.bondedRatio(ctx);
    const inflation = nextInflation(BigInt(this.getMinter(ctx).inflation), params, ratio);
    const annual = inflation * this.#bank.supply(ctx, this.#stake.bondDenom(ctx));
    this.#setMinter(ctx, inflation, annual);
    const room = MOST_SUPPLY - this.#bank.supply(ctx, params.mintDenom);
    const wanted = decTruncate(annual / params.blocksPerYear);
    const amount = wanted < room ? wanted : room;
    if (amount > 0n) {
      const coins = [{ denom: params.mintDenom, amount }];
      this.#bank.mint(ctx, ACCOUNT, coins);
      this.#bank.sendModuleToModule(ctx, ACCOUNT, FEE_COLLECTOR, coins);
    }
    if (inflation === 0n) return;
    ctx.events.emit("mint", {
      bonded_ratio: formatDec(ratio),
      inflation: formatDec(inflation),
      annual_provisions: formatDec(annual),
      amount: `${amount}`,
    });
  }

  #setMinter(ctx: Context, inflation: Dec, annual: Dec): void {
    const before = this.getMinter(ctx);
    if (BigInt(before.inflation) === inflation && BigInt(before.annualProvisions) === annual) return;
    const minter = create(MinterSchema, { inflation: `${inflation}`, annualProvisions: `${annual}` });
    this.minter.set(store(ctx), minter);
  }
}

/** One block's step of the inflation towards the goal, within its bounds. */
export function nextInflation(inflation: Dec, params: Params, bondedRatio: Dec): Dec {
  const change = decMul(DEC_ONE - decQuo(bondedRatio, BigInt(params.goalBonded)), BigInt(params.inflationRateChange));
  const next = inflation + decQuo(change, decFromInt(params.blocksPerYear));
  const [most, least] = [BigInt(params.inflationMax), BigInt(params.inflationMin)];
  if (next > most) return most;
  return next < least ? least : next;
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}
