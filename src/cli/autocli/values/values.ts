import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import {
  assert,
  DEC_ONE,
  type Dec,
  errorText,
  formatDec,
  formatDecShort,
  isDenom,
  parseCoin,
  parseDec,
  parseDecCoin,
  SvcError,
  tryParseDec,
  tryParseInt,
} from "../../../util/index.ts";
import {
  CliText,
  cliField,
  decodeAddress,
  decodePublicKey,
  encodeAddress,
  isObject,
  type JsonObject,
  type JsonValue,
  parseBidId,
  parseCertificateId,
  parseDeploymentId,
  parseGroupId,
  parseLeaseId,
  parseOrderId,
  parseTimestamp,
  publicKeyAddress,
  publicKeyFromJson,
  readJson,
  Scalar,
  scalarOf,
  toJson,
} from "../../../wire/index.ts";
import type { NetworkProfile } from "../../command/profile.ts";
import { UsageError, usageError } from "../../errors.ts";
import { LAST_SECOND } from "../../values/expiration.ts";
import { typeUrlArgument } from "../../values/type-url.ts";
import { ID_KINDS, shortEnum, shortNames } from "../fields.ts";

const LIMITS: ReadonlyMap<ScalarType, bigint> = new Map([
  [ScalarType.UINT32, (1n << 32n) - 1n],
  [ScalarType.UINT64, (1n << 64n) - 1n],
  [ScalarType.INT64, (1n << 63n) - 1n],
]);

/** The source of a text. */
export interface Source {
  /** The name by which the user knows it. */
  readonly name: string;
  /** The network to which addresses and names belong. */
  readonly profile: NetworkProfile;
}

/** The text of an argument or flag as the JSON of a field. */
export function readValue(field: DescField, text: string, source: Source): JsonValue {
  try {
    if (shortEnum(field) !== undefined) return readShortName(field, text, source);
    if (cliField(field).text === CliText.PARTS) return readParts(field, text, source);
    if (field.message !== undefined) return readMessage(field.message, text);
    if (field.enum !== undefined) return text;
    if (cliField(field).text !== CliText.UNSPECIFIED) return readKind(field, text, source);
    if (field.scalar === ScalarType.STRING) return readText(field, text, source.profile.bech32Prefix);
    if (field.scalar !== undefined) return readNumber(field.scalar, text);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const hint = error instanceof SvcError ? error.hint : undefined;
    throw usageError(`${source.name}: ${errorText(error)}`, cliField(field).hint || hint);
  }
  throw usageError(`${source.name} cannot be given on the command line`);
}

/**
 * A value in any of its spellings: `voting-period`, `voting_period`, `VotingPeriod`, `PROPOSAL_STATUS_VOTING_PERIOD`.
 */
function readShortName(field: DescField, text: string, { name }: Source): string {
  const type = shortEnum(field);
  const plain = (word: string): string => word.toUpperCase().replaceAll(/[-_]/g, "");
  const [, ...values] = type?.values ?? [];
  const names = type === undefined ? [] : shortNames(type);
  const found = values.find((each, i) => [each.name, names[i] ?? ""].some((word) => plain(word) === plain(text)));
  if (found !== undefined) return found.name;
  throw usageError(`${name} takes ${names.join(", ")}, not "${text.slice(0, 64)}"`);
}

/** A text whose field has options that say more than its type. */
function readKind(field: DescField, text: string, { name, profile }: Source): string {
  switch (cliField(field).text) {
    case CliText.DENOM:
      if (isDenom(text)) return text;
      throw new Error(`"${text.slice(0, 64)}" is not a denomination`);
    case CliText.TYPE_URL:
      return typeUrlArgument(text, name, profile.namespace);
    case CliText.TIME:
      return secondsOf(text).toString();
    case CliText.CONSENSUS_ADDRESS:
      return consensusAddress(text, profile.bech32Prefix);
    case CliText.PART:
      return formatDec(readPart(text));
    default:
      return scalarOf(field) === Scalar.INT
        ? readLargeNumber(text)
        : readNumber(field.scalar ?? ScalarType.UINT64, text, 1n);
  }
}

/** A number that is not bounded by the type of its field. */
function readLargeNumber(text: string): string {
  const value = tryParseInt(text);
  if (value !== undefined && value > 0n) return text;
  throw new Error(`"${text.slice(0, 64)}" is not a whole number above zero`);
}

/** A time as people or programs write it, in seconds since 1970. */
function secondsOf(text: string): bigint {
  const seconds = /^\d{1,12}$/.test(text) ? BigInt(text) : parseTimestamp(text)?.seconds;
  if (seconds !== undefined && seconds > 0n && seconds <= LAST_SECOND) return seconds;
  throw new Error(`"${text.slice(0, 64)}" is not a time`);
}

