import { defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import { marketGenesis } from "./genesis.ts";
import { marketInvariants } from "./invariants.ts";
import { type MarketDeps, MarketKeeper } from "./keeper.ts";
import { marketMsgs } from "./msgs.ts";
import { marketQueries } from "./queries.ts";

export {
  type MarketAudits,
  type MarketDeps,
  type MarketGroups,
  MarketKeeper,
  type MarketProviders,
} from "./keeper.ts";

/** Makes the module and its keeper. */
export function marketModule(deps: MarketDeps): { readonly keeper: MarketKeeper; readonly module: Module } {
  const keeper = new MarketKeeper(deps);
  const { book } = keeper;
  const module = defineModule({
    name: "market",
    version: 2,
    msg: marketMsgs(keeper),
    query: marketQueries(book, deps),
    genesis: marketGenesis(book, deps.groups, (ctx) => keeper.endAll(ctx)),
    endBlock: (ctx) => void keeper.endBlock(ctx),
    invariants: marketInvariants({ book, escrow: deps.escrow, groups: deps.groups }),
    messageGas: (ctx, message) => fixedGas(book.getParams(ctx).messageGas, message),
  });
  return { keeper, module };
}
