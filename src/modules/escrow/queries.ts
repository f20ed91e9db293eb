import { type BoundService, bindService, type Context, readState } from "../../runtime/index.ts";
import type { Page } from "../../store/index.ts";
import { sdkErrors } from "../../util/index.ts";
import {
  Query,
  type QueryAccountsRequest,
  type QueryPaymentsRequest,
} from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { decodeAddress } from "../../wire/index.ts";
import { CLOSED, type EscrowKeeper, OPEN, STORE } from "./keeper.ts";
import { type Account, accountMessage, isScope, type Payment, paymentMessage } from "./records.ts";

const STATES = { open: OPEN, closed: CLOSED };

export function escrowQueries(keeper: EscrowKeeper): BoundService {
  return bindService(Query, {
    accounts: (ctx, request) => {
      const { items, pagination } = accountPage(keeper, ctx, request);
      return { accounts: items.map(([, account]) => accountMessage(account)), pagination };
    },
    payments: (ctx, request) => {
      const { items, pagination } = paymentPage(keeper, ctx, request);
      const payments = items.map(([, payment]) => paymentMessage(payment, keeper.accrued(ctx, payment)));
      return { payments, pagination };
    },
    params: (ctx) => ({ params: keeper.getParams(ctx) }),
  });
}

/** One page through the narrowest index; other rows are filtered one at a time. */
function accountPage(keeper: EscrowKeeper, ctx: Context, request: QueryAccountsRequest): Page<[string, Account]> {
  const { scope, xid, owner, pagination } = request;
  const state = readState(request.state, STATES);
  const start = pathStart(scope, xid);
  const matches = (account: Account, key: string): boolean =>
    key.startsWith(start) &&
    (owner === "" || account.owner === owner) &&
    (state === undefined || account.open === (state === OPEN));
  const store = ctx.store(STORE);
  const { accounts } = keeper;
  if (xid !== "") return accounts.paginate(store, pagination, { prefix: start, filter: matches });
  if (owner !== "") {
    const address = decodeAddress(owner);
    const prefix = state === undefined ? ([address] as const) : ([address, state] as const);
    return accounts.by.owner.paginate(store, pagination, scope === "" ? { prefix } : { prefix, filter: matches });
  }
  if (state === undefined) return accounts.paginate(store, pagination, { prefix: start });
  return accounts.by.state.paginate(store, pagination, { prefix: scope === "" ? [state] : [state, scope] });
}

function paymentPage(keeper: EscrowKeeper, ctx: Context, request: QueryPaymentsRequest): Page<[string, Payment]> {
  const { scope, xid, id, owner, pagination } = request;
  const state = readState(request.state, STATES);
  if (id !== "" && xid === "")
    throw sdkErrors.invalidRequest("a payment id needs the account's scope and xid beside it");
  const start = pathStart(scope, xid);
  const matches = (payment: Payment, key: string): boolean =>
    key.startsWith(start) &&
    (id === "" || payment.id === id) &&
    (owner === "" || payment.owner === owner) &&
    (state === undefined || payment.open === (state === OPEN));
  const store = ctx.store(STORE);
  const { payments } = keeper;
  if (xid !== "") return payments.paginate(store, pagination, { prefix: start, filter: matches });
  if (owner !== "") {
    const address = decodeAddress(owner);
    const prefix = state === undefined ? ([address] as const) : ([address, state] as const);
    return payments.by.owner.paginate(store, pagination, scope === "" ? { prefix } : { prefix, filter: matches });
  }
  if (state === undefined) return payments.paginate(store, pagination, { prefix: start });
  // Only deployments have payments, so a scope keeps all of them or none.
  const prefix = [state] as const;
  return payments.by.state.paginate(store, pagination, scope === "bid" ? { prefix, filter: () => false } : { prefix });
}

/** Prefix of the keys of a scope, and of an id or its beginning up to a slash. */
function pathStart(scope: string, xid: string): string {
  if (scope !== "" && !isScope(scope))
    throw sdkErrors.invalidRequest(`unknown scope "${scope.slice(0, 40)}": write deployment or bid`);
  if (xid === "") return scope === "" ? "" : `${scope}/`;
  if (scope === "") throw sdkErrors.invalidRequest("an xid needs its scope: deployment or bid");
  return `${scope}/${xid.replace(/\/+$/, "")}/`;
}
