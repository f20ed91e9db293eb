import {
  DEC_ONE,
  type Dec,
  didYouMean,
  equalBytes,
  errorText,
  formatDecShort,
  parseDec,
  tryParseInt,
} from "../../../util/index.ts";
import { MsgCreateValidatorSchema } from "../../../wire/gen/sdk/staking/v1beta1/tx_pb.js";
import {
  decodeAddress,
  decodePublicKey,
  encodeAddress,
  isObject,
  type JsonObject,
  type PublicKey,
  packAny,
  printJson,
  publicKeyFromJson,
  publicKeyToAny,
  readJson,
} from "../../../wire/index.ts";
import type { NetworkProfile } from "../../command/profile.ts";
import type { CommandInput } from "../../command/spec.ts";
import { commandError, usageError } from "../../errors.ts";
import { readTextFile } from "../../terminal/files.ts";
import { readCoin } from "../../values/coins.ts";
import { runTx, type TxSession } from "../session/run.ts";

/** Flags of `tx staking create-validator`, each also a key of its file. */
export const CREATE_VALUES = [
  "amount",
  "pubkey",
  "moniker",
  "identity",
  "website",
  "security-contact",
  "details",
  "commission-rate",
  "commission-max-rate",
  "commission-max-change-rate",
  "min-self-delegation",
] as const;
type CreateValue = (typeof CREATE_VALUES)[number];

const KEY_HINT =
  'write {"@type":"/cosmos.crypto.ed25519.PubKey","key":"<base64>"}, as show-validator of its node prints it';

/** `tx staking create-validator [FILE]`: flags override the file. */
export async function createValidator(input: CommandInput): Promise<number> {
  const { args, flags } = input;
  const [path] = args;
  const file = path === undefined ? new Map<string, string>() : readValidatorFile(path, CREATE_VALUES);
  const source: Source = {
    profile: flags.profile,
    label: (name) => (flags.given(name) || path === undefined ? flags.label(name) : `${path}: ${name}`),
    text: (name) => (flags.given(name) ? undefined : file.get(name)) ?? flags.text(name),
  };
  const message = readValidator(source);
  return runTx(input, async (session) => {
    await warnOfAbsence(session, readConsensusKey(source));
    const { sender } = session;
    return [
      packAny(MsgCreateValidatorSchema, {
        ...message,
        delegatorAddress: sender.address,
        validatorAddress: operatorOf(sender.address, flags.profile),
      }),
    ];
  });
}

/** Warns that a chain of one node signs blocks only for its own validator. */
async function warnOfAbsence({ settings, context, chain }: TxSession, key: PublicKey): Promise<void> {
  if (settings.purpose !== "send") return;
  const { onlySigner } = await (await chain()).node.status();
  if (onlySigner === undefined || (key.type === "ed25519" && equalBytes(key.key, onlySigner))) return;
  context.io.err(
    "Warning: the node makes the blocks of this chain alone and signs with its own key: a validator with another key is absent at every block, and is slashed and jailed for downtime. Give --pubkey what svc comet show-validator prints in the home of the node.\n",
  );
}

/** The sources of a new validator's values. */
export interface Source {
  readonly profile: NetworkProfile;
  /** The name that the user knows a value by. */
  readonly label: (name: CreateValue) => string;
  readonly text: (name: CreateValue) => string;
}

const DESCRIPTION = ["moniker", "identity", "website", "security-contact", "details"] as const;

function descriptionOf(text: (name: (typeof DESCRIPTION)[number]) => string) {
  return {
    moniker: text("moniker"),
    identity: text("identity"),
    website: text("website"),
    securityContact: text("security-contact"),
    details: text("details"),
  };
}

/** The fields of the message that creates a validator, except the operator's. */
export function readValidator(source: Source) {
  const { profile, label, text } = source;
  for (const name of ["amount", "pubkey", "moniker"] as const) {
    if (text(name) !== "") continue;
    const hint = "give it, or a file with all values: svc tx staking create-validator <file>";
    throw usageError(`required flag --${name} is not set`, hint);
  }
  const value = readCoin(text("amount"), label("amount"), profile);
  const least = readLeast(label("min-self-delegation"), text("min-self-delegation"));
  if (BigInt(value.amount) < least) {
    const hint = `bond at least ${least}${value.denom}, or lower --min-self-delegation`;
    throw usageError(`${label("amount")}: ${value.amount} is less than the minimum self-delegation, ${least}`, hint);
  }
  return {
    description: descriptionOf(text),
    commission: readCommission(source),
    minSelfDelegation: least.toString(),
    pubkey: publicKeyToAny(readConsensusKey(source), profile.namespace),
    value,
  };
}