function readText(field: DescField, text: string, prefix: string): string {
  const scalar = scalarOf(field);
  if (scalar === Scalar.ADDRESS) decodeAddress(text, "account", prefix);
  if (scalar === Scalar.VALIDATOR_ADDRESS) decodeAddress(text, "valoper", prefix);
  return text;
}

function readNumber(type: ScalarType, text: string, min = 0n): string {
  const max = LIMITS.get(type) ?? 0n;
  const value = tryParseInt(text);
  if (value === undefined || value < min || value > max) {
    throw new Error(`"${text.slice(0, 64)}" is not a whole number from ${min} to ${max}`);
  }
  return text;
}

/** Parts of a whole, `yes=0.6,no=0.4`, as messages of a name and its part. */
function readParts({ message }: DescField, text: string, { name, profile }: Source): JsonValue {
  const [key, part] = message?.fields ?? [];
  assert(key !== undefined && part !== undefined, `${message?.typeName}: not a name and its part`);
  return splitParts(text, (word) => readValue(key, word, { name, profile })).map(([word, value]) => ({
    [key.name]: word,
    [part.name]: formatDec(value),
  }));
}

function readMessage(schema: DescMessage, text: string): JsonObject {
  switch (schema.typeName) {
    case "sdk.base.v1beta1.Coin": {
      const { denom, amount } = parseCoin(text);
      return { denom, amount: amount.toString() };
    }
    case "sdk.base.v1beta1.DecCoin": {
      const { denom, amount } = parseDecCoin(text);
      return { denom, amount: formatDec(amount) };
    }
    default:
      return readId(schema, text);
  }
}

const ID_PARSERS: Readonly<Record<string, (text: string) => Parameters<typeof toJson>[1]>> = {
  deployment: parseDeploymentId,
  group: parseGroupId,
  order: parseOrderId,
  bid: parseBidId,
  lease: parseLeaseId,
  certificate: parseCertificateId,
};

/** An id in its text form, for example `order/<owner>/<dseq>/<gseq>/<oseq>`, as JSON. */
export function readId(schema: DescMessage, text: string): JsonObject {
  const parse = ID_PARSERS[ID_KINDS.get(schema.typeName) ?? ""];
  if (parse === undefined) throw new Error(`a ${schema.typeName} cannot be read from text`);
  const id = toJson(schema, parse(text));
  assert(isObject(id), "an id is an object");
  return id;
}

/** A value inside nested objects. */
export function valueAt(source: JsonObject, path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((value, part) => (isObject(value) ? value[part] : undefined), source);
}

/** Sets a value inside nested objects, which are made where they are missing. */
export function setPath(target: Record<string, JsonValue>, path: readonly string[], value: JsonValue): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const before = target[name];
  const inner = isObject(before) ? { ...before } : {};
  setPath(inner, rest, value);
  target[name] = inner;
}

/** The consensus address of a validator from itself, from the bech32 form of its key or from the key's JSON. */
export function consensusAddress(text: string, prefix: string): string {
  if (text.startsWith("{")) {
    return encodeAddress(publicKeyAddress(publicKeyFromJson(readJson(text))), "valcons", prefix);
  }
  if (text.startsWith(`${prefix}valconspub`)) {
    return encodeAddress(publicKeyAddress(decodePublicKey(text, "valconsPub", prefix)), "valcons", prefix);
  }
  decodeAddress(text, "valcons", prefix);
  return text;
}

/** A part of a whole: from 0 to 1. */
export function readPart(text: string): Dec {
  const part = parseDec(text);
  if (part >= 0n && part <= DEC_ONE) return part;
  throw new Error(`${text} is not between 0 and 1`);
}

/** The parts of a whole by their names, `yes=0.6,no=0.4`: each name once, each part above 0, together 1. */
export function splitParts<K>(text: string, readName: (word: string) => K): [name: K, part: Dec][] {
  const parts = text.split(",").map((each) => splitPart(each, readName));
  const names = new Set(parts.map(([name]) => name));
  if (names.size < parts.length) throw new Error(`a name appears twice in "${text.slice(0, 80)}"`);
  const total = parts.reduce((sum, [, part]) => sum + part, 0n);
  if (total === DEC_ONE) return parts;
  throw new Error(`the parts add up to ${formatDecShort(total)}, not to 1`);
}

function splitPart<K>(text: string, readName: (word: string) => K): [K, Dec] {
  const [word = "", number = "", ...rest] = text.trim().split("=");
  const name = readName(word);
  const part = tryParseDec(number);
  if (part !== undefined && part > 0n && part <= DEC_ONE && rest.length === 0) return [name, part];
  throw new Error(`"${text.slice(0, 64)}" has no part above 0 and up to 1`);
}
