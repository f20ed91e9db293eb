import { create } from "@bufbuild/protobuf";
import { type Account, type Context, defineGenesis, type GenesisPart, MAX_GAS_PRICE } from "../../runtime/index.ts";
import { errorText, toHex } from "../../util/index.ts";
import {
  type GenesisState,
  GenesisStateSchema,
  type Params,
  ParamsSchema,
} from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { accountAny, readAccountAny } from "./account-message.ts";
import { type AuthKeeper, STORE } from "./keeper.ts";

/**
 * Store operations cost half of what the ecosystem's reference charges, so that the longest documented commands
 * (redelegation, withdrawal with commission) stay within the default limit of 200,000. A byte read costs more than
 * there, because reading a record of small parts takes longer than writing it, and a signature ten times as much: its
 * price includes the account, the sequence and the fee of its signer. `npm run bench -- gas` measures whether these
 * prices fit.
 */
const DEFAULT_PARAMS = {
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
    validate: (state) => [
      ...(state.params === undefined ? [] : paramsProblems(state.params)),
      ...accountProblems(keeper, state),
    ],
    init: (ctx, state) => importState(keeper, ctx, state),
    export: (ctx) => exportState(keeper, ctx),
  });
}

function importState(keeper: AuthKeeper, ctx: Context, state: GenesisState): void {
  keeper.params.set(ctx.store(STORE), state.params ?? create(ParamsSchema, DEFAULT_PARAMS));
  const accounts = checked.get(state) ?? state.accounts.map(readAccountAny);
  // Numbers are assigned again in the order of the old ones: an exported state comes back as it was.
  accounts.sort((a, b) => (a.number < b.number ? -1 : a.number > b.number ? 1 : 0));
  for (const { vesting, ...account } of accounts) {
    if (vesting === undefined) keeper.add(ctx, account);
    else keeper.addVesting(ctx, account, vesting);
  }
  for (const { name, permissions, address } of keeper.modules.all()) {
    if (keeper.has(ctx, address)) continue;
    keeper.add(ctx, { address, sequence: 0n, publicKey: undefined, module: { name, permissions } });
  }
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

/** What is wrong with parameters, one sentence each. */
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

function gasPricesOf(params: Params): Record<string, bigint> {
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

/** The accounts of states that were checked: a million addresses take long to read. */
const checked = new WeakMap<GenesisState, ReturnType<typeof readAccountAny>[]>();

function accountProblems(keeper: AuthKeeper, state: GenesisState): string[] {
  const seen = new Set<string>();
  const accounts: ReturnType<typeof readAccountAny>[] = [];
  const problems = state.accounts.flatMap((any, i) => {
    try {
      const account = readAccountAny(any);
      const id = toHex(account.address);
      if (seen.has(id)) return [`accounts[${i}]: the address appears twice`];
      seen.add(id);
      accounts.push(account);
      return moduleProblem(keeper, account).map((problem) => `accounts[${i}]: ${problem}`);
    } catch (error) {
      return [`accounts[${i}]: ${errorText(error)}`];
    }
  });
  if (problems.length === 0) checked.set(state, accounts);
  return problems;
}

function moduleProblem(keeper: AuthKeeper, { address, module }: Account): string[] {
  if (module === undefined)
    return keeper.isModuleAccount(address) ? ["the address belongs to a module, use a module account"] : [];
  const known = keeper.modules.all().find(({ name }) => name === module.name);
  if (known === undefined) return [`there is no module account ${JSON.stringify(module.name)}`];
  return toHex(known.address) === toHex(address) ? [] : [`the address is not the one of module ${module.name}`];
}
