import { type Account, type Context, type GasCosts, paramsItem } from "../../runtime/index.ts";
import { addressKey, type Collection, checkPrefixes, collection, type KVStore, sequence } from "../../store/index.ts";
import type { IntCoin } from "../../util/index.ts";
import { type Params, ParamsSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { encodeAddress } from "../../wire/index.ts";
import { accountValue, isStoredVesting, type StoredAccount } from "./account-codec.ts";
import { type ModuleAccount, ModuleAccounts } from "./module-accounts.ts";
import { VestingRecords } from "./vesting/locks.ts";
import type { Vesting } from "./vesting/message.ts";

export const STORE = "auth";

const NO_COINS: readonly IntCoin[] = [];

/** Accounts: numbers, sequences, public keys, and module accounts. */
export class AuthKeeper {
  readonly params = paramsItem({ prefix: 0x00, schema: ParamsSchema });
  readonly accounts: Collection<Uint8Array, never, StoredAccount> = collection({
    name: "account",
    prefix: 0x01,
    key: addressKey,
    value: accountValue,
    describe: (address) => encodeAddress(address),
  });
  readonly numbers = sequence({ name: "next account number", prefix: 0x02 });
  readonly vesting = new VestingRecords();
  readonly modules = new ModuleAccounts();
  #costs: { readonly of: Params; readonly costs: GasCosts } | undefined;

  constructor() {
    const { params, accounts, numbers, vesting } = this;
    const { schedules, delegated } = vesting;
    checkPrefixes({ params, accounts, numbers, schedules, delegated });
  }

  getParams(ctx: Context): Params {
    return this.params.require(store(ctx));
  }

  /** Costs of store operations in metered modules. */
  storeCosts(ctx: Context): GasCosts {
    const params = this.getParams(ctx);
    if (this.#costs?.of !== params) this.#costs = { of: params, costs: costsOf(params) };
    return this.#costs.costs;
  }

  get(ctx: Context, address: Uint8Array): Account | undefined {
    const stored = this.accounts.get(store(ctx), address);
    return stored === undefined ? undefined : { address, ...stored };
  }

  /** Whose checks a change of this key of the store concerns: everybody's where it is one of the parameters. */
  accountOf(key: Uint8Array): Uint8Array | "all" | undefined {
    if (this.params.prefixes.some((prefix) => prefix === key[0])) return "all";
    const { accounts, vesting } = this;
    const isOfOne = [accounts, vesting.schedules, vesting.delegated].some(({ prefix }) => prefix === key[0]);
    return isOfOne ? addressKey.read({ bytes: key, offset: 1 }) : undefined;
  }

  has(ctx: Context, address: Uint8Array): boolean {
    return this.accounts.has(store(ctx), address);
  }

  set(ctx: Context, account: Account): void {
    this.accounts.set(store(ctx), account.address, account);
  }

  /** Creates the account with the next number unless it exists: every receiver of coins gets one. */
  ensure(ctx: Context, address: Uint8Array): void {
    if (!this.has(ctx, address)) this.add(ctx, { address, sequence: 0n, publicKey: undefined });
  }

  /** Adds an account under the next number. */
  add(ctx: Context, account: Omit<Account, "number">): void {
    this.set(ctx, { ...account, number: this.numbers.next(store(ctx)) });
  }

  /** Adds an account some of whose coins vest with time. */
  addVesting(ctx: Context, account: Omit<Account, "number">, vesting: Vesting): void {
    this.add(ctx, { ...account, isVesting: true });
    this.vesting.set(store(ctx), account.address, vesting);
  }

  /** The locked coins of an account, if it has any. */
  vestingOf(ctx: Context, { address, isVesting = false }: Pick<Account, "address" | "isVesting">): Vesting | undefined {
    return isVesting ? this.vesting.get(store(ctx), address) : undefined;
  }

  /** Amounts of these coins that the account may not spend in this block, sorted by denomination. */
  locked(ctx: Context, address: Uint8Array, coins: readonly Pick<IntCoin, "denom">[]): readonly IntCoin[] {
    return this.#hasLocks(ctx, address) ? this.vesting.locked(ctx, store(ctx), [address, coins]) : NO_COINS;
  }

  /** Records that an account delegates: locked coins go first. */
  trackDelegation(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    if (this.#hasLocks(ctx, address)) this.vesting.trackDelegation(ctx, store(ctx), [address, coins]);
  }

  /** Records that delegated coins come back: free ones come first. */
  trackUndelegation(ctx: Context, address: Uint8Array, coins: readonly IntCoin[]): void {
    if (this.#hasLocks(ctx, address)) this.vesting.trackUndelegation(store(ctx), [address, coins]);
  }

  /** Accounts without locks, which are nearly all accounts, pay nothing for the question: their record is at hand. */
  #hasLocks(ctx: Context, address: Uint8Array): boolean {
    return isStoredVesting(ctx.plainStore(STORE).get(this.accounts.storeKey(address)));
  }

  /** A module's account. Throws on a name that no module declared. */
  moduleAccount(name: string): ModuleAccount {
    return this.modules.require(name);
  }

  isModuleAccount(address: Uint8Array): boolean {
    return this.modules.has(address);
  }
}

function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

function costsOf({ storeGas }: Params): GasCosts {
  return {
    has: storeGas?.has ?? 0n,
    delete: storeGas?.delete ?? 0n,
    readFlat: storeGas?.readFlat ?? 0n,
    readByte: storeGas?.readByte ?? 0n,
    writeFlat: storeGas?.writeFlat ?? 0n,
    writeByte: storeGas?.writeByte ?? 0n,
    iterateFlat: storeGas?.iterateFlat ?? 0n,
  };
}
