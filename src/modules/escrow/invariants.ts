import type { Context, Invariant } from "../../runtime/index.ts";
import { DEC_ONE, type Dec, formatCoins, MAX_AMOUNT } from "../../util/index.ts";
import { isAddress, parseBidId, parseDeploymentId, parseLeaseId } from "../../wire/index.ts";
import { type EscrowKeeper, STORE } from "./keeper.ts";
import { accountKey } from "./keys.ts";
import type { Account, Payment } from "./records.ts";
import { earnedBy, MAX_HEIGHT, NEVER } from "./settlement.ts";

interface Scan {
  readonly accounts: ReadonlyMap<string, Account>;
  /** All payments by the key of their account. */
  readonly payments: ReadonlyMap<string, readonly Payment[]>;
}

/** Conditions that hold after every block; each walks all accounts. */
export function escrowInvariants(keeper: EscrowKeeper): Readonly<Record<string, Invariant>> {
  const eachAccount =
    (check: (account: Account, payments: readonly Payment[], ctx: Context) => string | undefined): Invariant =>
    (ctx) => {
      const { accounts, payments } = scan(keeper, ctx);
      for (const [key, account] of accounts) {
        const problem = check(account, payments.get(key) ?? [], ctx);
        if (problem !== undefined) return `${key}: ${problem}`;
      }
      return undefined;
    };
  return {
    "module-balance": (ctx) => moduleHoldsAll(keeper, ctx),
    transferred: eachAccount(transferredIsEarned),
    deposits: eachAccount(depositsAreBalance),
    settlement: eachAccount(settlementIsCurrent),
    closed: eachAccount(closedIsEmpty),
    amounts: eachAccount(amountsAreInRange),
    owners: eachAccount(ownersAreNamed),
    payments: (ctx) => paymentsHaveAccounts(keeper, ctx),
    queues: (ctx) => queuesMatch(keeper, ctx),
    indexes: (ctx) =>
      [...keeper.accounts.verifyIndexes(ctx.store(STORE)), ...keeper.payments.verifyIndexes(ctx.store(STORE))][0],
  };
}

function scan(keeper: EscrowKeeper, ctx: Context): Scan {
  const store = ctx.store(STORE);
  const payments = new Map<string, Payment[]>();
  for (const payment of keeper.payments.values(store)) {
    const key = accountKey(payment.account);
    const known = payments.get(key);
    if (known === undefined) payments.set(key, [payment]);
    else known.push(payment);
  }
  return { accounts: new Map(keeper.accounts.iterate(store)), payments };
}

/** The module's account holds exactly all balances and all earnings that are not paid out. */
function moduleHoldsAll(keeper: EscrowKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const owed = new Map<string, bigint>();
  for (const each of [...keeper.accounts.values(store), ...keeper.payments.values(store)]) {
    owed.set(each.denom, (owed.get(each.denom) ?? 0n) + each.balance);
  }
  for (const [denom, amount] of owed) {
    const held = keeper.moduleBalance(ctx, denom);
    if (held !== amount) {
      const [holds, needs] = [formatCoins([{ denom, amount: held }]), formatCoins([{ denom, amount }])];
      return `the module holds ${holds} and owes ${needs}`;
    }
  }
  return undefined;
}

function transferredIsEarned(account: Account, payments: readonly Payment[]): string | undefined {
  const earned = payments.reduce((sum, each) => sum + each.balance + each.withdrawn, 0n);
  if (account.transferred !== earned) return `transferred ${account.transferred}, but its payments earned ${earned}`;
  for (const payment of payments) {
    const until = payment.open ? account.settledAt : payment.closedAt;
    const expected = earnedBy(payment, until);
    const stated = payment.balance + payment.withdrawn;
    if (stated !== expected) return `payment ${payment.id} earned ${stated} by block ${until}, not ${expected}`;
  }
  return undefined;
}

function depositsAreBalance({ deposits, balance }: Account): string | undefined {
  const sum = deposits.reduce((total, each) => total + each.remaining, 0n);
  if (sum !== balance) return `deposits of ${sum}, balance ${balance}`;
  if (deposits.some((each) => each.remaining <= 0n)) return "a deposit that is used up is still in the list";
  const sorted = deposits.every((each, i) => i === 0 || (deposits[i - 1]?.height ?? 0n) <= each.height);
  return sorted ? undefined : "the deposits are not in the order of their heights";
}

function settlementIsCurrent(account: Account, payments: readonly Payment[], ctx: Context): string | undefined {
  const open = payments.filter((each) => each.open);
  const rate = open.reduce((sum, each) => sum + each.rate, 0n);
  if (account.rateTotal !== rate) return `rate ${account.rateTotal}, its open payments have ${rate}`;
  // At genesis there is no block yet.
  if (ctx.height > 0n && account.settledAt > ctx.height) return `settled at ${account.settledAt}, in the future`;
  const earned = open.reduce((sum, each) => sum + each.balance + each.withdrawn, 0n);
  return lastsUntil(account.balance + earned, open, account.exhaustsAt)
    ? undefined
    : `exhausted at ${account.exhaustsAt}, which is not the last block that the money covers`;
}

