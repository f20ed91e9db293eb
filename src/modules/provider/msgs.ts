import { create } from "@bufbuild/protobuf";
import { type BoundService, bindService, checkAddress } from "../../runtime/index.ts";
import {
  Msg,
  type MsgCreateProvider,
  type MsgUpdateProvider,
  type Provider,
  ProviderInfoSchema,
  ProviderSchema,
} from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { providerErrors as errors } from "../../wire/index.ts";
import { checkProvider } from "./check.ts";
import type { ProviderKeeper } from "./keeper.ts";

export function providerMsgs(keeper: ProviderKeeper): BoundService {
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
    },
    {
      createProvider: checkProvider,
      updateProvider: checkProvider,
      deleteProvider: ({ owner }) => checkAddress("owner", owner, errors.invalidAddress),
    },
  );
}

function record({ owner, hostUri, attributes, info }: MsgCreateProvider | MsgUpdateProvider): Provider {
  return create(ProviderSchema, { owner, hostUri, attributes, info: info ?? create(ProviderInfoSchema) });
}
