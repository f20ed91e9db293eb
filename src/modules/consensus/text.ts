import { create } from "@bufbuild/protobuf";
import { type ConsensusParams, consensusParamsFields } from "../../abci/index.ts";
import { ConsensusParamsSchema } from "../../wire/gen/sdk/consensus/v1/query_pb.js";
import { printJson, sortJson, toJson } from "../../wire/index.ts";

/** The parameters as sorted JSON in one line, for events. */
export function paramsText(params: ConsensusParams): string {
  return printJson(
    sortJson(toJson(ConsensusParamsSchema, create(ConsensusParamsSchema, consensusParamsFields(params)))),
  );
}
