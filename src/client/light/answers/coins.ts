import { bytesToUint64, fromUtf8, sdkErrors } from "../../../util/index.ts";
import {
  Query as AuthQuery,
  BaseAccountSchema,
  ModuleAccountSchema,
} from "../../../wire/gen/sdk/auth/v1beta1/auth_pb.js";
import { Query as BankQuery } from "../../../wire/gen/sdk/bank/v1beta1/query_pb.js";
import { type Any, decodeAminoPublicKey, packAny, publicKeyToAny } from "../../../wire/index.ts";
import { addressPart, recordKey, textPart } from "../keys.ts";
import type { ProvenState } from "../state.ts";
import { type ProvenAnswer, provenAnswer } from "./answer.ts";

/** Kinds of stored accounts; accounts with locked coins have a record more, in a form of its own. */
const PLAIN = 0;
const MODULE = 1;
/** Kind, account number and sequence. */
const HEADER = 1 + 8 + 8;

/** Balances and accounts. */
export const answers: readonly ProvenAnswer[] = [
  provenAnswer(BankQuery.method.balance, async (state, { address, denom }) => {
    const bytes = await state.get("bank", recordKey(0x01, addressPart(address), textPart(denom)));
    return { balance: { denom, amount: bytes === undefined ? "0" : fromUtf8(bytes) } };
  }),
  provenAnswer(BankQuery.method.supplyOf, async (state, { denom }) => {
    const bytes = await state.get("bank", recordKey(0x02, textPart(denom)));
    return { amount: { denom, amount: bytes === undefined ? "0" : fromUtf8(bytes) } };
  }),
  provenAnswer(AuthQuery.method.account, async (state, { address }) => {
    const stored = await storedAccount(state, address);
    const account = stored[0] === MODULE ? moduleAccount(address, stored) : plainAccount(address, stored);
    return account === undefined ? undefined : { account };
  }),
  provenAnswer(AuthQuery.method.accountInfo, async (state, { address }) => {
    return { info: baseAccount(address, await storedAccount(state, address)) };
  }),
];

async function storedAccount(state: ProvenState, address: string): Promise<Uint8Array> {
  const stored = await state.get("auth", recordKey(0x01, addressPart(address)));
  if (stored === undefined) throw sdkErrors.keyNotFound(`account ${address} not found`);
  return stored;
}

function plainAccount(address: string, stored: Uint8Array): Any | undefined {
  return stored[0] === PLAIN ? packAny(BaseAccountSchema, baseAccount(address, stored)) : undefined;
}

function moduleAccount(address: string, stored: Uint8Array): Any {
  const [name = "", ...permissions] = fromUtf8(stored.subarray(HEADER)).split(",");
  return packAny(ModuleAccountSchema, { baseAccount: baseAccount(address, stored), name, permissions });
}

function baseAccount(address: string, stored: Uint8Array) {
  const rest = stored.subarray(HEADER);
  const hasKey = stored[0] !== MODULE && rest.length > 0;
  return {
    address,
    accountNumber: bytesToUint64(stored.subarray(1, 9)),
    sequence: bytesToUint64(stored.subarray(9, HEADER)),
    ...(hasKey ? { pubKey: publicKeyToAny(decodeAminoPublicKey(rest)) } : {}),
  };
}
