import { type BoundService, bindService } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { GOV_ACCOUNT } from "../gov/index.ts";
import type { UpgradeKeeper } from "./keeper.ts";

export function upgradeQueries(keeper: UpgradeKeeper, versions: () => Readonly<Record<string, number>>): BoundService {
  return bindService(Query, {
    currentPlan: (ctx) => {
      const plan = keeper.plan(ctx);
      return plan === undefined ? {} : { plan };
    },
    appliedPlan: (ctx, { name }) => ({ height: keeper.applied(ctx, name)?.height ?? 0n }),
    moduleVersions: (_, { moduleName }) => {
      const moduleVersions = Object.entries(versions())
        .filter(([name]) => moduleName === "" || name === moduleName)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, version]) => ({ name, version: BigInt(version) }));
      if (moduleVersions.length === 0) throw sdkErrors.notFound(`module ${moduleName.slice(0, 100)}`);
      return { moduleVersions };
    },
    authority: () => ({ address: GOV_ACCOUNT }),
  });
}
