import { create } from "@bufbuild/protobuf";
import { type ConsensusParams, consensusParamsFields, consensusParamsOf } from "../../abci/index.ts";
import { type Context, paramsItem } from "../../runtime/index.ts";
import type { KVReader } from "../../store/index.ts";
import { ConsensusParamsSchema } from "../../wire/gen/sdk/consensus/v1/query_pb.js";

export const STORE = "consensus";

/** The parameters of consensus, as other modules and the application see them. */
export interface ConsensusKeeper {
  /** Parameters of the block being made. Throws before the chain has any. */
  params(ctx: Context): ConsensusParams;
  /** Sets the parameters of the next block. */
  setParams(ctx: Context, params: ConsensusParams): void;
  /** Parameters in the store of the module; undefined before the chain has any. */
  read(store: KVReader): ConsensusParams | undefined;
}

const item = paramsItem({ prefix: 0x00, schema: ConsensusParamsSchema });

/** Holds the one copy of the parameters that the state decides. */
export const consensusKeeper: ConsensusKeeper = {
  params(ctx) {
    const params = consensusKeeper.read(ctx.store(STORE));
    if (params === undefined) throw new Error("the chain has no consensus parameters");
    return params;
  },
  setParams(ctx, params) {
    item.set(ctx.store(STORE), create(ConsensusParamsSchema, consensusParamsFields(params)));
  },
  read(store) {
    const message = item.get(store);
    return message === undefined ? undefined : consensusParamsOf(message);
  },
};