function readCommission({ label, text }: Source) {
  const read = (name: CreateValue): Dec => readRate(label(name), text(name));
  const [rate, max] = [read("commission-rate"), read("commission-max-rate")];
  const change = read("commission-max-change-rate");
  if (rate > max) throw tooHigh(label("commission-rate"), rate, `the maximum, ${formatDecShort(max)}`);
  if (change > max) {
    throw tooHigh(label("commission-max-change-rate"), change, `the maximum rate, ${formatDecShort(max)}`);
  }
  return { rate: rate.toString(), maxRate: max.toString(), maxChangeRate: change.toString() };
}

/** The chain decides whether it accepts this kind of key, but a multisig cannot sign blocks. */
function readConsensusKey({ label, text, profile }: Source): PublicKey {
  const given = text("pubkey").trim();
  const read = (): PublicKey =>
    given.startsWith("{")
      ? publicKeyFromJson(readJson(given))
      : decodePublicKey(given, "valconsPub", profile.bech32Prefix);
  let key: PublicKey;
  try {
    key = read();
  } catch (error) {
    throw usageError(`${label("pubkey")}: ${errorText(error)}`, KEY_HINT);
  }
  if (key.type === "multisig") throw usageError(`${label("pubkey")}: a multisig cannot sign blocks`, KEY_HINT);
  return key;
}

/** A share of rewards from 0 to 1. */
function readRate(name: string, text: string): Dec {
  let rate: Dec;
  try {
    rate = parseDec(text);
  } catch (error) {
    throw usageError(`${name}: ${errorText(error)}`, "write a fraction: 0.1 is ten percent");
  }
  if (rate < 0n || rate > DEC_ONE) {
    throw usageError(`${name}: ${text} is not between 0 and 1`, "write a fraction: 0.1 is ten percent");
  }
  return rate;
}

function tooHigh(name: string, rate: Dec, than: string): Error {
  return usageError(`${name}: ${formatDecShort(rate)} is more than ${than}`, "lower one or raise the other");
}

function readLeast(name: string, text: string): bigint {
  const value = tryParseInt(text);
  if (value !== undefined && value > 0n) return value;
  throw usageError(`${name}: "${text.slice(0, 64)}" is not a whole number above zero`);
}

export function operatorOf(account: string, { bech32Prefix }: NetworkProfile): string {
  return encodeAddress(decodeAddress(account, "account", bech32Prefix), "valoper", bech32Prefix);
}

const MAX_BYTES = 64 * 1024;
const HINT =
  'write {"pubkey": {"@type": "...", "key": "..."}, "amount": "1000000utoken", "moniker": "..."}, the key as the node prints it';

/** Keys of the file whose names differ from their flag. */
const FLAG_OF: Readonly<Record<string, string>> = { security: "security-contact" };

/** The values in a file of `tx staking create-validator`, by the names of the matching flags. */
function readValidatorFile(path: string, flagNames: readonly string[]): ReadonlyMap<string, string> {
  const text = readTextFile(path, {
    what: "validator file",
    maxBytes: MAX_BYTES,
    hint: "give the path of a JSON file",
  });
  const entries = Object.entries(readObject(path, text)).map(([key, value]): [string, string] => {
    const flag = FLAG_OF[key] ?? key;
    if (!flagNames.includes(flag)) throw unknownKey(path, key, flagNames);
    if (key === "pubkey" && isObject(value)) return [flag, printJson(value)];
    if (typeof value !== "string") throw commandError(`validator file ${path}: "${key}" is not text`, { hint: HINT });
    return [flag, value];
  });
  return new Map(entries);
}

function readObject(path: string, text: string): JsonObject {
  try {
    const json = readJson(text);
    if (isObject(json)) return json;
  } catch (cause) {
    throw commandError(`validator file ${path} is not JSON`, { hint: HINT, cause });
  }
  throw commandError(`validator file ${path} does not hold an object`, { hint: HINT });
}

function unknownKey(path: string, key: string, known: readonly string[]): Error {
  const hint = didYouMean(key, known, `it may have ${known.join(", ")}`);
  return commandError(`validator file ${path}: unknown key ${JSON.stringify(key.slice(0, 64))}`, { hint });
}
