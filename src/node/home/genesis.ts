import { existsSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { genesisProblems, standardModules } from "../../app/index.ts";
import { moduleAddress } from "../../crypto/index.ts";
import { BlockStore, type Genesis, genesisToJson, parseGenesis } from "../../engine/index.ts";
import { readAccountAny, scheduleProblem, type VestingSchedule, vestingAny } from "../../modules/auth/index.ts";
import { openLmdb } from "../../store/index.ts";
import {
  decFromInt,
  equalBytes,
  errorText,
  fileSize,
  formatCoin,
  type IntCoin,
  MAX_GENESIS_BYTES,
  NATIVE_DENOM,
  parseDec,
  readFileBytes,
  readFilePart,
} from "../../util/index.ts";
import {
  type GenesisState as AuthState,
  GenesisStateSchema as AuthStateSchema,
  BaseAccountSchema,
} from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import {
  BalanceSchema,
  type GenesisState as BankState,
  GenesisStateSchema as BankStateSchema,
} from "../../wire/gen/sdk/bank/v1beta1/bank_pb.js";
import { CoinSchema } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  BondStatus,
  DelegationSchema,
  GenesisStateSchema as StakingStateSchema,
  ValidatorSchema,
} from "../../wire/gen/sdk/staking/v1beta1/staking_pb.js";
import {
  decodeAddress,
  encodeAddress,
  fromJson,
  fromNanos,
  isObject,
  type JsonObject,
  type JsonValue,
  packAny,
  publicKeyToAny,
  toJson,
} from "../../wire/index.ts";
import { nodeErrors } from "../errors.ts";
import { homePaths, writeWhole } from "./home.ts";

const GENESIS_MODE = 0o644;

/** Wallets and explorers show amounts by it. */
const TOKEN = {
  description: "The token of the network",
  base: NATIVE_DENOM,
  display: "TOKEN",
  name: "Token",
  symbol: "TOKEN",
  uri: "",
  uri_hash: "",
  denom_units: [
    { denom: NATIVE_DENOM, exponent: 0, aliases: ["microtoken"] },
    { denom: "TOKEN", exponent: 6, aliases: [] },
  ],
};

/** The `app_state` of a new chain: the defaults of every module, and the units of its token. */
export function defaultAppState(): Record<string, JsonValue> {
  const defaults = standardModules().modules.map(
    ({ name, genesis }) => [name, toJson(genesis.schema, genesis.defaults())] as const,
  );
  const state = Object.fromEntries(defaults);
  return isObject(state.bank) ? { ...state, bank: { ...state.bank, denom_metadata: [TOKEN] } } : state;
}

/** Text of the home's genesis file. */
export function readGenesisText(home: string): string {
  return Buffer.from(readGenesisBytes(home)).toString("utf8");
}

/** The bytes of the home's genesis file: as text it would be in memory twice. */
export function readGenesisBytes(home: string): Uint8Array {
  const { genesis } = homePaths(home);
  if (!existsSync(genesis)) throw nodeErrors.noGenesis(genesis);
  try {
    return readFileBytes(genesis, { maxBytes: MAX_GENESIS_BYTES });
  } catch (error) {
    throw nodeErrors.invalidGenesis(errorText(error));
  }
}

/** The home's genesis file, for reading parts of it: it may be large. */
export function genesisFile(home: string) {
  const { genesis } = homePaths(home);
  const within = <T>(read: () => T): T => {
    if (!existsSync(genesis)) throw nodeErrors.noGenesis(genesis);
    try {
      return read();
    } catch (error) {
      throw nodeErrors.invalidGenesis(errorText(error));
    }
  };
  return {
    size: () => within(() => fileSize(genesis)),
    read: (start: number, length: number) => within(() => readFilePart(genesis, { start, length })),
  };
}

