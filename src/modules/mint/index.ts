import { defineModule, type Module } from "../../runtime/index.ts";
import type { Bank } from "../bank/index.ts";
import { mintGenesis } from "./genesis.ts";
import { ACCOUNT, MintKeeper, type Stake } from "./keeper.ts";
import { mintMsgs } from "./msgs.ts";
import { mintQueries } from "./queries.ts";

export function mintModule(
  bank: Pick<Bank, "mint" | "sendModuleToModule" | "supply">,
  stake: Stake,
): { readonly module: Module } {
  const keeper = new MintKeeper(bank, stake);
  const module = defineModule({
    name: "mint",
    msg: mintMsgs(keeper),
    query: mintQueries(keeper),
    genesis: mintGenesis(keeper),
    accounts: [{ name: ACCOUNT, permissions: ["minter"] }],
    beginBlock: (ctx) => keeper.beginBlock(ctx),
  });
  return { module };
}
