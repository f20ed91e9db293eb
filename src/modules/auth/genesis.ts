import { create } from "@bufbuild/protobuf";
import {
  type Account,
  type Context,
  defineGenesis,
  type GenesisPart,
  type LongListWalk,
  MAX_GAS_PRICE,
} from "../../runtime/index.ts";
import { errorText, toHex } from "../../util/index.ts";
import {
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
} from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { fromJsonAny, type JsonValue } from "../../wire/index.ts";
import { accountAny, type GenesisAccount, readAccount } from "./account-message.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

/**
 * Store operations cost half of the ecosystem's reference, so that the longest documented commands (redelegation,
 * withdrawal with commission) stay within the default limit of 200,000. Reading a byte costs more than there, because
 * reading a record of small parts takes longer than writing it. A signature costs ten times as much: its price includes
 * the account, sequence and fee of its signer. `npm run bench -- gas` measures the prices.
 */
export const DEFAULT_PARAMS = {
  maxMemoCharacters: 256n,
  txSigLimit: 7n,
  txSizeCostPerByte: 10n,
  sigVerifyCostEd25519: 590n,
  sigVerifyCostSecp256k1: 10_000n,
  storeGas: {
    has: 500n,
    delete: 500n,
    readFlat: 500n,
    readByte: 6n,
    writeFlat: 1000n,
    writeByte: 15n,
    iterateFlat: 20n,
  },
};

/** Parameters beyond these would let one transaction hold up a block. */
const MAX_MEMO = 65_536n;
const MAX_SIGNATURES = 100n;

export function authGenesis(keeper: AuthKeeper): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: DEFAULT_PARAMS }),
    validate: ({ params }) => (params === undefined ? [] : paramsProblems(params)),
    init: (ctx, { params }) => keeper.params.set(ctx.store(STORE), params ?? create(ParamsSchema, DEFAULT_PARAMS)),
    long: { field: "accounts", begin: (_, ctx) => new AccountsWalk(keeper, ctx) },
    export: (ctx) => exportState(keeper, ctx),
  });
}

function exportState(keeper: AuthKeeper, ctx: Context): GenesisState {
  const accounts: Account[] = [...keeper.accounts.iterate(ctx.store(STORE))].map(([address, rest]) => ({
    address,
    ...rest,
  }));
  accounts.sort((a, b) => (a.number < b.number ? -1 : 1));
  return create(GenesisStateSchema, {
    params: keeper.getParams(ctx),
    accounts: accounts.map((account) => accountAny(account, "sdk", keeper.vestingOf(ctx, account))),
  });
}

/** Faults of parameters, one sentence each. */
export function paramsProblems(params: Params): string[] {
  const { maxMemoCharacters, txSigLimit, sigVerifyCostSecp256k1 } = params;
  const found: string[] = [];
  if (maxMemoCharacters > MAX_MEMO) found.push(`params.max_memo_characters: must be at most ${MAX_MEMO}`);
  if (txSigLimit === 0n || txSigLimit > MAX_SIGNATURES)
    found.push(`params.tx_sig_limit: must be 1 to ${MAX_SIGNATURES}`);
  for (const [name, price] of Object.entries(gasPricesOf(params)))
    if (price > MAX_GAS_PRICE) found.push(`params.${name}: must be at most ${MAX_GAS_PRICE}`);
  if (sigVerifyCostSecp256k1 === 0n) found.push("params.sig_verify_cost_secp256k1: must be positive");
  return found;
}

export function gasPricesOf(params: Params): Record<string, bigint> {
  const { txSizeCostPerByte, sigVerifyCostEd25519, sigVerifyCostSecp256k1, storeGas } = params;
  return {
    tx_size_cost_per_byte: txSizeCostPerByte,
    sig_verify_cost_ed25519: sigVerifyCostEd25519,
    sig_verify_cost_secp256k1: sigVerifyCostSecp256k1,
    "store_gas.has": storeGas?.has ?? 0n,
    "store_gas.delete": storeGas?.delete ?? 0n,
    "store_gas.read_flat": storeGas?.readFlat ?? 0n,
    "store_gas.read_byte": storeGas?.readByte ?? 0n,
    "store_gas.write_flat": storeGas?.writeFlat ?? 0n,
    "store_gas.write_byte": storeGas?.writeByte ?? 0n,
    "store_gas.iterate_flat": storeGas?.iterateFlat ?? 0n,
  };
}

