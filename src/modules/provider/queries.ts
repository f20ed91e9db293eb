import { type BoundService, bindService } from "../../runtime/index.ts";
import { Query } from "../../wire/gen/svc/provider/v1beta1/provider_pb.js";
import { type ProviderKeeper, STORE } from "./keeper.ts";

export function providerQueries(keeper: ProviderKeeper): BoundService {
  return bindService(Query, {
    providers: (ctx, { pagination }) => {
      const page = keeper.providers.paginate(ctx.store(STORE), pagination);
      return { providers: page.items.map(([, provider]) => provider), pagination: page.pagination };
    },
    provider: (ctx, { owner }) => ({ provider: keeper.require(ctx, owner) }),
  });
}