/** Reads a genesis file whole and checks it as the start of a node does. Throws one error that names every problem. */
export function validateGenesis(text: string): Genesis {
  const genesis = parseGenesis(text);
  const problems = genesisProblems(standardModules().modules, genesis.appState);
  if (problems.length > 0) throw nodeErrors.invalidGenesis(problems.join("; "));
  return genesis;
}

export interface GenesisAccount {
  /** bech32 */
  readonly address: string;
  readonly coins: readonly IntCoin[];
  readonly vesting?: GenesisVesting | undefined;
}

/** Which coins of an account are locked at first. Times are seconds since 1970. */
export interface GenesisVesting {
  readonly amount: readonly IntCoin[];
  /** 0: everything vests at the end. */
  readonly start: bigint;
  readonly end: bigint;
}

/** Adds accounts with their tokens to the home's genesis file: all accounts, or none if one is refused. */
export function addGenesisAccounts(home: string, accounts: readonly GenesisAccount[]): void {
  const text = readGenesisText(home);
  refuseBegun(home);
  validateGenesis(text);
  const json: JsonObject & { app_state: JsonObject } = JSON.parse(text);
  const auth = fromJson(AuthStateSchema, json.app_state.auth ?? {});
  const bank = fromJson(BankStateSchema, json.app_state.bank ?? {});
  for (const account of accounts) addAccount(auth, bank, account);
  const app_state = { ...json.app_state, auth: toJson(AuthStateSchema, auth), bank: toJson(BankStateSchema, bank) };
  writeGenesis(home, { ...json, app_state });
}

/** The operator of the node's validator from the first block on, and the operator's coins that are bonded to it. */
export interface GenesisValidator {
  /** bech32, an account of the genesis file. */
  readonly operator: string;
  readonly bonded: IntCoin;
  /** Home of its node; the one with the genesis file when it is left out. */
  readonly nodeHome?: string | undefined;
}

/** Parts of rewards, in the digits of a decimal. */
const COMMISSION = { rate: `${parseDec("0.1")}`, maxRate: `${parseDec("0.2")}`, maxChangeRate: `${parseDec("0.01")}` };

/** Makes the key of a node a validator of the chain of the home's genesis file, with a delegation of its operator. */
export function addGenesisValidator(home: string, { operator, bonded, nodeHome = home }: GenesisValidator): void {
  const genesis = validateGenesis(readGenesisText(home));
  const [signer] = parseGenesis(readGenesisText(nodeHome)).validators;
  const json: JsonObject & { app_state: JsonObject } = JSON.parse(readGenesisText(home));
  const bank = fromJson(BankStateSchema, json.app_state.bank ?? {});
  const staking = fromJson(StakingStateSchema, json.app_state.staking ?? {});
  if (signer === undefined) throw nodeErrors.invalidGenesis("validators: there are none");
  moveToPool(bank, operator, bonded);
  const [operatorAddress, shares] = [encodeAddress(decodeAddress(operator), "valoper"), decFromInt(bonded.amount)];
  staking.validators.push(
    create(ValidatorSchema, {
      operatorAddress,
      consensusPubkey: publicKeyToAny({ type: "ed25519", key: signer.pubKey }),
      // The chain bonds it when it begins, and tells its listeners.
      status: BondStatus.UNBONDED,
      tokens: `${bonded.amount}`,
      delegatorShares: `${shares}`,
      description: { moniker: signer.name },
      unbondingTime: {},
      commission: { commissionRates: COMMISSION, updateTime: fromNanos(genesis.time) },
      minSelfDelegation: "1",
    }),
  );
  staking.delegations.push(
    create(DelegationSchema, { delegatorAddress: operator, validatorAddress: operatorAddress, shares: `${shares}` }),
  );
  const changed = { bank: toJson(BankStateSchema, bank), staking: toJson(StakingStateSchema, staking) };
  const isKnown = genesis.validators.some(({ pubKey }) => equalBytes(pubKey, signer.pubKey));
  const { validators } = genesisToJson({
    ...genesis,
    validators: [...genesis.validators, ...(isKnown ? [] : [signer])],
  });
  writeGenesis(home, { ...json, validators, app_state: { ...json.app_state, ...changed } });
}

