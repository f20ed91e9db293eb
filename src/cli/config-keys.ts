import { parseNodeAddress } from "../client/index.ts";
import { errorText, isDenom, isPrintable, tryParseInt } from "../util/index.ts";
import { BROADCAST_MODES, KEYRING_BACKENDS, NODE_FLAG, OUTPUT_FORMATS } from "./global-flags.ts";
import { OWN_PROFILE } from "./profile.ts";

/** One key of `client.toml`. */
export interface ConfigKey {
  readonly name: string;
  readonly summary: string;
  /** What holds where nothing is set; keys of the network have the value of its profile instead. */
  readonly default: string;
  /** Belongs to one network: the values of another network's profile never mix with it. */
  readonly ofNetwork: boolean;
  /** Written without quotes. */
  readonly isNumber?: boolean;
  /** What is wrong with a value that is not empty; undefined when nothing is. */
  fault(text: string): string | undefined;
}

const MAX_CHAIN_ID = 50;
const MAX_COIN_TYPE = 2n ** 31n - 1n;

/** All keys, in the order in which they are shown. An empty value is the same as none. */
export const CONFIG_KEYS: readonly ConfigKey[] = [
  { name: "chain-id", summary: "network chain id", default: "", ofNetwork: true, fault: chainIdFault },
  {
    name: "keyring-backend",
    summary: "where keys are kept",
    default: "os",
    ofNetwork: false,
    fault: choiceFault(KEYRING_BACKENDS),
  },
  { name: "output", summary: "output format", default: "text", ofNetwork: false, fault: choiceFault(OUTPUT_FORMATS) },
  {
    name: "node",
    summary: NODE_FLAG.summary,
    default: NODE_FLAG.default ?? "",
    ofNetwork: true,
    fault: nodeFault,
  },
  {
    name: "broadcast-mode",
    summary: "how long to wait",
    default: "sync",
    ofNetwork: false,
    fault: choiceFault(BROADCAST_MODES),
  },
  {
    name: "profile",
    summary: "network whose addresses and names are used",
    default: OWN_PROFILE.name,
    ofNetwork: false,
    fault: profileNameFault,
  },
  { name: "bech32-prefix", summary: "start of addresses", default: "", ofNetwork: true, fault: prefixFault },
  {
    name: "coin-type",
    summary: "coin type of derivation paths",
    default: "",
    ofNetwork: true,
    isNumber: true,
    fault: coinTypeFault,
  },
  {
    name: "denom",
    summary: "denomination of fees",
    default: "",
    ofNetwork: true,
    fault: (text) => (isDenom(text) ? undefined : "is no denomination, such as utoken"),
  },
  {
    name: "namespace",
    summary: "first word of names of messages",
    default: "",
    ofNetwork: true,
    fault: choiceFault(["sdk", "cosmos"]),
  },
  {
    name: "amino-names",
    summary: "names of messages that amino-json signs: older before release 0.46 of the family",
    default: "",
    ofNetwork: true,
    fault: choiceFault(["current", "older"]),
  },
];

/** Keys that are also flags of commands. A profile's denomination is not `--denom`, which filters results. */
export const FLAG_KEYS: ReadonlySet<string> = new Set([
  "chain-id",
  "keyring-backend",
  "output",
  "node",
  "broadcast-mode",
  "coin-type",
]);

export function findConfigKey(name: string): ConfigKey | undefined {
  return CONFIG_KEYS.find((key) => key.name === name);
}

function choiceFault(choices: readonly string[]): (text: string) => string | undefined {
  return (text) => (choices.includes(text) ? undefined : `is none of ${choices.join(", ")}`);
}

function chainIdFault(text: string): string | undefined {
  const good = text.length <= MAX_CHAIN_ID && /^\S+$/u.test(text) && isPrintable(text);
  return good ? undefined : `is no chain id: 1 to ${MAX_CHAIN_ID} characters without spaces`;
}

function nodeFault(text: string): string | undefined {
  try {
    parseNodeAddress(text);
    return undefined;
  } catch (error) {
    return `is no node address: ${errorText(error)}`;
  }
}

function profileNameFault(text: string): string | undefined {
  return /^[a-z0-9][a-z0-9_-]{0,49}$/i.test(text) ? undefined : "is no name of letters, digits, - and _";
}

function prefixFault(text: string): string | undefined {
  return /^[a-z][a-z0-9]{0,31}$/.test(text)
    ? undefined
    : "is no prefix of lower-case letters and digits, such as cosmos";
}

function coinTypeFault(text: string): string | undefined {
  const number = tryParseInt(text);
  const good = number !== undefined && number >= 0n && number <= MAX_COIN_TYPE;
  return good ? undefined : `is no whole number from 0 to ${MAX_COIN_TYPE}`;
}
