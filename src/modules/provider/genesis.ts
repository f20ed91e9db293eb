import { create } from "@bufbuild/protobuf";
import { defineGenesis, entryProblems, type GenesisPart } from "../../runtime/index.ts";
import { GenesisStateSchema, type Params, ParamsSchema } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { checkProvider } from "./check.ts";
import { type ProviderKeeper, STORE } from "./keeper.ts";

const DEFAULT_GAS = { MsgCreateProvider: 60_000n, MsgUpdateProvider: 80_000n, MsgDeleteProvider: 100_000n };

export function providerGenesis(keeper: ProviderKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ providers }) =>
      entryProblems("providers", providers, (provider) => {
        checkProvider(provider);
        return provider.owner;
      }),
    init(ctx, { params, providers }) {
      keeper.params.set(ctx.store(STORE), params ?? defaultParams());
      for (const provider of providers) keeper.restore(ctx, provider);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const providers = [...keeper.providers.values(store)];
      return create(GenesisStateSchema, { providers, params: keeper.params.require(store) });
    },
  });
}

function defaultParams(): Params {
  return create(ParamsSchema, { messageGas: Object.entries(DEFAULT_GAS).map(([message, gas]) => ({ message, gas })) });
}
