import { type Context, paramsItem, runBlockItem } from "../../runtime/index.ts";
import {
  addressKey,
  checkPrefixes,
  collection,
  index,
  type KVReader,
  type KVStore,
  queue,
  stringKey,
  tupleKey,
  uint8Key,
} from "../../store/index.ts";
import { assert, type Dec, type DecimalCoin, formatCoin, formatDecCoin, type IntCoin } from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/svc/escrow/v1beta1/escrow_pb.js";
import { type AccountKey, decodeAddress, escrowErrors as errors } from "../../wire/index.ts";
import { accountKey, pathKey, paymentKey } from "./keys.ts";
import { type Account, accountValue, type Payment, paymentValue } from "./records.ts";
import {
  addDeposit,
  addPayment,
  costOf,
  isOverdue,
  type Ledger,
  NEVER,
  refunds,
  removePayment,
  settle,
  withPayments,
} from "./settlement.ts";

export const STORE = "escrow";
/** The module account that holds all the money. */
export const ESCROW_ACCOUNT = "escrow";

/** Index values of states. */
export const OPEN = 1;
export const CLOSED = 2;

/** Depositors beside the owner that an account accepts at a time, so that strangers cannot make the list long. */
const MAX_FOREIGN_DEPOSITS = 100;
/** Gas for settling each deposit and payment of an account, beside its bytes. */
const ENTRY_GAS = 500n;
/** An account whose exhaustion failed is retried after this many blocks; others do not wait for it. */
const RETRY_BLOCKS = 100n;

/** Functions of the bank that escrow needs. */
export interface EscrowBank {
  sendToModule(ctx: Context, from: Uint8Array, module: string, coins: readonly IntCoin[]): void;
  sendFromModule(ctx: Context, module: string, to: Uint8Array, coins: readonly IntCoin[]): void;
  moduleBalance(ctx: Context, module: string, denom: string): bigint;
}

/** Receivers of escrow's notifications at the end of a block. */
export interface EscrowHooks {
  /**
   * The funds have run out: all payments are paid and closed; the account stays open with an amount below one block.
   * Returns the number of bids and leases that ended with it.
   */
  exhausted(ctx: Context, account: Account): number;
  /** The money will end in this many blocks. Called once each time the limit is crossed. */
  lowBalance(ctx: Context, account: Account, blocks: bigint): void;
}

export interface NewAccount {
  readonly id: AccountKey;
  readonly owner: string;
  readonly depositor: string;
  readonly deposit: IntCoin;
  /** Whether the depositor let the owner use the money. */
  readonly fromGrant?: boolean;
}

export interface NewPayment {
  readonly id: string;
  readonly owner: string;
  readonly rate: DecimalCoin;
  /** Blocks that the account must be able to pay for, this payment and all others. */
  readonly minBlocks: bigint;
}

type AccountLedger = Ledger<Account, Payment>;

