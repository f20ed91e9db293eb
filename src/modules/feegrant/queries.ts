import { type BoundService, bindService, type Context } from "../../runtime/index.ts";
import type { Grant } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { Query } from "../../wire/gen/sdk/feegrant/v1beta1/query_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { spelledAllowance } from "./allowance.ts";
import { type FeegrantKeeper, store } from "./keeper.ts";

export function feegrantQueries(keeper: FeegrantKeeper): BoundService {
  return bindService(Query, {
    allowance: (ctx, { granter, grantee }) => {
      const pair = [decodeAddress(granter), decodeAddress(grantee)] as const;
      return { allowance: spelled(ctx, keeper.allowances.require(store(ctx), pair)) };
    },
    allowances: (ctx, { grantee, pagination: page }) => {
      const prefix = [decodeAddress(grantee)] as const;
      const { items, pagination } = keeper.allowances.by.grantee.paginate(store(ctx), page, { prefix });
      return { allowances: items.map(([, grant]) => spelled(ctx, grant)), pagination };
    },
    allowancesByGranter: (ctx, { granter, pagination: page }) => {
      const prefix = [decodeAddress(granter)] as const;
      const { items, pagination } = keeper.allowances.paginate(store(ctx), page, { prefix });
      return { allowances: items.map(([, grant]) => spelled(ctx, grant)), pagination };
    },
  });
}

function spelled(ctx: Context, grant: Grant): Grant {
  return { ...grant, allowance: spelledAllowance(grant.allowance, ctx.namespace) };
}
