import { create } from "@bufbuild/protobuf";
import {
  type Context,
  coinMessage,
  defineGenesis,
  entryProblems,
  type GenesisPart,
  type LongListWalk,
  readCoins,
} from "../../runtime/index.ts";
import { append, errorText, formatCoins, type IntCoin, isDenom, sumCoins } from "../../util/index.ts";
import {
  type Balance,
  BalanceSchema,
  type GenesisState,
  GenesisStateSchema,
  type Metadata,
  type Params,
  ParamsSchema,
} from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { decodeAddress, encodeAddress, fromJson, type JsonValue } from "../../wire/index.ts";
import { type Accounts, type BankKeeper, STORE } from "./keeper.ts";

const DEFAULT_PARAMS = { defaultSendEnabled: true };
/** Every transfer looks through the list. */
const MAX_SEND_ENABLED = 500;

/** Faults of parameters, one sentence each. */
export function paramsProblems({ sendEnabled }: Params): string[] {
  if (sendEnabled.length > MAX_SEND_ENABLED)
    return [`params.send_enabled: there may be at most ${MAX_SEND_ENABLED} entries`];
  return entryProblems("params.send_enabled", sendEnabled, ({ denom }) => {
    if (!isDenom(denom)) throw new Error(`invalid denomination ${JSON.stringify(denom.slice(0, 80))}`);
    return denom;
  });
}

export function bankGenesis(keeper: BankKeeper, accounts: Accounts): GenesisPart {
  return defineGenesis({
    schema: GenesisStateSchema,
    defaults: () => create(GenesisStateSchema, { params: DEFAULT_PARAMS }),
    validate: ({ params }) => (params === undefined ? [] : paramsProblems(params)),
    init: (ctx, { params }) => keeper.params.set(ctx.store(STORE), params ?? create(ParamsSchema, DEFAULT_PARAMS)),
    long: { field: "balances", begin: (state, ctx) => new BalancesWalk({ keeper, accounts, state, ctx }) },
    export: (ctx) => exportState(keeper, ctx),
  });
}

interface BalancesParts {
  readonly keeper: BankKeeper;
  readonly accounts: Accounts;
  /** Its supply must be the sum of the balances, unless it is empty. */
  readonly state: GenesisState;
  readonly ctx: Context | undefined;
}

/** Reads the balances of a genesis file, and adds them to the state where there is a context. */
class BalancesWalk implements LongListWalk {
  readonly #parts: BalancesParts;
  readonly #seen = new Set<string>();
  readonly #sums = new Sums();

  constructor(parts: BalancesParts) {
    this.#parts = parts;
  }

  take(item: JsonValue, index: number): string[] {
    const balance = fromJson(BalanceSchema, item, { at: ["balances", index] });
    const { address } = balance;
    const { value, problem } = attempt(() => readBalance(balance));
    const twice = this.#seen.has(address) ? [`balances[${index}]: ${address} appears twice`] : [];
    this.#seen.add(address);
    if (value !== undefined) this.#add(value);
    return problem === undefined ? twice : [`balances[${index}]: ${problem}`, ...twice];
  }

  end(isRight: boolean): string[] {
    const { ctx, state } = this.#parts;
    const problems = metadataProblems(state.denomMetadata);
    if (!isRight || problems.length > 0) return problems;
    const sums = this.#sums.coins();
    if (state.supply.length > 0) append(problems, supplyProblems(state.supply, sums));
    if (ctx !== undefined && problems.length === 0) this.#finish(ctx, sums);
    return problems;
  }

  #finish(ctx: Context, sums: readonly IntCoin[]): void {
    const { keeper, state } = this.#parts;
    for (const { denom, amount } of sums) keeper.setSupply(ctx, denom, amount);
    for (const metadata of state.denomMetadata) keeper.metadata.set(ctx.store(STORE), metadata.base, metadata);
  }

  #add({ owner, coins }: ReturnType<typeof readBalance>): void {
    for (const coin of coins) this.#sums.add(coin);
    const { keeper, accounts, ctx } = this.#parts;
    if (ctx === undefined) return;
    accounts.ensure(ctx, owner);
    for (const coin of coins) keeper.setBalance(ctx, owner, coin);
  }
}

function readBalance({ address, coins }: Balance) {
  return { owner: decodeAddress(address), coins: readCoins(coins) };
}

function supplyProblems(coins: GenesisState["supply"], sums: readonly IntCoin[]): string[] {
  const sum = formatCoins(sums);
  const supply = attempt(() => formatCoins(readCoins(coins)));
  if (supply.problem !== undefined) return [`supply: ${supply.problem}`];
  return supply.value === sum ? [] : [`supply: is ${supply.value}, but the balances add up to ${sum || "nothing"}`];
}

function exportState(keeper: BankKeeper, ctx: Context): GenesisState {
  const store = ctx.store(STORE);
  const balances = new Map<string, ReturnType<typeof coinMessage>[]>();
  for (const [[owner, denom], amount] of keeper.balances.iterate(store)) {
    const address = encodeAddress(owner);
    const coins = balances.get(address) ?? [];
    coins.push(coinMessage({ denom, amount }));
    balances.set(address, coins);
  }
  return create(GenesisStateSchema, {
    params: keeper.getParams(ctx),
    balances: [...balances].map(([address, coins]) => ({ address, coins })),
    supply: keeper.totalSupply(ctx).map(coinMessage),
    denomMetadata: [...keeper.metadata.values(store)],
  });
}

function metadataProblems(list: readonly Metadata[]): string[] {
  return list.flatMap(({ base, denomUnits }, i) => {
    if (!isDenom(base)) return [`denom_metadata[${i}]: invalid base denomination ${JSON.stringify(base)}`];
    if (list.findIndex((each) => each.base === base) !== i) return [`denom_metadata[${i}]: ${base} appears twice`];
    const [first] = denomUnits;
    if (first?.denom === base && first.exponent === 0) return [];
    return [`denom_metadata[${i}]: the first unit must be ${base} with exponent 0`];
  });
}

/** Amounts of each denomination, added up. */
export class Sums {
  readonly #amounts = new Map<string, bigint>();

  add({ denom, amount }: IntCoin): void {
    this.#amounts.set(denom, (this.#amounts.get(denom) ?? 0n) + amount);
  }

  /** Sorted, without zeros. */
  coins(): IntCoin[] {
    return sumCoins([...this.#amounts].map(([denom, amount]) => ({ denom, amount })));
  }
}

function attempt<T>(work: () => T): { readonly value?: T; readonly problem?: string } {
  try {
    return { value: work() };
  } catch (error) {
    return { problem: errorText(error) };
  }
}
