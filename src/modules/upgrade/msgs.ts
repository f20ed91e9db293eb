import { type BoundService, bindService, checkAuthority } from "../../runtime/index.ts";
import { Msg } from "../../wire/gen/sdk/upgrade/v1beta1/tx_pb.js";
import { upgradeErrors as errors } from "../../wire/index.ts";
import { planProblem, type UpgradeKeeper } from "./keeper.ts";

export function upgradeMsgs(keeper: UpgradeKeeper): BoundService {
  return bindService(
    Msg,
    {
      softwareUpgrade: (ctx, { authority, plan }) => {
        checkAuthority(authority);
        if (plan === undefined) throw errors.invalidPlan("the plan is missing");
        keeper.schedule(ctx, plan);
        ctx.events.emit("software_upgrade", { name: plan.name, height: `${plan.height}` });
        return {};
      },
      cancelUpgrade: (ctx, { authority }) => {
        checkAuthority(authority);
        const plan = keeper.clear(ctx);
        // Without a plan there is nothing to do, as in the ecosystem.
        if (plan !== undefined) ctx.events.emit("cancel_upgrade", { name: plan.name, height: `${plan.height}` });
        return {};
      },
    },
    {
      softwareUpgrade: ({ plan }) => {
        const problem = planProblem(plan);
        if (problem !== undefined) throw errors.invalidPlan(problem);
      },
    },
  );
}
