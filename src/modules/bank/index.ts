import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import { formatCoins, toHex } from "../../util/index.ts";
import { bankGenesis, Sums } from "./genesis.ts";
import { type Accounts, BankKeeper, STORE } from "./keeper.ts";
import { bankMsgs } from "./msgs.ts";
import { bankQueries } from "./queries.ts";

export { type Accounts, BankKeeper } from "./keeper.ts";

/** The bank's functions for other modules. */
export type Bank = Pick<
  BankKeeper,
  | "balance"
  | "burn"
  | "delegate"
  | "isBlocked"
  | "mint"
  | "moduleBalance"
  | "moduleBalances"
  | "send"
  | "sendFromModule"
  | "sendModuleToModule"
  | "sendToModule"
  | "supply"
  | "undelegate"
>;

/** Makes the module and its keeper. */
export function bankModule(accounts: Accounts): { readonly keeper: BankKeeper; readonly module: Module } {
  const keeper = new BankKeeper(accounts);
  const module = defineModule({
    name: "bank",
    msg: bankMsgs(keeper),
    query: bankQueries(keeper),
    genesis: bankGenesis(keeper, accounts),
    invariants: {
      supply: (ctx) => supplyIsSum(keeper, ctx),
    },
  });
  return { keeper, module };
}

/**
 * Every balance is positive and the balances add up to the supply; checked in one walk, since there may be millions.
 */
function supplyIsSum(keeper: BankKeeper, ctx: Context): string | undefined {
  const sums = new Sums();
  for (const [[owner, denom], amount] of keeper.balances.iterate(ctx.store(STORE))) {
    if (amount <= 0n) return `account ${toHex(owner)} holds ${amount}${denom}`;
    sums.add({ denom, amount });
  }
  const sum = formatCoins(sums.coins());
  const supply = formatCoins(keeper.totalSupply(ctx));
  return sum === supply
    ? undefined
    : `the balances add up to ${sum || "nothing"}, the supply is ${supply || "nothing"}`;
}
