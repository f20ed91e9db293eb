import { create } from "@bufbuild/protobuf";
import { type BoundService, bindService, checkAddress, updateParams } from "../../runtime/index.ts";
import {
  Msg,
  type MsgCreateProvider,
  type MsgUpdateProvider,
  type Params,
  type Provider,
  ProviderInfoSchema,
  ProviderSchema,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { providerErrors as errors } from "../../wire/index.ts";
import { checkProvider } from "./check.ts";
import { PARAMS } from "./genesis.ts";
import { type ProviderKeeper, STORE } from "./keeper.ts";

export function providerMsgs(keeper: ProviderKeeper): BoundService {
  const update = updateParams<Params>({
    set: (ctx, params) => keeper.params.set(ctx.store(STORE), params),
    problems: PARAMS.problems,
    refuse: errors.invalidParams,
  });
  return bindService(
    Msg,
    {
      createProvider: (ctx, msg) => {
        keeper.create(ctx, record(msg));
        return {};
      },
      updateProvider: (ctx, msg) => {
        keeper.update(ctx, record(msg));
        return {};
      },
      deleteProvider: (ctx, { owner }) => {
        keeper.delete(ctx, owner);
        return {};
      },
      updateParams: update.handle,
    },
    {
      createProvider: checkProvider,
      updateProvider: checkProvider,
      deleteProvider: ({ owner }) => checkAddress("owner", owner, errors.invalidAddress),
      updateParams: update.check,
    },
  );
}

function record({ owner, hostUri, attributes, info }: MsgCreateProvider | MsgUpdateProvider): Provider {
  return create(ProviderSchema, { owner, hostUri, attributes, info: info ?? create(ProviderInfoSchema) });
}
