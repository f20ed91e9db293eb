import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Context, MessageService, NestedMessage } from "../../runtime/index.ts";
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
  stringKey,
  tupleKey,
} from "../../store/index.ts";
import { sdkErrors } from "../../util/index.ts";
import { type Grant, GrantSchema } from "../../wire/gen/sdk/authz/v1beta1/authz_pb.js";
import {
  encodeAddress,
  authzErrors as errors,
  formatTimestamp,
  fromNanos,
  toNanos,
  typeUrlOf,
} from "../../wire/index.ts";
import type { Bank } from "../bank/index.ts";
import { type Authorization, packAuthorization, readAuthorization, useAuthorization } from "./kinds/index.ts";

export const STORE = "authz";

/** Most expired grants that one block removes; the others wait for the next. */
export const MAX_PRUNED = 200;

/** Granter, grantee, and the type URL of the messages in our spelling. */
export type GrantKey = readonly [granter: Uint8Array, grantee: Uint8Array, typeUrl: string];

/** The account functions that the module needs: a grantee gets an account. */
export interface GranteeAccounts {
  has(ctx: Context, address: Uint8Array): boolean;
  ensure(ctx: Context, address: Uint8Array): void;
}

const grantKey = tupleKey<GrantKey>(addressKey, addressKey, stringKey);

/** Grants that accounts give to others. */
export class AuthzKeeper {
  readonly messages: MessageService;
  readonly grants = collection({
    name: "grant",
    prefix: 0x01,
    key: grantKey,
    value: protoValue(GrantSchema),
    notFound: errors.notFound,
    describe: ([granter, grantee, typeUrl]) =>
      `failed to get grant with given granter: ${encodeAddress(granter)}, grantee: ${encodeAddress(grantee)} & msgType: ${typeUrl}`,
    indexes: {
      grantee: index({
        prefix: 0x02,
        key: tupleKey(addressKey),
        of: (_: Grant, [, grantee]: GrantKey) => [grantee] as const,
      }),
    },
  });
  /** By the time in nanoseconds at which they end. */
  readonly expirations = queue({ name: "expiring grant", prefix: 0x03, key: grantKey });
  readonly #accounts: GranteeAccounts;
  readonly #bank: Pick<Bank, "isBlocked">;

  constructor(messages: MessageService, accounts: GranteeAccounts, bank: Pick<Bank, "isBlocked">) {
    this.messages = messages;
    this.#accounts = accounts;
    this.#bank = bank;
    checkPrefixes({ grants: this.grants, expirations: this.expirations });
  }

  /** Grants an authorization, which replaces one for the same messages. `expiration` in nanoseconds since 1970. */
  grant(ctx: Context, pair: Pair, authorization: Authorization, expiration: bigint | undefined): void {
    const { granter, grantee } = pair;
    if (expiration !== undefined && expiration <= ctx.block.time)
      throw errors.invalidExpiration(
        `expiration must be after the current block time (${text(ctx.block.time)}), got ${text(expiration)}`,
      );
    // The coins of a module's account belong to others: deposits, stakes, rewards.
    if (this.#bank.isBlocked(granter))
      throw sdkErrors.unauthorized(`${encodeAddress(granter)} is a module account, which cannot grant`);
    this.#openAccount(ctx, grantee);
    if (this.messages.find(authorization.typeUrl) === undefined)
      throw sdkErrors.invalidType(`${authorization.typeUrl.slice(0, 128)} doesn't exist.`);
    this.put(ctx, [granter, grantee, authorization.typeUrl], authorization, expiration);
    emitGrant(ctx, "EventGrant", [granter, grantee, authorization.typeUrl]);
  }

  /** Stores a grant, and its place in the queue. */
  put(ctx: Context, key: GrantKey, authorization: Authorization, expiration: bigint | undefined): void {
    this.#unqueue(ctx, key);
    const end = expiration === undefined ? {} : { expiration: create(TimestampSchema, fromNanos(expiration)) };
    const grant = create(GrantSchema, { authorization: packAuthorization(authorization), ...end });
    this.grants.set(store(ctx), key, grant);
    if (expiration !== undefined) this.expirations.push(store(ctx), queueTime(expiration), key);
  }

  /** Revokes a grant, or removes it when it is used up. Throws `authz/2`. */
  revoke(ctx: Context, key: GrantKey): void {
    this.grants.require(store(ctx), key);
    this.#unqueue(ctx, key);
    this.grants.delete(store(ctx), key);
    emitGrant(ctx, "EventRevoke", key);
  }

  /** Uses what the signer of a message has granted to the sender. Throws if the grant does not allow the message. */
  use(ctx: Context, grantee: Uint8Array, message: NestedMessage): void {
    const key: GrantKey = [message.signer, grantee, typeUrlOf(message.schema)];
    const grant = this.grants.require(store(ctx), key);
    if (isOver(ctx, grant)) throw errors.expired();
    const left = useAuthorization(readAuthorization(grant.authorization), message);
    if (left === undefined) this.revoke(ctx, key);
    else this.grants.set(store(ctx), key, { ...grant, authorization: left });
  }

  /** Removes expired grants, so many a block. */
  prune(ctx: Context): void {
    const now = dueTime(ctx.block.time);
    for (const { key } of this.expirations.popDue(store(ctx), now, MAX_PRUNED)) this.grants.delete(store(ctx), key);
  }

  #unqueue(ctx: Context, key: GrantKey): void {
    const { expiration } = this.grants.get(store(ctx), key) ?? {};
    if (expiration !== undefined) this.expirations.remove(store(ctx), queueTime(toNanos(expiration)), key);
  }

  #openAccount(ctx: Context, address: Uint8Array): void {
    if (this.#accounts.has(ctx, address)) return;
    if (this.#bank.isBlocked(address))
      throw sdkErrors.unauthorized(`${encodeAddress(address)} is not allowed to receive funds`);
    this.#accounts.ensure(ctx, address);
  }
}

/** The granter and the grantee. */
export interface Pair {
  readonly granter: Uint8Array;
  readonly grantee: Uint8Array;
}

export function store(ctx: Context): KVStore {
  return ctx.store(STORE);
}

function text(nanos: bigint): string {
  return formatTimestamp(fromNanos(nanos));
}

function isOver(ctx: Context, { expiration }: Grant): boolean {
  return expiration !== undefined && toNanos(expiration) <= ctx.block.time;
}

/** The ecosystem writes the values of these events as JSON. */
function emitGrant(ctx: Context, name: string, [granter, grantee, typeUrl]: GrantKey): void {
  ctx.events.emit(`sdk.authz.v1beta1.${name}`, {
    grantee: JSON.stringify(encodeAddress(grantee)),
    granter: JSON.stringify(encodeAddress(granter)),
    msg_type_url: JSON.stringify(typeUrl),
  });
}
