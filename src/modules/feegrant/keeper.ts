import { create } from "@bufbuild/protobuf";
import type { Context, FeeUse } from "../../runtime/index.ts";
import {
  addressKey,
  checkPrefixes,
  collection,
  dueTime,
  index,
  type KVStore,
  protoValue,
  queue,
  queueTime,
  tupleKey,
} from "../../store/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { type Grant, GrantSchema } from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import { type Any, encodeAddress } from "../../wire/index.ts";
import type { GranteeAccounts } from "../authz/index.ts";
import type { Bank } from "../bank/index.ts";
import { expirationOf, useAllowance } from "./allowance.ts";

export const STORE = "feegrant";

/** Most expired allowances that a block removes at its end. */
export const MAX_PRUNED = 200;
/** Maximum number of records that one message removes. */
export const MAX_PRUNED_BY_MESSAGE = 75;
/** Gas for reading and writing an allowance, and for each of its bytes; fixed, because checks write nothing. */
const USE_GAS = 5000n;
const BYTE_GAS = 40n;

export type AllowanceKey = readonly [granter: Uint8Array, grantee: Uint8Array];

const pairKey = tupleKey<AllowanceKey>(addressKey, addressKey);

/** Who pays whose fees. */
export class FeegrantKeeper {
  readonly allowances = collection({
    name: "fee-grant",
    prefix: 0x00,
    key: pairKey,
    value: protoValue(GrantSchema),
    describe: ([granter, grantee]) => `${encodeAddress(granter)}/${encodeAddress(grantee)}`,
    indexes: {
      grantee: index({
        prefix: 0x01,
        key: tupleKey(addressKey),
        of: (_: Grant, [, grantee]: AllowanceKey) => [grantee] as const,
      }),
    },
  });
  /** By the time in nanoseconds at which they end. */
  readonly expirations = queue({ name: "expiring allowance", prefix: 0x02, key: pairKey });
  readonly #accounts: GranteeAccounts;
  readonly #bank: Pick<Bank, "isBlocked">;

  constructor(accounts: GranteeAccounts, bank: Pick<Bank, "isBlocked">) {
    this.#accounts = accounts;
    this.#bank = bank;
    checkPrefixes({ allowances: this.allowances, expirations: this.expirations });
  }

  /** Grants a checked allowance. Throws `sdk/18` if one exists, or if it has already expired. */
  grant(ctx: Context, key: AllowanceKey, allowance: Any): void {
    const [granter, grantee] = key;
    // The coins of a module's account belong to others: deposits, stakes, rewards.
    if (this.#bank.isBlocked(granter))
      throw sdkErrors.unauthorized(`${encodeAddress(granter)} is a module account, which cannot grant`);
    if (this.allowances.has(store(ctx), key)) throw sdkErrors.invalidRequest("fee allowance already exists");
    const expiration = expirationOf(allowance);
    if (expiration !== undefined && expiration < ctx.block.time)
      throw sdkErrors.invalidRequest("expiration is before current block time");
    if (!this.#accounts.has(ctx, grantee)) {
      if (this.#bank.isBlocked(grantee))
        throw sdkErrors.unauthorized(`${encodeAddress(grantee)} is not allowed to receive funds`);
      this.#accounts.ensure(ctx, grantee);
    }
    this.put(ctx, key, allowance);
    emit(ctx, "set_feegrant", [granter, grantee]);
  }

  /** Stores an allowance, and its place in the queue. */
  put(ctx: Context, key: AllowanceKey, allowance: Any): void {
    this.allowances.set(store(ctx), key, grantOf(key, allowance));
    const expiration = expirationOf(allowance);
    if (expiration !== undefined) this.expirations.push(store(ctx), queueTime(expiration), key);
  }

  /** Revokes an allowance, or removes it when it is used up. Throws `sdk/38`. */
  revoke(ctx: Context, key: AllowanceKey): void {
    const { allowance } = this.allowances.require(store(ctx), key);
    const expiration = expirationOf(allowance);
    if (expiration !== undefined) this.expirations.remove(store(ctx), queueTime(expiration), key);
    this.allowances.delete(store(ctx), key);
    emit(ctx, "revoke_feegrant", key);
  }

  /** Throws unless an allowance pays a fee; changes nothing. */
  check(ctx: Context, use: FeeUse): void {
    this.#left(ctx, use);
  }

  /** Takes a fee out of an allowance. */
  use(ctx: Context, use: FeeUse): void {
    const key: AllowanceKey = [use.granter, use.grantee];
    const left = this.#left(ctx, use);
    if (left === undefined) this.revoke(ctx, key);
    else this.allowances.set(store(ctx), key, grantOf(key, left));
    emit(ctx, "use_feegrant", key);
    if (left !== undefined) emit(ctx, "update_feegrant", key);
  }

  /** Removes expired allowances, up to so many. */
  prune(ctx: Context, most: number): void {
    const now = dueTime(ctx.block.time);
    for (const { key } of this.expirations.popDue(store(ctx), now, most)) this.allowances.delete(store(ctx), key);
  }

  /** The account whose checks depend on this key of the store: the grantee. */
  accountOf(key: Uint8Array): Uint8Array | undefined {
    if (key[0] !== this.allowances.prefix) return undefined;
    return pairKey.read({ bytes: key, offset: 1 })[1];
  }

  #left(ctx: Context, { granter, grantee, fee, typeUrls }: FeeUse): Any | undefined {
    const { allowance } = this.allowances.require(store(ctx), [granter, grantee]);
    ctx.gas.consume(USE_GAS + BYTE_GAS * BigInt(allowance?.value.length ?? 0), "fee allowance");
    return useAllowance(allowance, { fee, typeUrls, now: ctx.block.time });
  }
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

function grantOf([granter, grantee]: AllowanceKey, allowance: Any): Grant {
  return create(GrantSchema, { granter: encodeAddress(granter), grantee: encodeAddress(grantee), allowance });
}

function emit(ctx: Context, type: string, [granter, grantee]: AllowanceKey): void {
  ctx.events.emit(type, { granter: encodeAddress(granter), grantee: encodeAddress(grantee) });
}