/** Reads the accounts of a genesis file, and adds them to the state where there is a context. */
class AccountsWalk implements LongListWalk {
  readonly #keeper: AuthKeeper;
  readonly #ctx: Context | undefined;
  readonly #seen = new Set<string>();
  /** Numbers in the order of the file. */
  readonly #numbers: bigint[] = [];

  constructor(keeper: AuthKeeper, ctx: Context | undefined) {
    this.#keeper = keeper;
    this.#ctx = ctx;
  }

  take(item: JsonValue, index: number): string[] {
    const content = fromJsonAny(item, { at: ["accounts", index] });
    try {
      return this.#takeAccount(readAccount(content)).map((problem) => `accounts[${index}]: ${problem}`);
    } catch (error) {
      return [`accounts[${index}]: ${errorText(error)}`];
    }
  }

  end(isRight: boolean): string[] {
    if (isRight && this.#ctx !== undefined) this.#finish(this.#ctx);
    return [];
  }

  #takeAccount(account: GenesisAccount): string[] {
    const id = toHex(account.address);
    if (this.#seen.has(id)) return ["the address appears twice"];
    this.#seen.add(id);
    const problems = moduleProblem(this.#keeper, account);
    if (this.#ctx !== undefined && problems.length === 0) this.#add(this.#ctx, account);
    return problems;
  }

  /** At first they are numbered in the order of the file. */
  #add(ctx: Context, { vesting, ...account }: GenesisAccount): void {
    const number = BigInt(this.#numbers.length);
    this.#numbers.push(account.number);
    this.#keeper.set(ctx, { ...account, number });
    if (vesting !== undefined) this.#keeper.vesting.set(ctx.store(STORE), account.address, vesting);
  }

  #finish(ctx: Context): void {
    const { accounts, numbers, modules } = this.#keeper;
    const store = ctx.store(STORE);
    const ranks = ranksOf(this.#numbers);
    // Numbers are assigned again in the order of the old ones: an exported state comes back as it was.
    if (ranks !== undefined)
      for (const [address, account] of accounts.iterate(store))
        accounts.set(store, address, { ...account, number: BigInt(ranks[Number(account.number)] ?? 0) });
    numbers.set(store, BigInt(this.#numbers.length));
    for (const { name, permissions, address } of modules.all()) {
      if (this.#keeper.has(ctx, address)) continue;
      this.#keeper.add(ctx, { address, sequence: 0n, publicKey: undefined, module: { name, permissions } });
    }
  }
}

/** The rank of each number; undefined if they are in order. Equal numbers keep their order. */
function ranksOf(numbers: readonly bigint[]): Uint32Array | undefined {
  if (numbers.every((number, i) => i === 0 || (numbers[i - 1] ?? 0n) <= number)) return undefined;
  const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
  const order = Uint32Array.from(numbers.keys()).sort((a, b) => compare(numbers[a] ?? 0n, numbers[b] ?? 0n) || a - b);
  const ranks = new Uint32Array(order.length);
  for (const [rank, index] of order.entries()) ranks[index] = rank;
  return ranks;
}

function moduleProblem(keeper: AuthKeeper, { address, module }: Account): string[] {
  if (module === undefined)
    return keeper.isModuleAccount(address) ? ["the address belongs to a module, use a module account"] : [];
  const known = keeper.modules.all().find(({ name }) => name === module.name);
  if (known === undefined) return [`there is no module account ${JSON.stringify(module.name)}`];
  return toHex(known.address) === toHex(address) ? [] : [`the address is not the one of module ${module.name}`];
}
