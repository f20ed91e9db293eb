import { type Context, paramsItem } from "../../runtime/index.ts";
import {
  addressKey,
  bigintValue,
  checkPrefixes,
  collection,
  type KVStore,
  protoValue,
  stringKey,
  tupleKey,
} from "../../store/index.ts";
import { formatCoin, formatCoins, type IntCoin, MAX_AMOUNT, sdkErrors } from "../../util/index.ts";
import { MetadataSchema, type Params, ParamsSchema } from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { encodeAddress, bankErrors as errors } from "../../wire/index.ts";

export const STORE = "bank";

/** The account functions that transfers need. */
export interface Accounts {
  has(ctx: Context, address: Uint8Array): boolean;
  ensure(ctx: Context, address: Uint8Array): void;
  isModuleAccount(address: Uint8Array): boolean;
  /** How much of an account's coins may not be spent now; accounts of modules have none. */
  locked(ctx: Context, address: Uint8Array, coins: readonly Pick<IntCoin, "denom">[]): readonly IntCoin[];
  trackDelegation(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void;
  trackUndelegation(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void;
  moduleAccount(name: string): { readonly address: Uint8Array; readonly permissions: readonly string[] };
}

/**
 * Balances and supply. Amounts handed in are positive and sorted by denomination (`readCoins`). Every transfer is shown
 * by the events `transfer` and `message`, and every change of a balance by `coin_spent` or `coin_received`.
 */
export class BankKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  /** Only balances above zero: a balance of nothing has no record. */
  readonly balances = collection({
    name: "balance",
    prefix: 0x01,
    key: tupleKey(addressKey, stringKey),
    value: bigintValue,
  });
  readonly supplies = collection({ name: "supply", prefix: 0x02, key: stringKey, value: bigintValue });
  readonly metadata = collection({
    name: "denomination metadata",
    prefix: 0x03,
    key: stringKey,
    value: protoValue(MetadataSchema),
    notFound: errors.metadataNotFound,
    describe: (denom) => denom,
  });
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
    checkPrefixes({ params: this.params, balances: this.balances, supplies: this.supplies, metadata: this.metadata });
  }

  getParams(ctx: Context): Params {
    return this.params.require(store(ctx));
  }

  balance(ctx: Context, address: Uint8Array, denom: string): bigint {
    return this.balances.get(store(ctx), [address, denom]) ?? 0n;
  }

  /** All balances of an account, sorted by denomination. */
  allBalances(ctx: Context, address: Uint8Array): IntCoin[] {
    const found = this.balances.iterate(store(ctx), { prefix: [address] });
    return [...found].map(([[, denom], amount]) => ({ denom, amount }));
  }