function moveToPool(bank: BankState, operator: string, { denom, amount }: IntCoin): void {
  const held = bank.balances.find(({ address }) => address === operator)?.coins.find((coin) => coin.denom === denom);
  if (held === undefined || BigInt(held.amount) <= amount)
    throw nodeErrors.invalidGenesis(`${operator} must have more than ${amount}${denom} to operate a validator`);
  held.amount = (BigInt(held.amount) - amount).toString();
  const address = encodeAddress(moduleAddress("not_bonded_tokens_pool"));
  const pool = bank.balances.find((balance) => balance.address === address);
  const pooled = pool?.coins.find((coin) => coin.denom === denom);
  if (pooled !== undefined) pooled.amount = (BigInt(pooled.amount) + amount).toString();
  else bank.balances.push(create(BalanceSchema, { address, coins: [{ denom, amount: amount.toString() }] }));
}

/** Throws when the chain of a home has begun: its genesis file must not change. */
export function refuseBegun(home: string): void {
  const { database } = homePaths(home);
  if (hasBlocks(database)) throw nodeErrors.started(`${database} holds its blocks`);
}

/** Whether a chain has begun in the database of a home. */
export function hasBlocks(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const database = openLmdb(directory);
  try {
    return new BlockStore(database).last !== undefined;
  } finally {
    database.close();
  }
}

export function writeGenesis(home: string, json: unknown): void {
  writeGenesisText(home, `${JSON.stringify(json, null, 2)}\n`);
}

function writeGenesisText(home: string, text: string): void {
  writeWhole(homePaths(home).genesis, text, GENESIS_MODE);
}

function addAccount(auth: AuthState, bank: BankState, { address, coins, vesting }: GenesisAccount): void {
  const text = encodeAddress(decodeAddress(address));
  if (isThere(auth, bank, text)) throw nodeErrors.accountExists(`cannot add account at existing address ${text}`);
  const base = { address: text, accountNumber: BigInt(auth.accounts.length) };
  auth.accounts.push(vesting === undefined ? packAny(BaseAccountSchema, base) : vestingAccount(base, coins, vesting));
  const messages = coins.map(({ denom, amount }) => create(CoinSchema, { denom, amount: amount.toString() }));
  bank.balances.push(create(BalanceSchema, { address: text, coins: messages }));
  for (const { denom, amount } of coins) {
    const supply = bank.supply.find((coin) => coin.denom === denom);
    if (supply === undefined) bank.supply.push(create(CoinSchema, { denom, amount: amount.toString() }));
    else supply.amount = (BigInt(supply.amount) + amount).toString();
  }
  bank.supply.sort((a, b) => (a.denom < b.denom ? -1 : 1));
}

function vestingAccount(
  base: { readonly address: string; readonly accountNumber: bigint },
  coins: readonly IntCoin[],
  { amount: original, start, end }: GenesisVesting,
) {
  const kind = start === 0n ? "delayed" : "continuous";
  const schedule: VestingSchedule = { kind, original, start, end, periods: [] };
  const beyond = original.find(({ denom, amount }) => amount > (coins.find((c) => c.denom === denom)?.amount ?? 0n));
  const problem =
    beyond === undefined
      ? (scheduleProblem(schedule) ?? (end === 0n ? "the end time is missing" : undefined))
      : `${formatCoin(beyond)} is more than the account receives`;
  if (problem !== undefined) throw nodeErrors.badVesting(`${base.address}: ${problem}`);
  return vestingAny(base, { schedule, delegated: { free: [], vesting: [] } }, "sdk");
}

function isThere(auth: AuthState, bank: BankState, address: string): boolean {
  if (bank.balances.some((balance) => balance.address === address)) return true;
  return auth.accounts.some((any) => encodeAddress(readAccountAny(any).address) === address);
}