/** By definition, not by the formula: the funds pay for every block up to `end`, and not for the next one. */
function lastsUntil(funds: bigint, open: readonly Payment[], end: bigint): boolean {
  if (open.length === 0) return end === NEVER;
  const cost = (height: bigint): Dec => open.reduce((sum, each) => sum + each.rate * (height - each.startedAt), 0n);
  if (cost(end) > funds * DEC_ONE) return false;
  return end === MAX_HEIGHT || cost(end + 1n) > funds * DEC_ONE;
}

function closedIsEmpty(account: Account, payments: readonly Payment[]): string | undefined {
  const dated = payments.find((each) => each.open && each.closedAt !== 0n);
  if (dated !== undefined) return `open payment ${dated.id} ended at ${dated.closedAt}`;
  const leaking = payments.find((each) => !each.open && (each.balance !== 0n || each.closedAt < each.startedAt));
  if (leaking !== undefined) return `closed payment ${leaking.id} was not paid out`;
  if (account.open) return undefined;
  if (account.balance !== 0n) return `closed with a balance of ${account.balance}`;
  const open = payments.find((each) => each.open);
  return open === undefined ? undefined : `closed with the open payment ${open.id}`;
}

function amountsAreInRange(account: Account, payments: readonly Payment[]): string | undefined {
  const amounts = [account.balance, account.transferred, account.rateTotal, account.settledAt, account.exhaustsAt];
  for (const each of payments) amounts.push(each.balance, each.withdrawn, each.rate);
  const wrong = amounts.find((amount) => amount < 0n || amount >= MAX_AMOUNT);
  if (wrong !== undefined) return `amount ${wrong} is out of range`;
  const other = payments.find((each) => each.denom !== account.denom);
  return other === undefined ? undefined : `payment ${other.id} is in ${other.denom}, the account in ${account.denom}`;
}

/** The id of an account or payment names its owner too, and everybody who gets money back has an address. */
function ownersAreNamed({ id, owner, deposits }: Account, payments: readonly Payment[]): string | undefined {
  const named = id.scope === "bid" ? parseBidId(id.xid).provider : parseDeploymentId(id.xid).owner;
  if (owner !== named) return `is of ${owner}, its id names ${named}`;
  const lost = deposits.find(({ depositor }) => !isAddress(depositor));
  if (lost !== undefined) return `a deposit of "${lost.depositor}", which is not an address`;
  const wrong = payments.find((each) => parseLeaseId(`${id.xid}/${each.id}`).provider !== each.owner);
  return wrong === undefined ? undefined : `payment ${wrong.id} goes to ${wrong.owner}`;
}

function paymentsHaveAccounts(keeper: EscrowKeeper, ctx: Context): string | undefined {
  const { accounts, payments } = scan(keeper, ctx);
  for (const key of payments.keys()) if (!accounts.has(key)) return `payments of the unknown account ${key}`;
  for (const [key, { id }] of accounts) if (id.scope === "bid" && payments.has(key)) return `bid ${key} pays somebody`;
  return undefined;
}

/** Every account with payments is in the exhaustion queue at its height, unless that failed and will be retried. */
function queuesMatch(keeper: EscrowKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  const expected = new Map<string, bigint>();
  // Every payment is a lease's and every account a deployment's or a bid's.
  let records = keeper.payments.count(store);
  for (const [key, { exhaustsAt }] of keeper.accounts.iterate(store)) {
    records += 1;
    if (exhaustsAt !== NEVER) expected.set(key, exhaustsAt);
  }
  let overdue = 0;
  for (const { height, key } of keeper.exhaustion.iterate(store)) {
    if (expected.get(key) !== height)
      return `${key} is queued at ${height}, its money lasts until ${expected.get(key)}`;
    expected.delete(key);
    if (height <= ctx.height) overdue += 1;
  }
  for (const { key } of keeper.retries.iterate(store)) expected.delete(key);
  for (const key of expected.keys()) return `${key} is missing in the exhaustion queue`;
  // If a block ended fewer records than it may, nothing may be late.
  if (overdue > 0 && records <= keeper.maxRecords(ctx)) return `${overdue} accounts are overdue`;
  return noticesMatch(keeper, ctx);
}

function noticesMatch(keeper: EscrowKeeper, ctx: Context): string | undefined {
  const store = ctx.store(STORE);
  for (const { height, key } of keeper.notices.iterate(store)) {
    const exhaustsAt = keeper.accounts.get(store, key)?.exhaustsAt ?? NEVER;
    if (exhaustsAt === NEVER || exhaustsAt !== height) return `${key} has a stray notice`;
  }
  return undefined;
}