/** Accounts, their payments, and the queues that end payments at the block their funds run out. */
export class EscrowKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly accounts = collection({
    name: "escrow account",
    prefix: 0x01,
    key: pathKey,
    value: accountValue,
    notFound: errors.accountNotFound,
    describe: (key) => key.slice(0, -1),
    indexes: {
      owner: index({
        prefix: 0x02,
        key: tupleKey(addressKey, uint8Key),
        of: (account: Account) => [decodeAddress(account.owner), stateOf(account)] as const,
      }),
      state: index({
        prefix: 0x03,
        key: tupleKey(uint8Key, stringKey),
        of: (account: Account) => [stateOf(account), account.id.scope] as const,
      }),
    },
  });
  readonly payments = collection({
    name: "payment",
    prefix: 0x04,
    key: pathKey,
    value: paymentValue,
    notFound: errors.paymentNotFound,
    describe: (key) => key.slice(0, -1),
    indexes: {
      owner: index({
        prefix: 0x05,
        key: tupleKey(addressKey, uint8Key),
        of: (payment: Payment) => [decodeAddress(payment.owner), stateOf(payment)] as const,
      }),
      state: index({
        prefix: 0x06,
        key: tupleKey(uint8Key, stringKey),
        of: (payment: Payment) => [stateOf(payment), accountKey(payment.account)] as const,
      }),
    },
  });
  /** Accounts by the last block that their money covers. */
  readonly exhaustion = queue({ name: "exhaustion", prefix: 0x07, key: pathKey });
  /**
   * Accounts not yet notified of a low balance, by the last block that their money covers: how long before it they are
   * notified is a parameter, which may change.
   */
  readonly notices = queue({ name: "low balance notices", prefix: 0x08, key: pathKey });
  /** Accounts whose exhaustion failed, by the height of the next try. */
  readonly retries = queue({ name: "exhaustion retries", prefix: 0x09, key: pathKey });
  readonly #bank: EscrowBank;
  readonly #hooks: EscrowHooks;

  constructor(bank: EscrowBank, hooks: EscrowHooks) {
    this.#bank = bank;
    this.#hooks = hooks;
    const { params, accounts, payments, exhaustion, notices, retries } = this;
    checkPrefixes({ params, accounts, payments, exhaustion, notices, retries });
  }

  getParams(ctx: Context): Params {
    return this.params.require(ctx.plainStore(STORE));
  }

  /**
   * Changes the parameters. Accounts that were notified under a limit that is lower now are notified again when they reach
   * it, so that whether an account waits for a notice follows from its end and the limit alone.
   */
  changeParams(ctx: Context, params: Params): void {
    const lowBefore = this.#lowUntil(ctx);
    this.params.set(store(ctx), params);
    for (const { height, key } of [...this.exhaustion.iterate(store(ctx))]) {
      if (height > lowBefore) break;
      if (height > this.#lowUntil(ctx)) this.notices.push(store(ctx), height, key);
    }
  }

  /** Maximum bids and leases that end at the end of a block; an item that ends none counts as one. */
  maxRecords(ctx: Context): number {
    return this.getParams(ctx).maxEndblockRecords;
  }

  account(ctx: Context, id: AccountKey): Account {
    return this.accounts.require(store(ctx), accountKey(id));
  }

  findPayment(ctx: Context, account: AccountKey, id: string): Payment | undefined {
    return this.payments.get(store(ctx), paymentKey(account, id));
  }

  /** Open payments of an account, in the order of their ids. */
  openPayments(reader: KVReader, id: AccountKey): Payment[] {
    const found = this.payments.by.state.iterate(reader, { prefix: [OPEN, accountKey(id)] });
    return [...found].map(([, payment]) => payment);
  }

  /** How many payments and how many deposits of bids there are, by walking them. */
  count(ctx: Context): { readonly payments: number; readonly bidDeposits: number } {
    const bidDeposits = this.accounts.count(store(ctx), { prefix: "bid/" });
    return { payments: this.payments.count(store(ctx)), bidDeposits };
  }

  moduleBalance(ctx: Context, denom: string): bigint {
    return this.#bank.moduleBalance(ctx, ESCROW_ACCOUNT, denom);
  }

  openAccount(ctx: Context, { id, owner, depositor, deposit, fromGrant = false }: NewAccount): void {
    const key = accountKey(id);
    if (this.accounts.has(store(ctx), key)) throw errors.accountExists(key.slice(0, -1));
    const { denom, amount } = deposit;
    const empty = { balance: 0n, transferred: 0n, deposits: [], rateTotal: 0n, exhaustsAt: NEVER };
    const account: Account = { ...empty, id, owner, open: true, denom, settledAt: ctx.height };
    const entry = { depositor, height: ctx.height, remaining: amount, fromGrant };
    this.#bank.sendToModule(ctx, decodeAddress(depositor), ESCROW_ACCOUNT, [deposit]);
    this.#save(ctx, addDeposit({ account, payments: [] }, entry), NEVER);
  }

  /** Adds money of any account. Returns the account's new balance. */
  deposit(ctx: Context, id: AccountKey, from: { readonly depositor: string; readonly amount: IntCoin }): IntCoin {
    const ledger = this.#settled(ctx, id);
    const { denom, amount } = from.amount;
    if (denom !== ledger.account.denom)
      throw errors.invalidDenomination(`${formatCoin(from.amount)} to an account of ${ledger.account.denom}`);
    const entry = { depositor: from.depositor, height: ctx.height, remaining: amount, fromGrant: false };
    this.#checkLength(ledger.account, entry.depositor);
    this.#bank.sendToModule(ctx, decodeAddress(entry.depositor), ESCROW_ACCOUNT, [from.amount]);
    const after = addDeposit(ledger, entry);
    this.#save(ctx, after, ledger.account.exhaustsAt);
    return { denom, amount: after.account.balance };
  }

  /** Throws `escrow/4` unless the account can pay a rate, besides its current ones, for a number of blocks. */
  checkFunds(ctx: Context, id: AccountKey, need: { readonly rate: DecimalCoin; readonly blocks: bigint }): void {
    this.#checkCovers(this.#settled(ctx, id).account, { rate: need.rate.amount, blocks: need.blocks });
  }

  openPayment(ctx: Context, id: AccountKey, terms: NewPayment): void {
    const ledger = this.#settled(ctx, id);
    const key = paymentKey(id, terms.id);
    if (terms.rate.denom !== ledger.account.denom)
      throw errors.invalidDenomination(`${formatDecCoin(terms.rate)} from an account of ${ledger.account.denom}`);
    if (terms.rate.amount <= 0n) throw errors.paymentRateZero(key.slice(0, -1));
    if (this.payments.has(store(ctx), key)) throw errors.paymentExists(key.slice(0, -1));
    this.#checkCovers(ledger.account, { rate: terms.rate.amount, blocks: terms.minBlocks });
    const payment: Payment = {
      account: id,
      id: terms.id,
      owner: terms.owner,
      open: true,
      denom: terms.rate.denom,
      rate: terms.rate.amount,
      startedAt: ctx.height,
      closedAt: 0n,
      balance: 0n,
      withdrawn: 0n,
    };
    const after = addPayment(ledger, payment);
    // Fractions of a unit that other payments have already earned may be the missing amount.
    const { exhaustsAt } = after.account;
    if (exhaustsAt < ctx.height + terms.minBlocks)
      throw errors.accountOverdrawn(
        `the funds of ${id.scope} ${id.xid} would last ${exhaustsAt - ctx.height} blocks and must last ${terms.minBlocks}`,
      );
    this.#save(ctx, after, ledger.account.exhaustsAt);
  }

  /** Pays out what payments of an account have earned. */
  withdraw(ctx: Context, id: AccountKey, paymentIds: ReadonlySet<string>): void {
    const ledger = this.#settled(ctx, id);
    for (const each of paymentIds) find(ledger, each);
    const payments = ledger.payments.map((each) => (paymentIds.has(each.id) ? this.#payOut(ctx, each) : each));
    this.#save(ctx, { account: ledger.account, payments }, ledger.account.exhaustsAt);
  }

  /** Ends a payment at this block and pays it out. */
  closePayment(ctx: Context, id: AccountKey, paymentId: string): void {
    const ledger = this.#settled(ctx, id);
    const payment = find(ledger, paymentId);
    this.#close(ctx, payment, ctx.height);
    this.#save(ctx, removePayment(ledger, payment), ledger.account.exhaustsAt);
  }

  /** Ends all payments of an account at this block and pays them out. */
  closePayments(ctx: Context, id: AccountKey): void {
    const { account, payments } = this.#settled(ctx, id);
    if (payments.length === 0) return;
    for (const payment of payments) this.#close(ctx, payment, ctx.height);
    this.#save(ctx, withPayments(account, []), account.exhaustsAt);
  }

  /**
   * Ends and pays all payments, refunds the rest to the depositors, and closes the account. Returns the account after
   * the payments and before the refunds.
   */
  closeAccount(ctx: Context, id: AccountKey): Account {
    const { account, payments } = this.#settled(ctx, id);
    for (const payment of payments) this.#close(ctx, payment, ctx.height);
    for (const { depositor, amount } of refunds(account.deposits)) {
      const coin = { denom: account.denom, amount };
      this.#bank.sendFromModule(ctx, ESCROW_ACCOUNT, decodeAddress(depositor), [coin]);
    }
    const closed = withPayments({ ...account, open: false, balance: 0n, deposits: [] }, []);
    this.#save(ctx, closed, account.exhaustsAt);
    return account;
  }

  /** Removes a closed payment from the state, and its paid amount from the sum of its account. */
  forgetPayment(ctx: Context, id: AccountKey, paymentId: string): void {
    const account = this.account(ctx, id);
    const payment = this.payments.require(store(ctx), paymentKey(id, paymentId));
    assert(!account.open && !payment.open && payment.balance === 0n, "what is forgotten is closed and paid out");
    this.payments.delete(store(ctx), paymentKey(id, paymentId));
    const transferred = account.transferred - payment.withdrawn;
    this.accounts.set(store(ctx), accountKey(id), { ...account, transferred });
  }

  /** Removes a closed account without payments from the state. */
  forgetAccount(ctx: Context, id: AccountKey): void {
    const account = this.account(ctx, id);
    assert(!account.open && account.balance === 0n, "what is forgotten is closed and empty");
    this.accounts.delete(store(ctx), accountKey(id));
  }

  /**
   * Ends the payments of an account whose funds ran out in an earlier block but whose turn has not come yet, because the
   * end of a block closes a limited number of accounts. Whatever changes an account calls this first.
   */
  bringUpToDate(ctx: Context, id: AccountKey): void {
    if (isOverdue(this.account(ctx, id), ctx.height)) this.#exhaust(ctx, accountKey(id));
  }

  /** Earned and not paid out at this height. */
  accrued(ctx: Context, payment: Payment): bigint {
    if (!payment.open) return payment.balance;
    const ledger = { account: this.account(ctx, payment.account), payments: [payment] };
    return settle(ledger, ctx.height).payments[0]?.balance ?? 0n;
  }

  /** Ends payments whose funds run out with this block, and reports balances that run low. */
  endBlock(ctx: Context): void {
    const cap = this.maxRecords(ctx);
    const exhaust = (key: string): number => {
      let ended = 0;
      const done = runBlockItem(ctx, `escrow exhaustion ${key}`, (inner) => {
        ended = this.#exhaust(inner, key);
      });
      if (!done) this.retries.push(store(ctx), ctx.height + RETRY_BLOCKS, key);
      return Math.max(1, ended);
    };
    const { height } = ctx;
    const left = this.exhaustion.drain(store(ctx), { height, budget: cap }, exhaust);
    this.retries.drain(store(ctx), { height, budget: left }, exhaust);
    for (const { key } of this.notices.popDue(store(ctx), this.#lowUntil(ctx), cap)) {
      runBlockItem(ctx, `escrow notice ${key}`, (inner) => this.#tell(inner, key));
    }
  }

  /**
   * Ends all payments whose funds have run out, without a limit, including those that failed before. Throws if one
   * fails again.
   */
  endAll(ctx: Context): void {
    for (const { height, key } of [...this.retries.iterate(store(ctx))]) {
      this.retries.remove(store(ctx), height, key);
      this.#exhaust(ctx, key);
    }
    for (const { key } of this.exhaustion.popDue(store(ctx), ctx.height, Number.MAX_SAFE_INTEGER))
      this.#exhaust(ctx, key);
  }

  /** Writes an account as it was exported, with its queue entries; a notice that was due was given before. */
  restore(ctx: Context, account: Account): void {
    const key = accountKey(account.id);
    this.accounts.set(store(ctx), key, account);
    if (account.exhaustsAt === NEVER) return;
    this.exhaustion.push(store(ctx), account.exhaustsAt, key);
    if (account.exhaustsAt > this.#lowUntil(ctx)) this.notices.push(store(ctx), account.exhaustsAt, key);
  }

  /** Accounts whose notice is due and did not fit into the last block. */
  lateNotices(ctx: Context): string[] {
    const due = this.notices.due(store(ctx), this.#lowUntil(ctx), Number.MAX_SAFE_INTEGER);
    return due.map(({ key }) => key.slice(0, -1));
  }

  /** Queues an account for a notice that is due. Throws `escrow/13` if none is. */
  restoreLateNotice(ctx: Context, id: string): void {
    const exhaustsAt = this.accounts.get(store(ctx), `${id}/`)?.exhaustsAt ?? NEVER;
    if (exhaustsAt === NEVER || exhaustsAt > this.#lowUntil(ctx))
      throw errors.invalidAccount(`${id} has no notice that is late`);
    this.notices.push(store(ctx), exhaustsAt, `${id}/`);
  }

  /** Accounts whose end failed, with the height of the next try; `waits` if they are in that queue as well. */
  failedEnds(ctx: Context): { readonly account: string; readonly height: bigint; readonly waits: boolean }[] {
    return [...this.retries.iterate(store(ctx))].map(({ height, key }) => {
      const end = this.accounts.get(store(ctx), key)?.exhaustsAt ?? NEVER;
      return { account: key.slice(0, -1), height, waits: this.exhaustion.has(store(ctx), end, key) };
    });
  }

  /** Queues an account for another try to end it. */
  restoreFailedEnd(ctx: Context, failed: ReturnType<EscrowKeeper["failedEnds"]>[number]): void {
    const key = `${failed.account}/`;
    if (failed.height < 0n) throw errors.invalidAccount(`${failed.account} is tried again at ${failed.height}`);
    const end = this.accounts.get(store(ctx), key)?.exhaustsAt ?? NEVER;
    if (!failed.waits) this.exhaustion.remove(store(ctx), end, key);
    this.retries.push(store(ctx), failed.height, key);
  }

  restorePayment(ctx: Context, payment: Payment): void {
    this.#setPayment(ctx, payment);
  }

  /** Accounts whose funds run out at this height or before have a low balance. */
  #lowUntil(ctx: Context): bigint {
    return ctx.height + this.getParams(ctx).lowBalanceBlocks;
  }

  #exhaust(ctx: Context, key: string): number {
    // The account may have left the state meanwhile.
    if (!this.accounts.has(store(ctx), key)) return 0;
    const ledger = this.#ledger(ctx, key);
    const end = ledger.account.exhaustsAt;
    // The account may have been ended by something else meanwhile.
    if (end === NEVER || end > ctx.height) return 0;
    const { account, payments } = settle(ledger, end);
    for (const payment of payments) this.#close(ctx, payment, end);
    const after = withPayments(account, []);
    this.#save(ctx, after, end);
    return this.#hooks.exhausted(ctx, after.account);
  }

  #tell(ctx: Context, key: string): void {
    const account = this.accounts.require(store(ctx), key);
    this.#hooks.lowBalance(ctx, account, account.exhaustsAt - ctx.height);
  }

  /** An open account with its open payments, settled to this block. */
  #settled(ctx: Context, id: AccountKey): AccountLedger {
    const ledger = this.#ledger(ctx, accountKey(id));
    const entries = ledger.account.deposits.length + ledger.payments.length;
    ctx.gas.consume(ENTRY_GAS * BigInt(entries), "settlement");
    if (!ledger.account.open) throw errors.accountClosed(accountKey(id).slice(0, -1));
    assert(!isOverdue(ledger.account, ctx.height), "an overdue escrow account is brought up to date first");
    return settle(ledger, ctx.height);
  }

  #ledger(ctx: Context, key: string): AccountLedger {
    const account = this.accounts.require(store(ctx), key);
    return { account, payments: account.rateTotal === 0n ? [] : this.openPayments(store(ctx), account.id) };
  }

  /** Writes a ledger; `before` is the exhaustion height for which the queues hold entries. */
  #save(ctx: Context, { account, payments }: AccountLedger, before: bigint): void {
    this.accounts.set(store(ctx), accountKey(account.id), account);
    for (const payment of payments) this.#setPayment(ctx, payment);
    if (account.exhaustsAt !== before) this.#queueUp(ctx, account, before);
  }

  #setPayment(ctx: Context, payment: Payment): void {
    this.payments.set(store(ctx), paymentKey(payment.account, payment.id), payment);
  }

  /** Moves the queue entries of an account. A notice that was given is not repeated before the end has moved away. */
  #queueUp(ctx: Context, { id, exhaustsAt }: Account, before: bigint): void {
    const key = accountKey(id);
    const told = before !== NEVER && !this.notices.has(store(ctx), before, key);
    if (before !== NEVER) {
      this.exhaustion.remove(store(ctx), before, key);
      this.notices.remove(store(ctx), before, key);
    }
    if (exhaustsAt === NEVER) return;
    this.exhaustion.push(store(ctx), exhaustsAt, key);
    if (!told || exhaustsAt > this.#lowUntil(ctx)) this.notices.push(store(ctx), exhaustsAt, key);
  }

  #close(ctx: Context, payment: Payment, closedAt: bigint): void {
    this.#setPayment(ctx, { ...this.#payOut(ctx, payment), open: false, closedAt });
  }

  #payOut(ctx: Context, payment: Payment): Payment {
    const { denom, balance: amount, owner } = payment;
    if (amount > 0n) this.#bank.sendFromModule(ctx, ESCROW_ACCOUNT, decodeAddress(owner), [{ denom, amount }]);
    return { ...payment, balance: 0n, withdrawn: payment.withdrawn + amount };
  }

  #checkCovers(account: Account, added: { readonly rate: Dec; readonly blocks: bigint }): void {
    const { denom, balance, id, rateTotal } = account;
    const rate = rateTotal + added.rate;
    const need = costOf(rate, added.blocks);
    if (balance >= need) return;
    throw errors.accountOverdrawn(
      `${id.scope} ${id.xid} needs ${formatCoin({ denom, amount: need })} for ${added.blocks} blocks at ` +
        `${formatDecCoin({ denom, amount: rate })} a block and holds ${formatCoin({ denom, amount: balance })}`,
    );
  }

  #checkLength({ owner, deposits }: Account, depositor: string): void {
    if (depositor === owner || deposits.some((each) => each.depositor === depositor)) return;
    const foreign = deposits.filter((each) => each.depositor !== owner).length;
    if (foreign >= MAX_FOREIGN_DEPOSITS)
      throw errors.invalidDeposit(`the account already has ${foreign} deposits from accounts other than its owner`);
  }
}

function find({ payments }: AccountLedger, id: string): Payment {
  const payment = payments.find((each) => each.id === id);
  if (payment === undefined) throw errors.paymentClosed(id);
  return payment;
}

function stateOf({ open }: { readonly open: boolean }): number {
  return open ? OPEN : CLOSED;
}

function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}
