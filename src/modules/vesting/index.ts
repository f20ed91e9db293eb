import { create } from "@bufbuild/protobuf";
import { defineGenesis, defineModule, type Module } from "../../runtime/index.ts";
import { GenesisStateSchema } from "../../wire/gen/sdk/vesting/v1beta1/vesting_pb.js";
import { type VestingAccounts, type VestingBank, VestingKeeper } from "./keeper.ts";
import { vestingMsgs } from "./msgs.ts";

export type { VestingAccounts, VestingBank } from "./keeper.ts";

/** The module keeps nothing of its own: accounts and their locks are in the state of module auth. */
export function vestingModule({ auth, bank }: { readonly auth: VestingAccounts; readonly bank: VestingBank }): {
  readonly module: Module;
} {
  const module = defineModule({
    name: "vesting",
    msg: vestingMsgs(new VestingKeeper(auth, bank)),
    genesis: defineGenesis({
      schema: GenesisStateSchema,
      defaults: () => create(GenesisStateSchema),
      init: () => {},
      export: () => create(GenesisStateSchema),
    }),
  });
  return { module };
}
