import { create } from "@bufbuild/protobuf";
import {
  type ConsensusParams,
  consensusParamsFields,
  consensusParamsOf,
  consensusParamsProblems,
} from "../../abci/index.ts";
import { type BoundService, bindService, blockProblems, checkAuthority } from "../../runtime/index.ts";
import { ConsensusParamsSchema } from "../../wire/gen/sdk/consensus/v1/query_pb.js";
import { Msg, type MsgUpdateParams } from "../../wire/gen/sdk/consensus/v1/tx_pb.js";
import { consensusErrors as errors, printJson, sortJson, toJson } from "../../wire/index.ts";
import type { ConsensusKeeper } from "./keeper.ts";

export function consensusMsgs(keeper: ConsensusKeeper): BoundService {
  return bindService(
    Msg,
    {
      updateParams: (ctx, msg) => {
        checkAuthority(msg.authority);
        const params = read(msg);
        keeper.setParams(ctx, params);
        ctx.events.emit("update_consensus_params", { authority: msg.authority, parameters: paramsText(params) });
        return {};
      },
    },
    { updateParams: (msg) => void read(msg) },
  );
}

/**
 * Reads all parameters; every part is required. Throws for parameters that genesis would refuse, and for blocks without
 * room.
 */
function read(msg: MsgUpdateParams): ConsensusParams {
  const params = consensusParamsOf(msg);
  if (params === undefined) throw errors.invalidParams("all parameters must be present: block, evidence and validator");
  const [problem] = [...consensusParamsProblems(params), ...blockProblems(params.block)];
  if (problem !== undefined) throw errors.invalidParams(problem);
  if ((msg.abci?.voteExtensionsEnableHeight ?? 0n) !== 0n)
    throw errors.invalidParams("abci.vote_extensions_enable_height must be 0: this chain has no vote extensions");
  return params;
}

/** The parameters as sorted JSON in one line, for events. */
function paramsText(params: ConsensusParams): string {
  return printJson(
    sortJson(toJson(ConsensusParamsSchema, create(ConsensusParamsSchema, consensusParamsFields(params)))),
  );
}
