import { create } from "@bufbuild/protobuf";
import { defineGenesis, type GenesisPart } from "../../runtime/index.ts";
import { GenesisStateSchema } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatDeploymentId, formatGroupId } from "../../wire/index.ts";
import { errors } from "./errors.ts";
import { type DeploymentKeeper, deploymentKey, groupKey, STORE } from "./keeper.ts";
import { readGroupId, readId } from "./msgs.ts";
import { checkParams, defaultParams } from "./params.ts";

export function deploymentGenesis(keeper: DeploymentKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: defaultParams() }),
    init(ctx, state) {
      const store = ctx.store(STORE);
      keeper.params.set(store, checkParams(state.params ?? defaultParams()));
      for (const { deployment, groups } of state.deployments) {
        const id = readId(deployment?.deploymentId);
        if (deployment === undefined || keeper.deployments.has(store, deploymentKey(id)))
          throw errors.exists(formatDeploymentId(id));
        keeper.deployments.set(store, deploymentKey(id), deployment);
        for (const group of groups) {
          const groupId = readGroupId(group.groupId);
          const isForeign = groupId.owner !== id.owner || groupId.dseq !== id.dseq;
          if (isForeign || keeper.groups.has(store, groupKey(groupId)))
            throw errors.invalidGroupId(`${formatGroupId(groupId)} of ${formatDeploymentId(id)}`);
          keeper.groups.set(store, groupKey(groupId), group);
        }
      }
    },
    export(ctx) {
      const deployments = [...keeper.deployments.values(ctx.store(STORE))].map((deployment) => ({
        deployment,
        groups: keeper.groupsOf(ctx, readId(deployment.deploymentId)),
      }));
      return create(GenesisStateSchema, { deployments, params: keeper.getParams(ctx) });
    },
  });
}
