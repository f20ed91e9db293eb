import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { type BaseAccount, BaseAccountSchema, Query } from "../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { type Any, decodeMessage, type PublicKey, publicKeyFromAny, unpackAs } from "../../wire/index.ts";
import { clientErrors } from "../errors.ts";
import type { QueryClient } from "./query.ts";

/** Facts about an account that its signer needs. */
export interface AccountInfo {
  readonly address: string;
  readonly accountNumber: bigint;
  readonly sequence: bigint;
  /** Absent until the account has signed once. */
  readonly publicKey: PublicKey | undefined;
}

/** An account as the chain stores it. Rejects with `sdk/22` if it does not exist. */
export async function accountInfo(query: QueryClient, address: string): Promise<AccountInfo> {
  const { account } = await query.call(Query.method.account, { address });
  if (account === undefined) throw clientErrors.badAnswer(`the node does not know the account ${address}`);
  const base = baseAccountOf(account);
  return {
    address: base.address,
    accountNumber: base.accountNumber,
    sequence: base.sequence,
    publicKey: base.pubKey === undefined ? undefined : publicKeyFromAny(base.pubKey),
  };
}

/** How deeply a base account may be nested: in a vesting account it is two levels deep. */
const MAX_LAYERS = 3;

/**
 * The base account inside any kind of account. Module accounts, vesting accounts and unknown kinds hold it, or
 * something that holds it, in their first field.
 */
function baseAccountOf(account: Any): BaseAccount {
  const base = unpackAs(BaseAccountSchema, account) ?? baseAccountWithin(account.value);
  if (base !== undefined) return base;
  throw clientErrors.badAnswer(`accounts of type ${account.typeUrl} are not supported`);
}

function baseAccountWithin(bytes: Uint8Array): BaseAccount | undefined {
  let inner = firstField(bytes);
  for (let level = 0; level < MAX_LAYERS && inner !== undefined; level++) {
    const next = firstField(inner);
    // The first field of a base account is an address: text, which no message starts with.
    if (next !== undefined && /^[a-z]+1[a-z0-9]{38,}$/.test(String.fromCharCode(...next))) {
      return decodeMessage(BaseAccountSchema, inner, clientErrors.badAnswer);
    }
    inner = next;
  }
  return undefined;
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
