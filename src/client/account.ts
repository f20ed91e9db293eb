import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import {
  type BaseAccount,
  BaseAccountSchema,
  ModuleAccountSchema,
  Query,
} from "../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { type Any, decodeMessage, findTypeUrl, type PublicKey, publicKeyFromAny, unpackAs } from "../wire/index.ts";
import { clientErrors } from "./errors.ts";
import type { QueryClient } from "./query.ts";

/** What a signer must know of its account. */
export interface AccountInfo {
  readonly address: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
  /** Absent until the account has signed once. */
  readonly publicKey: PublicKey | undefined;
}

/** An account as the chain has it. Rejects with `sdk/22` where there is none. */
export async function accountInfo(query: QueryClient, address: string): Promise<AccountInfo> {
  const { account } = await query.call(Query.method.account, { address });
  if (account === undefined) throw clientErrors.badAnswer(`the node knows no account ${address}`);
  const base = baseAccountOf(account);
  return {
    address: base.address,
    accountNumber: base.accountNumber,
    sequence: base.sequence,
    publicKey: base.pubKey === undefined ? undefined : publicKeyFromAny(base.pubKey),
  };
}

/**
 * The base account inside any kind of account. Kinds that are not known here (vesting accounts of other chains) hold it,
 * or something that holds it, in their first field.
 */
function baseAccountOf(account: Any): BaseAccount {
  const base = unpackAs(BaseAccountSchema, account) ?? unpackAs(ModuleAccountSchema, account)?.baseAccount;
  if (base !== undefined) return base;
  if (findTypeUrl(account.typeUrl) === undefined) {
    let inner = firstField(account.value);
    for (let level = 0; level < 3 && inner !== undefined; level++) {
      const next = firstField(inner);
      // The first field of a base account is an address: text, which no message starts with.
      if (next !== undefined && /^[a-z]+1[a-z0-9]{38,}$/.test(String.fromCharCode(...next))) {
        return decodeMessage(BaseAccountSchema, inner, clientErrors.badAnswer);
      }
      inner = next;
    }
  }
  throw clientErrors.badAnswer(`accounts of type ${account.typeUrl} are not supported`);
}

function firstField(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const reader = new BinaryReader(bytes);
    const [field, wireType] = reader.tag();
    return field === 1 && wireType === WireType.LengthDelimited ? reader.bytes() : undefined;
  } catch {
    return undefined;
  }
}
