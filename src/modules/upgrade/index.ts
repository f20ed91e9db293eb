import { create } from "@bufbuild/protobuf";
import {
  type Context,
  defineGenesis,
  defineModule,
  entryProblems,
  type GenesisPart,
  type Module,
  movedEnd,
  movedHeight,
} from "../../runtime/index.ts";
import { type GenesisState, GenesisStateSchema } from "../../wire/gen/sdk/upgrade/v1beta1/genesis_pb.js";
import { PlanSchema } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { upgradeErrors as errors } from "../../wire/index.ts";
import { isUpgradeName, planProblem, STORE, UpgradeKeeper } from "./keeper.ts";
import { upgradeMsgs } from "./msgs.ts";
import { upgradeQueries } from "./queries.ts";

export type { UpgradeKeeper } from "./keeper.ts";

/** Makes the module and its keeper; `versions` tells the versions of all modules of the program. */
export function upgradeModule(versions: () => Readonly<Record<string, number>>): {
  readonly keeper: UpgradeKeeper;
  readonly module: Module;
} {
  const keeper = new UpgradeKeeper();
  const module = defineModule({
    name: "upgrade",
    store: STORE,
    msg: upgradeMsgs(keeper),
    query: upgradeQueries(keeper, versions),
    genesis: upgradeGenesis(keeper),
    invariants: { plan: (ctx) => brokenPlan(keeper, ctx) },
  });
  return { keeper, module };
}

function upgradeGenesis(keeper: UpgradeKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema),
    validate: ({ plan, applied }) => {
      const problem = plan === undefined ? undefined : planProblem(plan);
      const listed = entryProblems("applied", applied, ({ name }) => {
        if (!isUpgradeName(name)) throw errors.invalidPlan("an upgrade cannot have this name");
        return name;
      });
      return [...(problem === undefined ? [] : [`plan: ${problem}`]), ...listed];
    },
    init: (ctx, state) => keeper.init(ctx, state),
    export: (ctx) => keeper.export(ctx),
    restart: { move: (state, last) => moved(state, last) },
  });
}

function moved({ plan, applied }: GenesisState, last: bigint): GenesisState {
  return create(GenesisStateSchema, {
    applied: applied.map(({ name, height }) => ({ name, height: movedEnd(height, last) })),
    ...(plan === undefined ? {} : { plan: create(PlanSchema, { ...plan, height: movedHeight(plan.height, last) }) }),
  });
}

/** An upgrade is planned for a later block, and was not applied before. */
function brokenPlan(keeper: UpgradeKeeper, ctx: Context): string | undefined {
  const plan = keeper.plan(ctx);
  if (plan === undefined) return undefined;
  if (plan.height <= ctx.height) return `upgrade ${plan.name} is planned for height ${plan.height}, which is over`;
  return keeper.applied(ctx, plan.name) === undefined ? undefined : `upgrade ${plan.name} was applied already`;
}
