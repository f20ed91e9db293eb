import { type BoundService, bindService, type Context, coinMessage } from "../../runtime/index.ts";
import { type Page, type PageRequest, planPage, takePage } from "../../store/index.ts";
import { equalBytes, isDenom, sdkErrors, toUtf8 } from "../../util/index.ts";
import type { SendEnabled } from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { Query } from "../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";
import { type BankKeeper, STORE } from "./keeper.ts";

export function bankQueries(keeper: BankKeeper): BoundService {
  const balances = (ctx: Context, address: string, page: PageRequest | undefined) => {
    const prefix = [decodeAddress(address)] as const;
    const { items, pagination } = keeper.balances.paginate(ctx.store(STORE), page, { prefix });
    return { balances: items.map(([[, denom], amount]) => coinMessage({ denom, amount })), pagination };
  };
  const balance = (ctx: Context, address: string, denom: string) => {
    const account = decodeAddress(address);
    return coinMessage({ denom: checkDenom(denom), amount: keeper.balance(ctx, account, denom) });
  };
  const metadata = (ctx: Context, denom: string) => ({
    metadata: keeper.metadata.require(ctx.store(STORE), checkDenom(denom)),
  });
  const owners = (ctx: Context, denom: string, page: PageRequest | undefined) => {
    checkDenom(denom);
    const filter = (_: bigint, [, held]: readonly [Uint8Array, string]) => held === denom;
    const { items, pagination } = keeper.balances.paginate(ctx.store(STORE), page, { filter, sparse: true });
    const denomOwners = items.map(([[address], amount]) => ({
      address: encodeAddress(address),
      balance: coinMessage({ denom, amount }),
    }));
    return { denomOwners, pagination };
  };
  return bindService(Query, {
    balance: (ctx, { address, denom }) => ({ balance: balance(ctx, address, denom) }),
    allBalances: (ctx, { address, pagination }) => balances(ctx, address, pagination),
    spendableBalanceByDenom: (ctx, { address, denom }) => {
      const amount = keeper.spendable(ctx, decodeAddress(address), checkDenom(denom));
      return { balance: coinMessage({ denom, amount }) };
    },
    spendableBalances: (ctx, { address, pagination: page }) => {
      const prefix = [decodeAddress(address)] as const;
      const { items, pagination } = keeper.balances.paginate(ctx.store(STORE), page, { prefix });
      const spendable = keeper.spendableOf(
        ctx,
        prefix[0],
        items.map(([[, denom], amount]) => ({ denom, amount })),
      );
      return { balances: spendable.map(coinMessage), pagination };
    },
    totalSupply: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.supplies.paginate(ctx.store(STORE), page);
      return { supply: items.map(([denom, amount]) => coinMessage({ denom, amount })), pagination };
    },
    supplyOf: (ctx, { denom }) => ({
      amount: coinMessage({ denom: checkDenom(denom), amount: keeper.supply(ctx, denom) }),
    }),
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
    denomMetadata: (ctx, { denom }) => metadata(ctx, denom),
    denomMetadataByQueryString: (ctx, { denom }) => metadata(ctx, denom),
    denomsMetadata: (ctx, { pagination: page }) => {
      const { items, pagination } = keeper.metadata.paginate(ctx.store(STORE), page);
      return { metadatas: items.map(([, metadata]) => metadata), pagination };
    },
    denomOwners: (ctx, { denom, pagination }) => owners(ctx, denom, pagination),
    denomOwnersByQuery: (ctx, { denom, pagination }) => owners(ctx, denom, pagination),
    sendEnabled: (ctx, { denoms, pagination: page }) => {
      const { sendEnabled } = keeper.getParams(ctx);
      // Who names denominations gets no pages.
      if (denoms.length > 0) return { sendEnabled: sendEnabled.filter(({ denom }) => denoms.includes(denom)) };
      const { items, pagination } = pageOf(sendEnabled, page);
      return { sendEnabled: items, pagination };
    },
  });
}

/** The next key of a page of entries is the denomination of the next one. */
function pageOf(entries: readonly SendEnabled[], page: PageRequest | undefined): Page<SendEnabled> {
  const plan = planPage(page);
  const all = plan.reverse ? entries.toReversed() : entries;
  const { key } = plan;
  const from = key === undefined ? 0 : all.findIndex(({ denom }) => equalBytes(toUtf8(denom), key));
  if (from < 0) throw sdkErrors.invalidRequest("the page key does not come from this list");
  const rows = all.slice(from).map((entry) => ({ rawKey: () => toUtf8(entry.denom), open: () => entry }));
  return takePage(rows, plan, { filtered: false });
}

function checkDenom(denom: string): string {
  if (!isDenom(denom)) throw sdkErrors.invalidRequest(`invalid denomination ${JSON.stringify(denom.slice(0, 80))}`);
  return denom;
}
