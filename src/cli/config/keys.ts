import { parseNodeAddress } from "../../client/index.ts";
import { errorText, isDenom, isPrintable, type Setting, tryParseInt } from "../../util/index.ts";
import {
  BROADCAST_MODE_FLAG,
  BROADCAST_MODES,
  CHAIN_ID_FLAG,
  KEYRING_BACKEND_FLAG,
  KEYRING_BACKENDS,
  NODE_FLAG,
  OUTPUT_FLAG,
  OUTPUT_FORMATS,
} from "../command/global-flags.ts";
import { OWN_PROFILE } from "../command/profile.ts";

/** One key of `client.toml`. If it is not set its default applies, or for a network's key the value of its profile. */
export interface ConfigKey extends Setting<string> {
  /** Belongs to one network: the values of another network's profile never mix with it. */
  readonly ofNetwork: boolean;
  /** Commands have a flag of the same name, whose default it sets. */
  readonly isFlag: boolean;
  /** Written without quotes. */
  readonly isNumber?: boolean;
}

const MAX_CHAIN_ID = 50;
const MAX_COIN_TYPE = 2n ** 31n - 1n;

/** All keys, in display order. An empty value is the same as none. */
export const CONFIG_KEYS: readonly ConfigKey[] = [
  { ...CHAIN_ID_FLAG, ofNetwork: true, isFlag: true, parse: parseChainId },
  { ...KEYRING_BACKEND_FLAG, ofNetwork: false, isFlag: true, parse: oneOf(KEYRING_BACKENDS) },
  { ...OUTPUT_FLAG, default: "text", ofNetwork: false, isFlag: true, parse: oneOf(OUTPUT_FORMATS) },
  { ...NODE_FLAG, ofNetwork: true, isFlag: true, parse: parseNode },
  { ...BROADCAST_MODE_FLAG, ofNetwork: false, isFlag: true, parse: oneOf(BROADCAST_MODES) },
  {
    name: "profile",
    summary: "network whose addresses and names are used",
    default: OWN_PROFILE.name,
    ofNetwork: false,
    isFlag: true,
    parse: pattern(/^[a-z0-9][a-z0-9_-]{0,49}$/i, "is not a name of letters, digits, - and _"),
  },
  {
    name: "bech32-prefix",
    summary: "prefix of addresses",
    ofNetwork: true,
    isFlag: false,
    parse: pattern(/^[a-z][a-z0-9]{0,31}$/, "is not a prefix of lower-case letters and digits, such as cosmos"),
  },
  {
    name: "coin-type",
    summary: "coin type of derivation paths",
    ofNetwork: true,
    isFlag: true,
    isNumber: true,
    parse: parseCoinType,
  },
  // A profile's denomination is not `--denom`, which filters results.
  { name: "denom", summary: "denomination of fees", ofNetwork: true, isFlag: false, parse: parseDenom },
  {
    name: "namespace",
    summary: "first word of message names",
    ofNetwork: true,
    isFlag: false,
    parse: oneOf(["sdk", "cosmos"]),
  },
  {
    name: "amino-names",
    summary: "amino names of messages: older for chains before release 0.46",
    ofNetwork: true,
    isFlag: false,
    parse: oneOf(["current", "older"]),
  },
  {
    name: "trust-height",
    summary: "height of a block that is trusted",
    ofNetwork: true,
    isFlag: false,
    isNumber: true,
    parse: pattern(/^[1-9]\d{0,17}$/, "is not a height"),
  },
  {
    name: "trust-hash",
    summary: "hash of that block; answers are verified from it",
    ofNetwork: true,
    isFlag: false,
    parse: pattern(/^[0-9a-fA-F]{64}$/, "is not a hash of 64 hexadecimal digits"),
  },
  {
    name: "trust-period",
    summary: "how long verified blocks are trusted, such as 14d",
    ofNetwork: true,
    isFlag: false,
    parse: pattern(/^[1-9]\d{0,4}[dhms]$/, "is not a time such as 14d or 36h"),
  },
  {
    name: "witnesses",
    summary: "nodes that have to confirm verified blocks, separated by commas",
    ofNetwork: true,
    isFlag: false,
    parse: parseNodes,
  },
];

export function findConfigKey(name: string): ConfigKey | undefined {
  return CONFIG_KEYS.find((key) => key.name === name);
}

/** The fault of a value that is not empty, worded to follow it; undefined if there is none. */
export function configFault(key: ConfigKey, text: string): string | undefined {
  try {
    key.parse(text);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

function checked(good: boolean, text: string, fault: string): string {
  if (!good) throw new Error(fault);
  return text;
}

function pattern(form: RegExp, fault: string): (text: string) => string {
  return (text) => checked(form.test(text), text, fault);
}

function oneOf(choices: readonly string[]): (text: string) => string {
  return (text) => checked(choices.includes(text), text, `is not one of ${choices.join(", ")}`);
}

function parseChainId(text: string): string {
  const good = text.length <= MAX_CHAIN_ID && /^\S+$/u.test(text) && isPrintable(text);
  return checked(good, text, `is not a chain id: 1 to ${MAX_CHAIN_ID} characters without spaces`);
}

function parseNode(text: string): string {
  try {
    parseNodeAddress(text);
    return text;
  } catch (error) {
    throw new Error(`is not a node address: ${errorText(error)}`);
  }
}

function parseNodes(text: string): string {
  for (const node of text.split(",")) parseNode(node);
  return text;
}

function parseDenom(text: string): string {
  return checked(isDenom(text), text, "is not a denomination, such as utoken");
}

function parseCoinType(text: string): string {
  const number = tryParseInt(text);
  const good = number !== undefined && number >= 0n && number <= MAX_COIN_TYPE;
  return checked(good, text, `is not a whole number from 0 to ${MAX_COIN_TYPE}`);
}
