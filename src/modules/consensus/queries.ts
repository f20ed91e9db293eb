import { consensusParamsFields } from "../../abci/index.ts";
import { type BoundService, bindService } from "../../runtime/index.ts";
import { Query } from "../../wire/gen/sdk/consensus/v1/query_pb.js";
import type { ConsensusKeeper } from "./keeper.ts";

export function consensusQueries(keeper: ConsensusKeeper): BoundService {
  return bindService(Query, {
    // The last two parts equal the reference, which has no versions or vote extensions by default either.
    params: (ctx) => ({ params: { ...consensusParamsFields(keeper.params(ctx)), version: {}, abci: {} } }),
  });
}
