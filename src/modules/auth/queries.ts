import { type BoundService, bindService } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { accountAny } from "./account-message.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

export function authQueries(keeper: AuthKeeper): BoundService {
  return bindService(Query, {
    accounts: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.accounts.paginate(ctx.store(STORE), page);
      const accounts = items.map(([address, rest]) => accountAny({ address, ...rest }, ctx.namespace));
      return { accounts, pagination };
    },
    account: (ctx, { address }) => {
      const account = keeper.get(ctx, decodeAddress(address));
      if (account === undefined) throw sdkErrors.keyNotFound(`account ${address} not found`);
      return { account: accountAny(account, ctx.namespace) };
    },
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
  });
}
