import { type BoundService, bindService, checkAuthority } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/sdk/mint/v1beta1/tx_pb.js";
import { mintErrors as errors } from "../../wire/index.ts";
import { paramsProblems } from "./genesis.ts";
import { type MintKeeper, store } from "./keeper.ts";

export function mintMsgs(keeper: MintKeeper): BoundService {
  return bindService(
    Msg,
    {
      updateParams: (ctx, { authority, params }) => {
        checkAuthority(authority);
        if (params !== undefined) keeper.params.set(store(ctx), params);
        return {};
      },
    },
    {
      updateParams: ({ params }) => {
        const [problem] = params === undefined ? ["params: missing"] : paramsProblems(params);
        if (problem !== undefined) throw errors.invalidParams(problem);
      },
    },
  );
}
