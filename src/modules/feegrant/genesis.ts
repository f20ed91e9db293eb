import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, entryProblems, type GenesisPart } from "../../runtime/index.ts";
import { type GenesisState, GenesisStateSchema } from "../../wire/gen/sdk/feegrant/v1beta1/genesis_pb.js";
import { checkAllowance } from "./allowance.ts";
import { type FeegrantKeeper, store } from "./keeper.ts";
import { readPair } from "./msgs.ts";

export function feegrantGenesis(keeper: FeegrantKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    validate: ({ allowances }) =>
      entryProblems("allowances", allowances, (grant) => {
        readPair(grant);
        checkAllowance(grant.allowance, "stored");
        return `${grant.granter}/${grant.grantee}`;
      }),
    init: (ctx, state) => importState(keeper, ctx, state),
    export: (ctx) => create(GenesisStateSchema, { allowances: [...keeper.allowances.values(store(ctx))] }),
  });
}

/** Expired allowances are imported too: the first blocks remove them. */
function importState(keeper: FeegrantKeeper, ctx: Context, { allowances }: GenesisState): void {
  for (const grant of allowances) keeper.put(ctx, readPair(grant), checkAllowance(grant.allowance, "stored"));
}
