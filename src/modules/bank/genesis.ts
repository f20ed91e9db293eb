import { create } from "@bufbuild/protobuf";
import {
  type Context,
  coinMessage,
  defineGenesis,
  entryProblems,
  type GenesisPart,
  readCoins,
} from "../../runtime/index.ts";
import { errorText, formatCoins, type IntCoin, isDenom, sumCoins } from "../../util/index.ts";
import {
  type Balance,
  type GenesisState,
  GenesisStateSchema,
  type Metadata,
  type Params,
  ParamsSchema,
} from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { decodeAddress, encodeAddress } from "../../wire/index.ts";
import { type Accounts, type BankKeeper, STORE } from "./keeper.ts";

const DEFAULT_PARAMS = { defaultSendEnabled: true };
/** Every transfer looks through the list. */
const MAX_SEND_ENABLED = 500;

/** What is wrong with parameters, one sentence each. */
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
    validate: problems,
    init: (ctx, state) => importState(keeper, accounts, ctx, state),
    export: (ctx) => exportState(keeper, ctx),
  });
}

function importState(keeper: BankKeeper, accounts: Accounts, ctx: Context, state: GenesisState): void {
  const store = ctx.store(STORE);
  keeper.params.set(store, state.params ?? create(ParamsSchema, DEFAULT_PARAMS));
  const sums = new Sums();
  for (const { address, coins } of state.balances) {
    const owner = decodeAddress(address);
    accounts.ensure(ctx, owner);
    for (const coin of readCoins(coins)) {
      keeper.setBalance(ctx, owner, coin);
      sums.add(coin);
    }
  }
  for (const { denom, amount } of sums.coins()) keeper.setSupply(ctx, denom, amount);
  for (const metadata of state.denomMetadata) keeper.metadata.set(store, metadata.base, metadata);
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

function problems(state: GenesisState): string[] {
  const found = [
    ...(state.params === undefined ? [] : paramsProblems(state.params)),
    ...balanceProblems(state.balances),
    ...metadataProblems(state.denomMetadata),
  ];
  if (found.length > 0) return found;
  if (state.supply.length === 0) return [];
  const sum = formatCoins(sumOfBalances(state));
  const supply = attempt(() => formatCoins(readCoins(state.supply)));
  if (supply.problem !== undefined) return [`supply: ${supply.problem}`];
  return supply.value === sum ? [] : [`supply: is ${supply.value}, but the balances add up to ${sum || "nothing"}`];
}

function balanceProblems(balances: readonly Balance[]): string[] {
  const seen = new Set<string>();
  return balances.flatMap(({ address, coins }, i) => {
    const { problem } = attempt(() => [decodeAddress(address), readCoins(coins)]);
    const twice = seen.has(address) ? [`balances[${i}]: ${address} appears twice`] : [];
    seen.add(address);
    return problem === undefined ? twice : [`balances[${i}]: ${problem}`, ...twice];
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

function sumOfBalances(state: GenesisState): IntCoin[] {
  const sums = new Sums();
  for (const { coins } of state.balances) for (const coin of readCoins(coins)) sums.add(coin);
  return sums.coins();
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
