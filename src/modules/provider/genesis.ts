import { create } from "@bufbuild/protobuf";
import { defineGenesis, entryProblems, type GenesisPart, movedHeight } from "../../runtime/index.ts";
import {
  GenesisStateSchema,
  Msg,
  type Params,
  ParamsSchema,
  type Provider,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { attributeModuleParams } from "./attribute-params.ts";
import { checkProvider } from "./check.ts";
import { type ProviderKeeper, STORE } from "./keeper.ts";

const DEFAULT_GAS = { MsgCreateProvider: 60_000n, MsgUpdateProvider: 60_000n, MsgDeleteProvider: 60_000n };

export const PARAMS = attributeModuleParams(Msg, DEFAULT_GAS);

export function providerGenesis(keeper: ProviderKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    validate: ({ params = defaultParams(), providers }) => [
      ...PARAMS.problems(params),
      ...entryProblems("providers", providers, identify),
    ],
    init(ctx, { params, providers }) {
      keeper.params.set(ctx.store(STORE), params ?? defaultParams());
      for (const provider of providers) keeper.restore(ctx, provider);
    },
    export(ctx) {
      const store = ctx.store(STORE);
      const providers = [...keeper.providers.values(store)];
      return create(GenesisStateSchema, { providers, params: keeper.params.require(store) });
    },
    restart: {
      move: (state, last) => {
        const providers = state.providers.map((provider) => ({
          ...provider,
          createdAt: movedHeight(provider.createdAt, last),
          updatedAt: movedHeight(provider.updatedAt, last),
        }));
        return create(GenesisStateSchema, { ...state, providers });
      },
    },
  });
}

function defaultParams(): Params {
  return create(ParamsSchema, PARAMS.defaults);
}

function identify(provider: Provider): string {
  checkProvider(provider);
  return provider.owner;
}
