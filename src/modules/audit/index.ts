import { type Context, defineModule, fixedGas, type Module } from "../../runtime/index.ts";
import { encodeAddress } from "../../wire/index.ts";
import { auditGenesis } from "./genesis.ts";
import { AuditKeeper, type ProviderBook, STORE } from "./keeper.ts";
import { auditMsgs } from "./msgs.ts";
import { auditQueries } from "./queries.ts";

export { AuditKeeper } from "./keeper.ts";

/** Makes the module and its keeper. */
export function auditModule(providers: ProviderBook): { readonly keeper: AuditKeeper; readonly module: Module } {
  const keeper = new AuditKeeper(providers);
  const module = defineModule({
    name: "audit",
    version: 2,
    msg: auditMsgs(keeper),
    query: auditQueries(keeper),
    genesis: auditGenesis(keeper),
    messageGas: (ctx, message) => fixedGas(keeper.params.require(ctx.store(STORE)).messageGas, message),
    invariants: {
      "index-auditor": (ctx) => keeper.records.verifyIndexes(ctx.store(STORE))[0],
      records: (ctx) => brokenRecord(keeper, ctx),
    },
  });
  return { keeper, module };
}

/** A record is stored under the two addresses in it and holds attributes, each key once and in order. */
function brokenRecord(keeper: AuditKeeper, ctx: Context): string | undefined {
  for (const [key, { owner, auditor, attributes, staleKeys }] of keeper.records.iterate(ctx.store(STORE))) {
    const id = `the signature of ${auditor} over ${owner}`;
    const [provider, signer] = key.map((bytes) => encodeAddress(bytes, "account"));
    if (provider !== owner || signer !== auditor) return `${id} is stored under ${provider} and ${signer}`;
    const keys = attributes.map((each) => each.key);
    const inOrder = keys.every((each, i) => i === 0 || (keys[i - 1] ?? "") < each);
    if (keys.length === 0 || !inOrder || staleKeys.length > 0) return `${id} is not in its stored form`;
  }
  return undefined;
}
