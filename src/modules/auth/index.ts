import { type Context, defineModule, type Module } from "../../runtime/index.ts";
import { authGenesis } from "./genesis.ts";
import { AuthKeeper, STORE } from "./keeper.ts";
import { authQueries } from "./queries.ts";

export { AuthKeeper } from "./keeper.ts";
export type { ModuleAccount } from "./module-accounts.ts";

/** Account of the fees of all transactions. */
export const FEE_COLLECTOR = "fee_collector";

/** Makes the module and its keeper. */
export function authModule(): { readonly keeper: AuthKeeper; readonly module: Module } {
  const keeper = new AuthKeeper();
  const module = defineModule({
    name: "auth",
    query: authQueries(keeper),
    genesis: authGenesis(keeper),
    accounts: [{ name: FEE_COLLECTOR, permissions: [] }],
    invariants: {
      numbers: (ctx) => numbersAreDense(keeper, ctx),
      modules: (ctx) => modulesHaveAccounts(keeper, ctx),
    },
  });
  return { keeper, module };
}

/** Every number below the next one belongs to exactly one account. */
function numbersAreDense(keeper: AuthKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const numbers = [...keeper.accounts.values(store)].map(({ number }) => number);
  const next = keeper.numbers.peek(store);
  if (new Set(numbers).size !== numbers.length) return "two accounts have the same number";
  const beyond = numbers.find((number) => number >= next);
  if (beyond !== undefined) return `account number ${beyond} was never given`;
  return BigInt(numbers.length) === next ? undefined : `${next} numbers were given to ${numbers.length} accounts`;
}

/** Module addresses have module accounts, which nobody can sign for. */
function modulesHaveAccounts(keeper: AuthKeeper, ctx: Context): string | undefined {
  const missing = keeper.modules.all().find(({ address, name }) => keeper.get(ctx, address)?.module?.name !== name);
  return missing === undefined ? undefined : `module ${missing.name} has no account of its own`;
}
