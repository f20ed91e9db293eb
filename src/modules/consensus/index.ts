import { create } from "@bufbuild/protobuf";
import { consensusParamsProblems } from "../../abci/index.ts";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { GenesisStateSchema } from "../../wire/gen/sdk/consensus/v1/genesis_pb.js";
import { type ConsensusKeeper, consensusKeeper } from "./keeper.ts";
import { consensusMsgs } from "./msgs.ts";
import { consensusQueries } from "./queries.ts";

export type { ConsensusKeeper } from "./keeper.ts";

/** Makes the module and its keeper. The application gives it the parameters that the chain begins with. */
export function consensusModule(): { readonly keeper: ConsensusKeeper; readonly module: Module } {
  const module = defineModule({
    name: "consensus",
    msg: consensusMsgs(consensusKeeper),
    query: consensusQueries(consensusKeeper),
    genesis: defineGenesis({
      schema: GenesisStateSchema,
      defaults: () => create(GenesisStateSchema),
      init: () => {},
      export: () => create(GenesisStateSchema),
    }),
    invariants: { params: (ctx) => consensusParamsProblems(consensusKeeper.params(ctx))[0] },
  });
  return { keeper: consensusKeeper, module };
}
