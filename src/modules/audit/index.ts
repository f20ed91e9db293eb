import { create } from "@bufbuild/protobuf";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { GenesisStateSchema, ParamsSchema } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { errors } from "./errors.ts";
import { AuditKeeper, type ProviderBook, recordKey, STORE } from "./keeper.ts";
import { auditMsgs } from "./msgs.ts";
import { auditQueries } from "./queries.ts";

export { AuditKeeper } from "./keeper.ts";

const DEFAULT_GAS = { MsgSignProviderAttributes: 60_000n, MsgDeleteProviderAttributes: 40_000n };

/** Makes the module and its keeper. */
export function auditModule(providers: ProviderBook): { readonly keeper: AuditKeeper; readonly module: Module } {
  const keeper = new AuditKeeper(providers);
  const module = defineModule({
    name: "audit",
    msg: auditMsgs(keeper),
    query: auditQueries(keeper),
    genesis: genesis(keeper),
    messageGas: (ctx, message) => {
      const row = keeper.params.require(ctx.store(STORE)).messageGas.find((each) => each.message === message);
      if (row === undefined) throw errors.internal(`no gas for ${message}`);
      return row.gas;
    },
    invariants: {
      "index-auditor": (ctx) => keeper.records.verifyIndexes(ctx.store(STORE))[0],
    },
  });
  return { keeper, module };
}

function genesis(keeper: AuditKeeper) {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: { messageGas: gasRows() } }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, state.params ?? create(ParamsSchema, { messageGas: gasRows() }));
      for (const record of state.attributes) keeper.records.set(store, recordKey(record.owner, record.auditor), record);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const attributes = [...keeper.records.values(store)];
      return create(GenesisStateSchema, { attributes, params: keeper.params.require(store) });
    },
  });
}

function gasRows(): { message: string; gas: bigint }[] {
  return Object.entries(DEFAULT_GAS).map(([message, gas]) => ({ message, gas }));
}
