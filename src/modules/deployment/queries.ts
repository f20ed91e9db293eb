import { type BoundService, bindService, type Context, readState } from "../../runtime/index.ts";
import type { Page } from "../../store/index.ts";
import { type Deployment, Deployment_State } from "../../wire/gen/svc/deployment/v1beta1/deployment_pb.js";
import { Query, type QueryDeploymentsRequest } from "../../wire/gen/svc/deployment/v1beta1/query_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { accountMessage, type Escrow } from "../escrow/index.ts";
import { type DeploymentKeeper, escrowId, STORE } from "./keeper.ts";
import { readGroupId, readId } from "./msgs.ts";

type Row = Page<[readonly [Uint8Array, bigint], Deployment]>;

export function deploymentQueries(keeper: DeploymentKeeper, escrow: Escrow): BoundService {
  const withDetails = (ctx: Context, deployment: Deployment) => {
    const id = readId(deployment.deploymentId);
    return {
      deployment,
      groups: keeper.groupsOf(ctx, id).map((group) => keeper.withSpec(ctx, group)),
      escrowAccount: accountMessage(escrow.account(ctx, escrowId(id))),
    };
  };
  return bindService(Query, {
    deployments: (ctx, request) => {
      const { items, pagination } = page(keeper, ctx, request);
      return { deployments: items.map(([, deployment]) => withDetails(ctx, deployment)), pagination };
    },
    deployment: (ctx, { id }) => withDetails(ctx, keeper.deployment(ctx, readId(id))),
    group: (ctx, { id }) => ({ group: keeper.withSpec(ctx, keeper.group(ctx, readGroupId(id))) }),
    pruned: (ctx, { id }) => ({ pruned: keeper.isPruned(ctx, readId(id)), height: ctx.height }),
    params: (ctx) => ({
      params: keeper.getParams(ctx),
      numberBase: keeper.pruned.present(ctx, ctx.store(STORE)) - ctx.height,
    }),
  });
}

/** One page through the narrowest index. */
function page(keeper: DeploymentKeeper, ctx: Context, { filters, pagination }: QueryDeploymentsRequest): Row {
  const { owner = "", dseq = 0n } = filters ?? {};
  const state = readState(filters?.state ?? "", Deployment_State);
  const store = ctx.store(STORE);
  const { deployments } = keeper;
  const filter = ({ state: stored }: Deployment): boolean => state === undefined || stored === state;
  if (owner !== "") {
    const address = decodeAddress(owner);
    if (dseq !== 0n) return deployments.paginate(store, pagination, { prefix: [address, dseq], filter });
    if (state === undefined) return deployments.paginate(store, pagination, { prefix: [address] });
    return deployments.by.owner.paginate(store, pagination, { prefix: [address, state] });
  }
  if (dseq !== 0n) return deployments.by.dseq.paginate(store, pagination, { prefix: [dseq], filter });
  if (state === undefined) return deployments.paginate(store, pagination);
  return deployments.by.state.paginate(store, pagination, { prefix: [state] });
}
