import { create, type MessageShape } from "@bufbuild/protobuf";
import { DurationSchema, type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { coinMessage, readCoins, readSomeCoins, readTime } from "../../runtime/index.ts";
import { type IntCoin, sdkErrors, subtractCoins } from "../../util/index.ts";
import type { Coin } from "../../wire/gen/sdk/base/v1beta1/coin_pb.js";
import {
  type AllowedMsgAllowance,
  AllowedMsgAllowanceSchema,
  type BasicAllowance,
  BasicAllowanceSchema,
  type PeriodicAllowance,
  PeriodicAllowanceSchema,
} from "../../wire/gen/sdk/feegrant/v1beta1/feegrant_pb.js";
import {
  type Any,
  feegrantErrors as errors,
  fromNanos,
  type Namespace,
  packAny,
  toNamespace,
  toNanos,
  unpackAs,
} from "../../wire/index.ts";

/** Maximum number of message types of one allowance, and of characters of each: every transaction reads them. */
export const MAX_ALLOWED_MESSAGES = 50;
export const MAX_TYPE_URL_CHARACTERS = 128;
/** Most denominations of a limit. */
export const MAX_LIMIT_COINS = 20;
/** Longest period: 292 years, the limit of the ecosystem's tools in nanoseconds. */
const MAX_PERIOD_SECONDS = 9_223_372_036n;
/** The time that says "no time" on chains of the ecosystem: 0001-01-01. */
const NO_TIME = -62_135_596_800_000_000_000n;

/** A fee that a transaction wants paid. */
export interface Fee {
  readonly fee: readonly IntCoin[];
  /** Types of its messages in our spelling; undefined while they are not read. */
  readonly typeUrls: readonly string[] | undefined;
  /** Nanoseconds since 1970. */
  readonly now: bigint;
}

type Allowance =
  | { readonly kind: "basic"; readonly value: BasicAllowance }
  | { readonly kind: "periodic"; readonly value: PeriodicAllowance }
  | { readonly kind: "limited"; readonly value: AllowedMsgAllowance };

/**
 * Reads an allowance and makes the stateless checks. Returns it in its canonical, stored form. A `new` one must also
 * have every denomination of a period in its total limit; in a used one, some may be spent.
 */
export function checkAllowance(any: Any | undefined, age: "new" | "stored"): Any {
  const allowance = read(any);
  if (allowance.kind === "basic") checkBasic(allowance.value);
  if (allowance.kind === "periodic") checkPeriodic(allowance.value, age);
  if (allowance.kind !== "limited") return pack(allowance);
  const { allowance: inner, allowedMessages } = allowance.value;
  if (inner === undefined) throw errors.noAllowance("allowance should not be empty");
  checkMessages(allowedMessages);
  if (read(inner).kind === "limited")
    throw sdkErrors.invalidRequest("an allowance for some messages cannot be nested in another one");
  const ours = allowedMessages.map((url) => toNamespace(url, "sdk"));
  return pack({
    kind: "limited",
    value: { ...allowance.value, allowance: checkAllowance(inner, age), allowedMessages: ours },
  });
}

/** When an allowance ends, in nanoseconds since 1970. */
export function expirationOf(any: Any | undefined): bigint | undefined {
  const { kind, value } = read(any);
  if (kind === "limited") return expirationOf(value.allowance);
  const { expiration } = (kind === "basic" ? value : value.basic) ?? {};
  return expiration === undefined ? undefined : toNanos(expiration);
}

/** The allowance after it pays a fee; undefined if nothing is left. Throws if it cannot pay. */
export function useAllowance(any: Any | undefined, fee: Fee): Any | undefined {
  const allowance = read(any);
  if (allowance.kind === "basic") return useBasic(allowance.value, fee);
  if (allowance.kind === "periodic") return usePeriodic(allowance.value, fee);
  const { allowance: inner, allowedMessages } = allowance.value;
  if (fee.typeUrls?.some((url) => !allowedMessages.includes(url)))
    throw errors.messageNotAllowed("message does not exist in allowed messages");
  const left = useAllowance(inner, fee);
  return left === undefined ? undefined : pack({ kind: "limited", value: { ...allowance.value, allowance: left } });
}

/** A stored allowance in the spelling of a question. */
export function spelledAllowance(any: Any | undefined, namespace: Namespace): Any {
  const allowance = read(any);
  if (allowance.kind !== "limited") return pack(allowance, namespace);
  const { value } = allowance;
  const inner = spelledAllowance(value.allowance, namespace);
  const allowedMessages = value.allowedMessages.map((url) => toNamespace(url, namespace));
  return pack({ kind: "limited", value: { ...value, allowance: inner, allowedMessages } }, namespace);
}

function read(any: Any | undefined): Allowance {
  const basic = unpackAs(BasicAllowanceSchema, any);
  if (basic !== undefined) return { kind: "basic", value: basic };
  const periodic = unpackAs(PeriodicAllowanceSchema, any);
  if (periodic !== undefined) return { kind: "periodic", value: periodic };
  const limited = unpackAs(AllowedMsgAllowanceSchema, any);
  if (limited !== undefined) return { kind: "limited", value: limited };
  throw errors.noAllowance("failed to get allowance");
}

function pack({ kind, value }: Allowance, namespace: Namespace = "sdk"): Any {
  if (kind === "basic") return packAny(BasicAllowanceSchema, value, namespace);
  if (kind === "periodic") return packAny(PeriodicAllowanceSchema, value, namespace);
  return packAny(AllowedMsgAllowanceSchema, value, namespace);
}

function checkBasic({ spendLimit, expiration }: BasicAllowance): void {
  readLimit("spend_limit", spendLimit);
  if (expiration !== undefined && readTime("expiration", expiration, errors.invalidDuration) < 0n)
    throw errors.invalidDuration("expiration time cannot be negative");
}

function checkPeriodic({ basic, period, periodReset, ...limits }: PeriodicAllowance, age: "new" | "stored"): void {
  if (basic !== undefined) checkBasic(basic);
  const total = basic?.spendLimit ?? [];
  const each = readLimit("period_spend_limit", limits.periodSpendLimit);
  readLimit("period_can_spend", limits.periodCanSpend);
  if (each.length === 0) throw sdkErrors.invalidCoins("spend limit must be positive");
  const isOutside = each.some(({ denom }) => total.every((coin) => coin.denom !== denom));
  if (age === "new" && total.length > 0 && isOutside)
    throw sdkErrors.invalidCoins("period spend limit has different currency than basic spend limit");
  const { seconds, nanos } = period ?? create(DurationSchema);
  if (seconds < 0n || nanos < 0) throw errors.invalidDuration("negative clock step");
  if (seconds >= MAX_PERIOD_SECONDS || nanos >= 1_000_000_000)
    throw errors.invalidDuration("a period beyond 292 years");
  if (periodReset !== undefined) readTime("period_reset", periodReset, errors.invalidDuration);
}

function readLimit(field: string, coins: readonly Coin[]): IntCoin[] {
  if (coins.length > MAX_LIMIT_COINS)
    throw sdkErrors.invalidCoins(`${field}: more than ${MAX_LIMIT_COINS} denominations`);
  return readCoins(coins);
}

function checkMessages(urls: readonly string[]): void {
  if (urls.length === 0) throw errors.noMessages("allowed messages shouldn't be empty");
  if (urls.length > MAX_ALLOWED_MESSAGES)
    throw sdkErrors.invalidRequest(`allowed_messages: more than ${MAX_ALLOWED_MESSAGES}`);
  if (urls.some((url) => url.length > MAX_TYPE_URL_CHARACTERS))
    throw sdkErrors.invalidRequest(`allowed_messages: one of more than ${MAX_TYPE_URL_CHARACTERS} characters`);
}

function useBasic(basic: BasicAllowance, { fee, now }: Fee): Any | undefined {
  if (isOver(basic.expiration, now)) throw errors.expired("basic allowance");
  if (basic.spendLimit.length === 0) return pack({ kind: "basic", value: basic });
  const left = less(basic.spendLimit, fee, "basic allowance");
  return left.length === 0 ? undefined : pack({ kind: "basic", value: { ...basic, spendLimit: left } });
}

/** Pays from the remaining limits of the period and the whole. */
function usePeriodic(given: PeriodicAllowance, { fee, now }: Fee): Any | undefined {
  const basic = given.basic ?? create(BasicAllowanceSchema);
  if (isOver(basic.expiration, now)) throw errors.expired("absolute limit");
  const allowance = begun({ ...given, basic }, now);
  const periodCanSpend = less(allowance.periodCanSpend, fee, "period limit");
  const isLimited = basic.spendLimit.length > 0;
  const spendLimit = isLimited ? less(basic.spendLimit, fee, "absolute limit") : [];
  if (isLimited && spendLimit.length === 0) return undefined;
  return pack({ kind: "periodic", value: { ...allowance, basic: { ...basic, spendLimit }, periodCanSpend } });
}

/** With a new period if the last one is over: it begins where that ended, or now if more than one has passed. */
function begun(
  allowance: PeriodicAllowance & { readonly basic: BasicAllowance },
  now: bigint,
): MessageShape<typeof PeriodicAllowanceSchema> {
  const reset = allowance.periodReset === undefined ? NO_TIME : toNanos(allowance.periodReset);
  if (now < reset) return allowance;
  const { seconds, nanos } = allowance.period ?? create(DurationSchema);
  const period = toNanos({ seconds, nanos });
  const following = reset + period < now ? now + period : reset + period;
  return {
    ...allowance,
    periodCanSpend: withinWhole(allowance),
    periodReset: create(TimestampSchema, fromNanos(following)),
  };
}

/** The limit of a period, per denomination at most the rest of the whole. */
function withinWhole({ basic, periodSpendLimit }: PeriodicAllowance): Coin[] {
  const whole = basic?.spendLimit ?? [];
  if (whole.length === 0) return periodSpendLimit;
  return periodSpendLimit.flatMap((coin) => {
    const left = whole.find(({ denom }) => denom === coin.denom);
    if (left === undefined) return [];
    return [BigInt(left.amount) < BigInt(coin.amount) ? left : coin];
  });
}

function less(limit: readonly Coin[], fee: readonly IntCoin[], which: string): Coin[] {
  const left = subtractCoins(coins(limit), fee);
  if (left === undefined) throw errors.limitExceeded(which);
  return left.map((coin) => ({ $typeName: "sdk.base.v1beta1.Coin", ...coinMessage(coin) }));
}

function coins(messages: readonly Coin[]): IntCoin[] {
  return messages.length === 0 ? [] : readSomeCoins(messages);
}

function isOver(expiration: Timestamp | undefined, now: bigint): boolean {
  return expiration !== undefined && toNanos(expiration) < now;
}
