import { type BoundService, bindService, type Context } from "../../runtime/index.ts";
import type { Page } from "../../store/index.ts";
import { type AuditedAttributes, Query } from "../../wire/gen/svc/audit/v1beta1/audit_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { type AuditKeeper, STORE } from "./keeper.ts";

export function auditQueries(keeper: AuditKeeper): BoundService {
  const answer = (ctx: Context, page: Page<[unknown, AuditedAttributes]>) => ({
    providers: page.items.map(([, record]) => keeper.withStaleKeys(ctx, record)),
    pagination: page.pagination,
  });
  return bindService(Query, {
    allProvidersAttributes: (ctx, { pagination }) => answer(ctx, keeper.records.paginate(ctx.store(STORE), pagination)),
    providerAttributes: (ctx, { owner, pagination }) => {
      const prefix = [decodeAddress(owner, "account")] as const;
      return answer(ctx, keeper.records.paginate(ctx.store(STORE), pagination, { prefix }));
    },
    providerAuditorAttributes: (ctx, { owner, auditor }) => ({
      providers: [keeper.withStaleKeys(ctx, keeper.require(ctx, owner, auditor))],
    }),
    auditorAttributes: (ctx, { auditor, pagination }) => {
      const prefix = [decodeAddress(auditor, "account")] as const;
      return answer(ctx, keeper.records.by.auditor.paginate(ctx.store(STORE), pagination, { prefix }));
    },
  });
}
