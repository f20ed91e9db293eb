import { type BoundService, bindService } from "../../runtime/index.ts";
import { toUtf8 } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/mint/v1beta1/query_pb.js";
import type { MintKeeper } from "./keeper.ts";

export function mintQueries(keeper: MintKeeper): BoundService {
  return bindService(Query, {
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
    inflation: (ctx) => ({ inflation: toUtf8(keeper.getMinter(ctx).inflation) }),
    annualProvisions: (ctx) => ({ annualProvisions: toUtf8(keeper.getMinter(ctx).annualProvisions) }),
  });
}
