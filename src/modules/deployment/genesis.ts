import { create } from "@bufbuild/protobuf";
import { type Context, defineGenesis, type GenesisPart, movedDue, movedEnd, movedHeight } from "../../runtime/index.ts";
import {
  Deployment_State,
  type GenesisState,
  GenesisStateSchema,
  type GroupSpec,
  GroupSpecSchema,
  LimitsSchema,
} from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import {
  decodeAddress,
  encodeAddress,
  deploymentErrors as errors,
  formatDeploymentId,
  formatGroupId,
} from "../../wire/index.ts";
import { checkGroups } from "./group-spec.ts";
import { type DeploymentKeeper, deploymentKey, groupKey, STORE } from "./keeper.ts";
import { readGroupId, readId, VERSION_BYTES } from "./msgs.ts";
import { checkParams, defaultParams } from "./params.ts";
import { idOfPath, waitingEntries } from "./pruning.ts";

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
        if (deployment.version.length !== VERSION_BYTES) throw errors.invalidVersion(formatDeploymentId(id));
        checkForm(groups.map(({ groupSpec }) => groupSpec ?? create(GroupSpecSchema)));
        keeper.deployments.set(store, deploymentKey(id), deployment);
        for (const group of groups) {
          const groupId = readGroupId(group.groupId);
          const isForeign = groupId.owner !== id.owner || groupId.dseq !== id.dseq;
          if (isForeign || keeper.groups.has(store, groupKey(groupId)))
            throw errors.invalidGroupId(`${formatGroupId(groupId)} of ${formatDeploymentId(id)}`);
          keeper.addGroup(ctx, group);
        }
      }
      restorePruning(keeper, ctx, state);
    },
    export(ctx) {
      const deployments = [...keeper.deployments.values(ctx.store(STORE))].map((deployment) => ({
        deployment,
        groups: keeper.groupsOf(ctx, readId(deployment.deploymentId)).map((group) => keeper.withSpec(ctx, group)),
      }));
      return create(GenesisStateSchema, { deployments, params: keeper.getParams(ctx), ...exportPruning(keeper, ctx) });
    },
    restart: { move: moved },
  });
}

/** Closed deployments wait for the height in the genesis; without one, as if they had been closed on this chain. */
function restorePruning(keeper: DeploymentKeeper, ctx: Context, state: GenesisState): void {
  const store = ctx.store(STORE);
  const { waiting, watermarks, spent, base } = keeper.pruned;
  if (state.numberBase < 0n) throw errors.invalidId(`number_base is ${state.numberBase}`);
  if (state.numberBase > 0n) base.set(store, state.numberBase);
  const heights = new Map(state.pruning.map(({ id, height }) => [formatDeploymentId(readId(id)), height]));
  const { retentionBlocks } = keeper.getParams(ctx);
  for (const { deploymentId, state: current, closedOn } of keeper.deployments.values(store)) {
    if (current !== Deployment_State.closed) continue;
    const id = readId(deploymentId);
    const height = heights.get(formatDeploymentId(id)) ?? closedOn + retentionBlocks;
    heights.delete(formatDeploymentId(id));
    if (height < 0n) throw errors.invalidId(`${formatDeploymentId(id)} is pruned at ${height}`);
    waiting.push(store, height, deploymentKey(id));
  }
  for (const id of heights.keys()) throw errors.invalidId(`${id} is not closed and cannot be pruned`);
  for (const { owner, dseq } of state.watermarks) {
    if (dseq === 0n) throw errors.invalidId(`the watermark of ${owner} is 0`);
    watermarks.set(store, decodeAddress(owner), dseq);
  }
  for (const id of state.spent) spent.set(store, deploymentKey(readId(id)), true);
}

/** Keeps deployments and their numbers; only heights count from the last block. */
function moved(state: GenesisState, last: bigint): GenesisState {
  const age = <T extends { readonly createdAt: bigint; readonly closedOn: bigint }>(record: T) => ({
    ...record,
    createdAt: movedHeight(record.createdAt, last),
    closedOn: movedEnd(record.closedOn, last),
  });
  return create(GenesisStateSchema, {
    ...state,
    deployments: state.deployments.map((each) => ({
      ...each,
      ...(each.deployment === undefined ? {} : { deployment: age(each.deployment) }),
      groups: each.groups.map(age),
    })),
    pruning: state.pruning.map((entry) => ({ ...entry, height: movedDue(entry.height, last) })),
    numberBase: state.numberBase + last,
  });
}

function exportPruning(keeper: DeploymentKeeper, ctx: Context) {
  const store = ctx.store(STORE);
  const { waiting, watermarks, spent, base } = keeper.pruned;
  return {
    numberBase: base.get(store) ?? 0n,
    pruning: waitingEntries(waiting.iterate(store)),
    watermarks: [...watermarks.iterate(store)].map(([owner, dseq]) => ({ owner: encodeAddress(owner), dseq })),
    spent: [...spent.keys(store)].map(idOfPath),
  };
}

/** No limit on sizes: a deployment may have been created under other limits. */
const ANY_SIZE = 2n ** 256n;
const ANY_COUNT = 2 ** 32;
const NO_LIMITS = create(LimitsSchema, {
  unitCpuMax: ANY_SIZE,
  unitMemoryMax: ANY_SIZE,
  unitStorageMax: ANY_SIZE,
  unitGpuMax: ANY_SIZE,
  unitCountMax: ANY_COUNT,
  unitPriceMax: ANY_SIZE,
  groupUnitsMax: ANY_COUNT,
  groupsMax: ANY_COUNT,
  groupCpuMax: ANY_SIZE ** 2n,
  groupMemoryMax: ANY_SIZE ** 2n,
  groupStorageMax: ANY_SIZE ** 2n,
  groupGpuMax: ANY_SIZE ** 2n,
  groupBytesMax: ANY_COUNT,
  groupNameMax: ANY_COUNT,
  groupAuditorsMax: ANY_COUNT,
  groupAttributesMax: ANY_COUNT,
  unitAttributesMax: ANY_COUNT,
  attributeKeyMax: ANY_COUNT,
  attributeValueMax: ANY_COUNT,
  unitVolumesMax: ANY_COUNT,
  volumeNameMax: ANY_COUNT,
  unitEndpointsMax: ANY_COUNT,
});

function checkForm(specs: readonly GroupSpec[]): void {
  checkGroups(specs, NO_LIMITS, specs[0]?.resources[0]?.price?.denom ?? "");
}
