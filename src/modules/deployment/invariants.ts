import type { Context, Invariant } from "../../runtime/index.ts";
import { type Deployment, Deployment_State, Group_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { formatAccountId, formatDeploymentId, formatGroupId } from "../../wire/index.ts";
import type { Escrow } from "../escrow/index.ts";
import { type DeploymentKeeper, escrowId, groupKey, idOf, STORE } from "./keeper.ts";
import { readId } from "./msgs.ts";
import { idOfPath } from "./pruning.ts";

export function deploymentInvariants(keeper: DeploymentKeeper, escrow: Escrow): Readonly<Record<string, Invariant>> {
  const eachDeployment =
    (check: (ctx: Context, deployment: Deployment) => string | undefined): Invariant =>
    (ctx) => {
      for (const deployment of keeper.deployments.values(ctx.store(STORE))) {
        const problem = check(ctx, deployment);
        if (problem !== undefined) return `${formatDeploymentId(readId(deployment.deploymentId))}: ${problem}`;
      }
      return undefined;
    };
  return {
    groups: eachDeployment((ctx, deployment) => groupsFollow(keeper, ctx, deployment)),
    escrow: eachDeployment((ctx, deployment) => escrowFollows({ keeper, escrow }, ctx, deployment)),
    "groups-have-deployments": (ctx) => groupsHaveDeployments(keeper, ctx),
    pruning: (ctx) => closedOnesWait(keeper, ctx),
    indexes: (ctx) => keeper.deployments.verifyIndexes(ctx.store(STORE))[0],
  };
}

/** Groups are numbered from 1; a closed deployment has closed groups, an active one at least one that is not. */
function groupsFollow(keeper: DeploymentKeeper, ctx: Context, { deploymentId, state }: Deployment): string | undefined {
  const groups = keeper.groupsOf(ctx, readId(deploymentId));
  const misplaced = groups.find((group, i) => idOf(group).gseq !== i + 1);
  if (misplaced !== undefined || groups.length === 0) return "its groups are not numbered from 1";
  const open = groups.filter((group) => group.state !== Group_State.closed);
  if (state === Deployment_State.closed && open.length > 0) return "closed with a group that is not";
  if (state === Deployment_State.active && open.length === 0) return "active, but all groups are closed";
  const undated = groups.find((group) => (group.state === Group_State.open) !== (group.closedOn === 0n));
  return undated === undefined ? undefined : `group ${idOf(undated).gseq} has no height of its end`;
}

/** The escrow account is open exactly while the deployment is active, and in the denomination of its prices. */
function escrowFollows(
  { keeper, escrow }: { readonly keeper: DeploymentKeeper; readonly escrow: Escrow },
  ctx: Context,
  { deploymentId, state }: Deployment,
): string | undefined {
  const account = escrow.account(ctx, escrowId(readId(deploymentId)));
  const rows = keeper.groupsOf(ctx, readId(deploymentId)).flatMap((group) => keeper.spec(ctx, idOf(group)).resources);
  const other = rows.find(({ price }) => price?.denom !== account.denom);
  if (other !== undefined) return `a price is in ${other.price?.denom}, the account in ${account.denom}`;
  if (account.open === (state === Deployment_State.active)) return undefined;
  return `escrow account ${formatAccountId(account.id)} is ${account.open ? "open" : "closed"}`;
}

/**
 * Exactly the closed deployments wait to be removed, each once; a number that is used up for itself has no deployment.
 */
function closedOnesWait(keeper: DeploymentKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const { waiting, spent } = keeper.pruned;
  const closed = new Set<string>();
  for (const [, { deploymentId }] of keeper.deployments.by.state.iterate(store, { prefix: [Deployment_State.closed] }))
    closed.add(formatDeploymentId(readId(deploymentId)));
  for (const { key, height } of waiting.iterate(store)) {
    const id = formatDeploymentId(idOfPath(key));
    if (!closed.delete(id)) return `${id} waits at ${height} to be pruned and is not closed`;
  }
  for (const id of closed) return `${id} is closed and never pruned`;
  for (const key of spent.keys(store))
    if (keeper.deployments.has(store, key)) return `${formatDeploymentId(idOfPath(key))} is used up and in the state`;
  return undefined;
}

/** Every group has a deployment and one spec. */
function groupsHaveDeployments(keeper: DeploymentKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  for (const [[owner, dseq], group] of keeper.groups.iterate(store)) {
    if (!keeper.deployments.has(store, [owner, dseq])) return `${formatGroupId(idOf(group))} has no deployment`;
    if (!keeper.specs.has(store, groupKey(idOf(group)))) return `${formatGroupId(idOf(group))} asks for nothing`;
  }
  if (keeper.specs.count(store) !== keeper.groups.count(store)) return "a spec belongs to no group";
  return undefined;
}
