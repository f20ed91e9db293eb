import { create } from "@bufbuild/protobuf";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { GenesisStateSchema } from "../../wire/gen/sdk/genutil/v1beta1/genutil_pb.js";
import { genesisTxBytes, genesisTxProblems } from "./keeper.ts";

export { genesisTxBytes } from "./keeper.ts";

/** Brings the transactions of the first validators; the application runs them when all modules have their state. */
export function genutilModule(): { readonly module: Module } {
  const module = defineModule({
    name: "genutil",
    genesis: defineGenesis({
      schema: GenesisStateSchema,
      defaults: () => create(GenesisStateSchema),
      validate: genesisTxProblems,
      init: () => {},
      txs: ({ genTxs }) => genTxs.map(genesisTxBytes),
      // The results of its transactions are in the state of other modules.
      export: () => create(GenesisStateSchema),
    }),
  });
  return { module };
}
