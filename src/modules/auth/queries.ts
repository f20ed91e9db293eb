import type { Any } from "@bufbuild/protobuf/wkt";
import { type Account, type BoundService, bindService, type Context } from "../../runtime/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { Query } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { bech32Prefix, decodeAddress, encodeAddress } from "../../wire/index.ts";
import { accountAny, baseAccount } from "./account-message.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

export function authQueries(keeper: AuthKeeper): BoundService {
  return bindService(Query, {
    accounts: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.accounts.paginate(ctx.store(STORE), page);
      const accounts = items.map(([address, rest]) => anyOf(ctx, keeper, { address, ...rest }));
      return { accounts, pagination };
    },
    account: (ctx, { address }) => {
      return { account: anyOf(ctx, keeper, find(ctx, keeper, address)) };
    },
    accountAddressByID: (ctx, { id, accountId }) => {
      if (id !== 0n)
        throw sdkErrors.invalidRequest("requesting with id isn't supported, try to request using account-id");
      return { accountAddress: encodeAddress(addressOf(ctx, keeper, accountId)) };
    },
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
    moduleAccounts: (ctx) => ({ accounts: keeper.modules.all().map(({ name }) => moduleAny(ctx, keeper, name)) }),
    moduleAccountByName: (ctx, { name }) => ({ account: moduleAny(ctx, keeper, name) }),
    accountInfo: (ctx, { address }) => ({ info: baseAccount(find(ctx, keeper, address), ctx.namespace) }),
    bech32Prefix: () => ({ bech32Prefix: bech32Prefix("account") }),
    addressBytesToString: (_, { addressBytes }) => ({ addressString: encodeAddress(addressBytes) }),
    addressStringToBytes: (_, { addressString }) => ({ addressBytes: decodeAddress(addressString) }),
  });
}

function anyOf(ctx: Context, keeper: AuthKeeper, account: Account): Any {
  return accountAny(account, ctx.namespace, keeper.vestingOf(ctx, account));
}

function find(ctx: Context, keeper: AuthKeeper, address: string): Account {
  const account = keeper.get(ctx, decodeAddress(address));
  if (account === undefined) throw sdkErrors.keyNotFound(`account ${address} not found`);
  return account;
}

/**
 * Nothing else asks for accounts by their numbers, so no index is kept for it: all accounts are looked through, as far as
 * a query may read.
 */
function addressOf(ctx: Context, keeper: AuthKeeper, number: bigint): Uint8Array {
  for (const [address, account] of keeper.accounts.iterate(ctx.store(STORE)))
    if (account.number === number) return address;
  throw sdkErrors.keyNotFound(`account address not found with account number ${number}`);
}

/** The account of a module; a name that no module declared has none. */
function moduleAny(ctx: Context, keeper: AuthKeeper, name: string): Any {
  const module = keeper.modules.all().find((each) => each.name === name);
  const account = module === undefined ? undefined : keeper.get(ctx, module.address);
  if (account !== undefined) return accountAny(account, ctx.namespace);
  throw sdkErrors.keyNotFound(`account of module ${JSON.stringify(name.slice(0, 80))} not found`);
}
