import { type BoundService, bindService, type Context } from "../../runtime/index.ts";
import type { Grant } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import { Query } from "../../wire/gen/sdk/authz/v1beta1/query_pb.js";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";
import { type AuthzKeeper, type GrantKey, store } from "./keeper.ts";
import { spelledAuthorization } from "./kinds/index.ts";
import { keyOf } from "./msgs.ts";

export function authzQueries(keeper: AuthzKeeper): BoundService {
  return bindService(Query, {
    grants: (ctx, { granter, grantee, msgTypeUrl, pagination: page }) => {
      const pair = [decodeAddress(granter), decodeAddress(grantee)] as const;
      if (msgTypeUrl !== "")
        return { grants: [spelled(ctx, keeper.grants.require(store(ctx), keyOf(...pair, msgTypeUrl)))] };
      const { items, pagination } = keeper.grants.paginate(store(ctx), page, { prefix: pair });
      return { grants: items.map(([, grant]) => spelled(ctx, grant)), pagination };
    },
    granterGrants: (ctx, { granter, pagination: page }) => {
      const { items, pagination } = keeper.grants.paginate(store(ctx), page, { prefix: [decodeAddress(granter)] });
      return { grants: items.map((item) => grantAuthorization(ctx, item)), pagination };
    },
    granteeGrants: (ctx, { grantee, pagination: page }) => {
      const prefix = [decodeAddress(grantee)] as const;
      const { items, pagination } = keeper.grants.by.grantee.paginate(store(ctx), page, { prefix });
      return { grants: items.map((item) => grantAuthorization(ctx, item)), pagination };
    },
  });
}

function spelled(ctx: Context, { authorization, ...grant }: Grant) {
  return { ...grant, authorization: spelledAuthorization(authorization, ctx.namespace) };
}

function grantAuthorization(ctx: Context, [[granter, grantee], grant]: [GrantKey, Grant]) {
  const { authorization, expiration } = spelled(ctx, grant);
  const end = expiration === undefined ? {} : { expiration };
  return { granter: encodeAddress(granter), grantee: encodeAddress(grantee), authorization, ...end };
}
