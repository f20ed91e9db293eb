import { type Context, defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { providerGenesis } from "./genesis.ts";
import { type LeaseBook, ProviderKeeper, STORE } from "./keeper.ts";
import { providerMsgs } from "./msgs.ts";
import { providerQueries } from "./queries.ts";

export { attributeModuleParams } from "./attribute-params.ts";
export { isEmail, isHostUri, isWebsite } from "./check.ts";
export { type LeaseBook, ProviderKeeper } from "./keeper.ts";

/** Makes the module and its keeper. */
export function providerModule(market: LeaseBook): { readonly keeper: ProviderKeeper; readonly module: Module } {
  const keeper = new ProviderKeeper(market);
  const module = defineModule({
    name: "provider",
    version: 2,
    msg: providerMsgs(keeper),
    query: providerQueries(keeper),
    genesis: providerGenesis(keeper),
    invariants: { owners: (ctx) => misplacedRecord(keeper, ctx) },
    messageGas: (ctx, message) => fixedGas(keeper.params.require(ctx.store(STORE)).messageGas, message),
  });
  return { keeper, module };
}

function misplacedRecord(keeper: ProviderKeeper, ctx: Context): string | undefined {
  for (const [bytes, { owner }] of keeper.providers.iterate(ctx.store(STORE))) {
    const address = encodeAddress(bytes, "account");
    if (address !== owner) return `the record of ${address} names ${owner}`;
  }
  return undefined;
}
