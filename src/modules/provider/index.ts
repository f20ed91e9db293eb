import { create } from "@bufbuild/protobuf";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { GenesisStateSchema, ParamsSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { errors } from "./errors.ts";
import { type LeaseBook, ProviderKeeper, STORE } from "./keeper.ts";
import { providerMsgs } from "./msgs.ts";
import { providerQueries } from "./queries.ts";

export { ATTRIBUTE_LIMITS, attributeFault, matchAttributes } from "../../sdl/index.ts";
export { type LeaseBook, ProviderKeeper } from "./keeper.ts";

const DEFAULT_GAS = { MsgCreateProvider: 60_000n, MsgUpdateProvider: 80_000n, MsgDeleteProvider: 100_000n };

/** Makes the module and its keeper. */
export function providerModule(market: LeaseBook): { readonly keeper: ProviderKeeper; readonly module: Module } {
  const keeper = new ProviderKeeper(market);
  const module = defineModule({
    name: "provider",
    msg: providerMsgs(keeper),
    query: providerQueries(keeper),
    genesis: genesis(keeper),
    messageGas: (ctx, message) => {
      const { messageGas } = keeper.params.require(ctx.store(STORE));
      const row = messageGas.find((each) => each.message === message);
      if (row === undefined) throw errors.internal(`no gas for ${message}`);
      return row.gas;
    },
  });
  return { keeper, module };
}

function genesis(keeper: ProviderKeeper) {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: { messageGas: gasRows() } }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, state.params ?? create(ParamsSchema, { messageGas: gasRows() }));
      for (const provider of state.providers) {
        if (keeper.exists(ctx, provider.owner)) throw errors.exists(provider.owner);
        keeper.providers.set(store, decodeAddress(provider.owner, "account"), provider);
      }
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const providers = [...keeper.providers.values(store)];
      return create(GenesisStateSchema, { providers, params: keeper.params.require(store) });
    },
  });
}

function gasRows(): { message: string; gas: bigint }[] {
  return Object.entries(DEFAULT_GAS).map(([message, gas]) => ({ message, gas }));
}
