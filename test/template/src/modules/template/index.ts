import { defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { templateGenesis } from "./genesis.ts";
import { STORE, TemplateKeeper } from "./keeper.ts";
import { templateMsgs } from "./msgs.ts";
import { templateQueries } from "./queries.ts";

/** Makes the module. Where another one needs something of it, its keeper is returned as well, as a narrow interface. */
export function templateModule(): { readonly module: Module } {
  const keeper = new TemplateKeeper();
  const module = defineModule({
    name: "template",
    msg: templateMsgs(keeper),
    query: templateQueries(keeper),
    genesis: templateGenesis(keeper),
    messageGas: (ctx, message) => fixedGas(keeper.params.require(ctx.store(STORE)).messageGas, message),
    invariants: {
      owners: (ctx) => {
        const wrong = [...keeper.notes.iterate(ctx.store(STORE))].find(
          ([key, { owner }]) => encodeAddress(key, "account") !== owner,
        );
        return wrong === undefined ? undefined : `a note of ${wrong[1].owner} stands under another account`;
      },
    },
  });
  return { module };
}
