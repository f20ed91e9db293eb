import { defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import { certGenesis } from "./genesis.ts";
import { CertKeeper, certInvariants, STORE } from "./keeper.ts";
import { certMsgs } from "./msgs.ts";
import { certQueries } from "./queries.ts";

export { CertKeeper } from "./keeper.ts";

/** Makes the module and its keeper. */
export function certModule(): { readonly keeper: CertKeeper; readonly module: Module } {
  const keeper = new CertKeeper();
  const module = defineModule({
    name: "cert",
    msg: certMsgs(keeper),
    query: certQueries(keeper),
    genesis: certGenesis(keeper),
    invariants: certInvariants(keeper),
    messageGas: (ctx, message) => fixedGas(keeper.params.require(ctx.store(STORE)).messageGas, message),
  });
  return { keeper, module };
}
