import { GOV_ACCOUNT } from "../../modules/gov/index.ts";
import { type BoundService, bindSome, type Module } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/upgrade/v1beta1/query_pb.js";
import { versionsOf } from "../module-versions.ts";

/** Upgrades of the chain: none is ever planned here, and the modules have their versions. */
export function upgrades(modules: readonly Module[]): BoundService {
  const versions = Object.entries(versionsOf(modules))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, version]) => ({ name, version: BigInt(version) }));
  return bindSome(Query, {
    currentPlan: () => ({}),
    appliedPlan: () => ({ height: 0n }),
    moduleVersions: (_, { moduleName }) => {
      const moduleVersions = versions.filter(({ name }) => moduleName === "" || name === moduleName);
      if (moduleVersions.length === 0) throw sdkErrors.notFound(`module ${moduleName.slice(0, 100)}`);
      return { moduleVersions };
    },
    authority: () => ({ address: GOV_ACCOUNT }),
  });
}