  /** How much of a balance may be spent now, without the coins that are locked. */
  spendable(ctx: Context, address: Uint8Array, denom: string): bigint {
    const locked = byDenom(this.#accounts.locked(ctx, address, [{ denom }]));
    return withoutLocked(this.balance(ctx, address, denom), denom, locked);
  }

  /** Spendable amounts of these balances; fully locked denominations are left out. */
  spendableOf(ctx: Context, address: Uint8Array, balances: readonly IntCoin[]): IntCoin[] {
    const locked = byDenom(this.#accounts.locked(ctx, address, balances));
    return balances.map(({ denom, amount }) => ({ denom, amount: withoutLocked(amount, denom, locked) }));
  }

  /** The balance of a module's account in one denomination. */
  moduleBalance(ctx: Context, module: string, denom: string): bigint {
    return this.balance(ctx, this.#accounts.moduleAccount(module).address, denom);
  }

  /** All that a module's account holds, sorted by denomination. */
  moduleBalances(ctx: Context, module: string): IntCoin[] {
    return this.allBalances(ctx, this.#accounts.moduleAccount(module).address);
  }

  supply(ctx: Context, denom: string): bigint {
    return this.supplies.get(store(ctx), denom) ?? 0n;
  }

  /** Moves coins between any two accounts; creates the receiver's if needed. Throws `sdk/5`. */
  send(ctx: Context, from: Uint8Array, to: Uint8Array, coins: readonly IntCoin[]): void {
    const [recipient, sender, amount] = [encodeAddress(to), encodeAddress(from), formatCoins(coins)];
    this.#take(ctx, from, coins, this.#accounts.locked(ctx, from, coins));
    ctx.events.emit("coin_spent", { spender: sender, amount });
    this.#accounts.ensure(ctx, to);
    ctx.events.emit("coin_received", { receiver: recipient, amount });
    this.#give(ctx, to, coins);
    ctx.events.emit("transfer", { recipient, sender, amount });
    ctx.events.emit("message", { sender });
  }

  /** Pays out of a module's account. */
  sendFromModule(ctx: Context, module: string, to: Uint8Array, coins: readonly IntCoin[]): void {
    this.send(ctx, this.#accounts.moduleAccount(module).address, to, coins);
  }

  /** Pays into a module's account. */
  sendToModule(ctx: Context, from: Uint8Array, module: string, coins: readonly IntCoin[]): void {
    this.send(ctx, from, this.#accounts.moduleAccount(module).address, coins);
  }

  sendModuleToModule(ctx: Context, from: string, to: string, coins: readonly IntCoin[]): void {
    this.sendFromModule(ctx, from, this.#accounts.moduleAccount(to).address, coins);
  }

  /** Creates coins in the account of a module with the permission `minter`. */
  mint(ctx: Context, module: string, coins: readonly IntCoin[]): void {
    const minter = this.#permitted(module, "minter");
    this.add(ctx, minter, coins);
    for (const { denom, amount } of coins) this.setSupply(ctx, denom, this.supply(ctx, denom) + amount);
    ctx.events.emit("coinbase", { minter: encodeAddress(minter), amount: formatCoins(coins) });
  }

  /** Destroys coins of the account of a module with the permission `burner`. */
  burn(ctx: Context, module: string, coins: readonly IntCoin[]): void {
    const burner = this.#permitted(module, "burner");
    this.subtract(ctx, burner, coins);
    for (const { denom, amount } of coins) this.setSupply(ctx, denom, this.supply(ctx, denom) - amount);
    ctx.events.emit("burn", { burner: encodeAddress(burner), amount: formatCoins(coins) });
  }

  /**
   * Hands coins over to a module with the permission `staking`, locked ones too; they stay the delegator's, so no event
   * of a transfer is emitted.
   */
  delegate(ctx: Context, delegator: Uint8Array, module: string, coins: readonly IntCoin[]): void {
    const to = this.#permitted(module, "staking");
    this.#take(ctx, delegator, coins, []);
    this.#emitSpent(ctx, delegator, coins);
    this.#accounts.trackDelegation(ctx, delegator, coins);
    this.add(ctx, to, coins);
  }

  /** Returns coins that were taken with `delegate`. */
  undelegate(ctx: Context, module: string, delegator: Uint8Array, coins: readonly IntCoin[]): void {
    this.subtract(ctx, this.#permitted(module, "staking"), coins);
    this.#accounts.trackUndelegation(ctx, delegator, coins);
    this.add(ctx, delegator, coins);
  }

  /** Whether users may send nothing to this address. */
  isBlocked(address: Uint8Array): boolean {
    return this.#accounts.isModuleAccount(address);
  }

  /** Throws `bank/5` when one of the denominations may not be sent by users. */
  checkSendEnabled(ctx: Context, coins: readonly IntCoin[]): void {
    const { sendEnabled, defaultSendEnabled } = this.getParams(ctx);
    const own = new Map(sendEnabled.map(({ denom, enabled }) => [denom, enabled]));
    for (const { denom } of coins) {
      if (!(own.get(denom) ?? defaultSendEnabled))
        throw errors.sendDisabled(`${denom} transfers are currently disabled`);
    }
  }

  /** Throws `sdk/5` unless an account holds these coins beyond the reserved ones. */
  checkFunds(
    ctx: Context,
    address: Uint8Array,
    coins: readonly IntCoin[],
    keptBack: ReadonlyMap<string, bigint>,
  ): void {
    const locked = byDenom(this.#accounts.locked(ctx, address, coins));
    for (const coin of coins) {
      const spendable = withoutLocked(this.balance(ctx, address, coin.denom), coin.denom, locked);
      const held = spendable - (keptBack.get(coin.denom) ?? 0n);
      if (held < coin.amount) throw insufficient(coin, held);
    }
  }

  /** The account whose checks depend on this key of the store: the holder of the balance. */
  accountOf(key: Uint8Array): Uint8Array | undefined {
    return key[0] === this.balances.prefix ? addressKey.read({ bytes: key, offset: 1 }) : undefined;
  }

  add(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    this.#accounts.ensure(ctx, address);
    ctx.events.emit("coin_received", { receiver: encodeAddress(address), amount: formatCoins(coins) });
    this.#give(ctx, address, coins);
  }

  #give(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    for (const { denom, amount } of coins)
      this.setBalance(ctx, address, { denom, amount: this.balance(ctx, address, denom) + amount });
  }

  /** Takes coins that may be spent out of an account. Throws `sdk/5`. */
  subtract(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    this.#take(ctx, address, coins, this.#accounts.locked(ctx, address, coins));
    this.#emitSpent(ctx, address, coins);
  }

  #take(ctx: Context, address: Uint8Array, coins: readonly IntCoin[], all: readonly IntCoin[]): void {
    const locked = byDenom(all);
    for (const { denom, amount } of coins) {
      const held = this.balance(ctx, address, denom);
      const spendable = withoutLocked(held, denom, locked);
      if (spendable < amount) throw insufficient({ denom, amount }, spendable);
      this.setBalance(ctx, address, { denom, amount: held - amount });
    }
  }

  #emitSpent(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    ctx.events.emit("coin_spent", { spender: encodeAddress(address), amount: formatCoins(coins) });
  }

  setBalance(ctx: Context, address: Uint8Array, { denom, amount }: IntCoin): void {
    if (amount >= MAX_AMOUNT) throw errors.overflow(`balance of ${denom}`);
    if (amount === 0n) this.balances.delete(store(ctx), [address, denom]);
    else this.balances.set(store(ctx), [address, denom], amount);
  }

  setSupply(ctx: Context, denom: string, amount: bigint): void {
    if (amount >= MAX_AMOUNT) throw errors.overflow(`supply of ${denom}`);
    if (amount === 0n) this.supplies.delete(store(ctx), denom);
    else this.supplies.set(store(ctx), denom, amount);
  }

  /** The sum of all balances by denomination, by walking them. */
  totalSupply(ctx: Context): IntCoin[] {
    return [...this.supplies.iterate(store(ctx))].map(([denom, amount]) => ({ denom, amount }));
  }

  #permitted(module: string, permission: string): Uint8Array {
    const account = this.#accounts.moduleAccount(module);
    if (!account.permissions.includes(permission)) throw errors.noPermission(`${module} is not a ${permission}`);
    return account.address;
  }
}

function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

/** Lists of coins may have thousands of denominations, so that each is looked at once. */
function byDenom(coins: readonly IntCoin[]): ReadonlyMap<string, bigint> {
  return new Map(coins.map(({ denom, amount }) => [denom, amount]));
}

function withoutLocked(held: bigint, denom: string, locked: ReadonlyMap<string, bigint>): bigint {
  const kept = locked.get(denom) ?? 0n;
  return held > kept ? held - kept : 0n;
}

function insufficient(wanted: IntCoin, held: bigint): Error {
  const rest = { denom: wanted.denom, amount: held > 0n ? held : 0n };
  return sdkErrors.insufficientFunds(`${formatCoin(rest)} is smaller than ${formatCoin(wanted)}`);
}
