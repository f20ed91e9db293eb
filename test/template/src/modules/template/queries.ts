import { type BoundService, bindService } from "../../runtime/index.ts";
import { Query } from "../../wire/gen/svc/template/v1beta1/template_pb.js";
import { STORE, type TemplateKeeper } from "./keeper.ts";

export function templateQueries(keeper: TemplateKeeper): BoundService {
  return bindService(Query, {
    notes: (ctx, { pagination }) => {
      const page = keeper.notes.paginate(ctx.store(STORE), pagination);
      return { notes: page.items.map(([, note]) => note), pagination: page.pagination };
    },
    note: (ctx, { owner }) => ({ note: keeper.require(ctx, owner) }),
  });
}
