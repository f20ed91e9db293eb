import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Account } from "../../runtime/index.ts";
import { equalBytes, sdkErrors } from "../../util/index.ts";
import { type BaseAccount, BaseAccountSchema, ModuleAccountSchema } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import {
  decodeAddress,
  encodeAddress,
  encodeMessage,
  makeAny,
  type Namespace,
  packAny,
  publicKeyAddress,
  publicKeyFromAny,
  publicKeyToAny,
  type Unpacked,
  unpackAs,
} from "../../wire/index.ts";
import { readVestingAny, type Vesting, vestingAny } from "./vesting/message.ts";

/** An account as clients read it: a `BaseAccount`, a `ModuleAccount`, or one with coins that vest with time. */
export function accountAny(account: Account, namespace: Namespace, vesting?: Vesting): Any {
  const base = baseAccount(account, namespace);
  if (vesting !== undefined) return vestingAny(base, vesting, namespace);
  if (account.module === undefined) return packAny(BaseAccountSchema, base, namespace);
  const { name, permissions } = account.module;
  return packAny(ModuleAccountSchema, { baseAccount: base, name, permissions: [...permissions] }, namespace);
}

/** Fields of accounts of every kind. */
export function baseAccount(
  { address, number, sequence, publicKey }: Account,
  namespace: Namespace,
): MessageInitShape<typeof BaseAccountSchema> {
  const key = publicKey === undefined ? {} : { pubKey: publicKeyToAny(publicKey, namespace) };
  return { address: encodeAddress(address), accountNumber: number, sequence, ...key };
}

/** An account of a genesis file, with its locked coins where it has some. */
export interface GenesisAccount extends Account {
  readonly vesting?: Vesting;
}

/** Reads an account of a genesis file. Throws one clear sentence. */
export function readAccountAny(any: Any): GenesisAccount {
  const locked = readVestingAny(any);
  if (locked !== undefined) return { ...readBase(locked.base), isVesting: true, vesting: locked.vesting };
  const base = unpackAs(BaseAccountSchema, any);
  if (base !== undefined) return readBase(base);
  const module = unpackAs(ModuleAccountSchema, any);
  if (module?.baseAccount === undefined)
    throw sdkErrors.invalidType(`${JSON.stringify(any.typeUrl.slice(0, 100))} is not an account`);
  return { ...readBase(module.baseAccount), module: { name: module.name, permissions: module.permissions } };
}

/** Reads the account of a genesis file from its JSON. Nearly all accounts are plain, and need not be packed. */
export function readAccount({ typeUrl, schema, value }: Unpacked): GenesisAccount {
  // The message has the type of its schema.
  if (schema === BaseAccountSchema) return readBase(value as BaseAccount);
  return readAccountAny(makeAny(typeUrl, encodeMessage(schema, value)));
}

function readBase({ address: text, accountNumber, sequence, pubKey }: BaseAccount): Account {
  const address = decodeAddress(text);
  const publicKey = pubKey === undefined ? undefined : publicKeyFromAny(pubKey);
  if (publicKey !== undefined && !equalBytes(publicKeyAddress(publicKey), address))
    throw sdkErrors.invalidPubKey(`the public key is not the one of ${text}`);
  return { address, number: accountNumber, sequence, publicKey };
}
