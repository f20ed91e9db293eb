import {
  bip44Path,
  derivePrivateKey,
  generateMnemonic,
  isMnemonic,
  mnemonicToSeed,
  parseHdPath,
  publicKeyOf,
} from "../../crypto/index.ts";
import { checkKeyName, type DevicePath, type KeyInfo, type Keyring, keyringErrors } from "../../keyring/index.ts";
import { COIN_TYPE, errorText, fromBase64, toHex, trimSpace } from "../../util/index.ts";
import {
  decodePublicKey,
  type PublicKey,
  publicKeyAddress,
  publicKeyFromJson,
  readJson,
  secp256k1PublicKey,
  sortByAddress,
} from "../../wire/index.ts";
import { cliKeyring } from "../context/keyring.ts";
import { commandError, usageError } from "../errors.ts";
import { readTextFile } from "../terminal/files.ts";
import type { Io } from "../terminal/io.ts";
import { findKey, type KeysFlags, memberKeys, printKey, thresholdKey } from "./keys.ts";
import { keyTexts } from "./record.ts";

/** `keys add NAME` and its flags. */
export interface KeysAddOptions extends KeysFlags {
  readonly name: string;
  readonly recover?: boolean;
  readonly interactive?: boolean;
  /** `--source`: a file with the phrase to recover. */
  readonly source?: string | undefined;
  readonly noBackup?: boolean;
  readonly dryRun?: boolean;
  /** `--multisig`: names or addresses of the members. */
  readonly multisig?: readonly string[];
  readonly multisigThreshold?: number;
  readonly nosort?: boolean;
  /** `--pubkey`: bech32 text or JSON. */
  readonly pubkey?: string | undefined;
  /** `--pubkey-base64`: the 33 bytes of a secp256k1 key. */
  readonly pubkeyBase64?: string | undefined;
  readonly ledger?: boolean;
  /** `--ledger-transport`. */
  readonly ledgerTransport?: string;
  readonly algo?: string;
  readonly account?: number;
  readonly index?: number;
  readonly coinType?: number;
  readonly hdPath?: string | undefined;
}

/** A key that is about to be stored. */
type NewKey =
  | { readonly type: "local"; readonly privateKey: Uint8Array; readonly phraseToShow?: string }
  | { readonly type: "ledger"; readonly publicKey: PublicKey; readonly path: DevicePath }
  | { readonly type: "offline" | "multi"; readonly publicKey: PublicKey };

const IMPORTANT = `
**Important** write this mnemonic phrase in a safe place.
It is the only way to recover your account if you ever forget your password.

`;

/**
 * Creates, recovers or registers a key and prints its record; the phrase of a new key goes to standard error, once.
 * An existing key of the same name is replaced only after a confirmation, once the new one is ready.
 */
export async function keysAdd(options: KeysAddOptions, io: Io): Promise<void> {
  checkOptions(options);
  const keyring = cliKeyring(options, io);
  const existing = options.dryRun === true ? undefined : await keyring.find(options.name);
  const question = `override the existing name ${options.name}`;
  if (existing !== undefined && !(await io.confirm(question, { hasYes: false }))) {
    throw commandError("aborted", { hint: "answer y to replace the key, or choose another name" });
  }
  const key = await makeKey(options, keyring, io);
  const info = options.dryRun === true ? describe(options.name, key) : await store(options, keyring, { key, existing });
  if (options.output !== "json") io.err("\n");
  printKey(info, options, io);
  if (key.type === "local" && key.phraseToShow !== undefined) io.err(`${IMPORTANT}${key.phraseToShow}\n`);
}

function checkOptions(options: KeysAddOptions): void {
  const { name, algo = "secp256k1", ledger, source, recover, hdPath } = options;
  checkKeyName(name);
  checkOrigin(options);
  if (algo !== "secp256k1")
    throw usageError(`provided algorithm "${algo}" is not supported`, "leave out --algo: keys are secp256k1");
  if (ledger === true && hdPath !== undefined)
    throw usageError("cannot set custom bip32 path with ledger", "leave out --hd-path");
  if (source !== undefined && recover !== true) throw usageError("--source is used together with --recover");
}

/** A key has one origin: a phrase, its public half, members, or a device. */
function checkOrigin(options: KeysAddOptions): void {
  const { multisig = [], pubkey, pubkeyBase64, recover, interactive, ledger } = options;
  const origins = [
    ["--multisig", multisig.length > 0],
    ["--pubkey", pubkey !== undefined],
    ["--pubkey-base64", pubkeyBase64 !== undefined],
    ["--recover", recover === true],
    ["--interactive", interactive === true && recover !== true],
    ["--ledger", ledger === true],
  ] as const;
  const [first, second] = origins.filter(([, isGiven]) => isGiven).map(([flag]) => flag);
  if (second !== undefined) throw usageError(`${first} and ${second} cannot be used together`);
}

async function makeKey(options: KeysAddOptions, keyring: Keyring, io: Io): Promise<NewKey> {
  if (options.multisig !== undefined && options.multisig.length > 0)
    return makeMultisig(options, options.multisig, keyring);
  if (options.pubkey !== undefined)
    return { type: "offline", publicKey: parsePublicKey(options.pubkey, options.prefix) };
  if (options.pubkeyBase64 !== undefined) return { type: "offline", publicKey: parseBase64Key(options.pubkeyBase64) };
  return options.ledger === true ? makeLedger(options, io) : makeLocal(options, io);
}

async function makeMultisig(options: KeysAddOptions, names: readonly string[], keyring: Keyring): Promise<NewKey> {
  const keys = memberKeys(await Promise.all(names.map((name) => findKey(keyring, name, options))));
  const texts = keys.map((member) => toHex(member.key));
  const duplicate = texts.findIndex((text, i) => texts.indexOf(text) < i);
  if (duplicate >= 0) throw usageError(`duplicate multisig keys: ${names[duplicate] ?? ""}`);
  const ordered = options.nosort === true ? keys : sortByAddress(keys);
  return { type: "multi", publicKey: thresholdKey(options.multisigThreshold ?? 1, ordered) };
}

async function makeLedger(options: KeysAddOptions, io: Io): Promise<NewKey> {
  const { account = 0, index = 0, coinType = COIN_TYPE } = options;
  checkPath(bip44Path({ account, index, coinType }));
  const { deviceKey } = await import("./ledger.ts");
  return { type: "ledger", ...(await deviceKey(options, { account, index, coinType }, io)) };
}

async function makeLocal(options: KeysAddOptions, io: Io): Promise<NewKey> {
  const path = options.hdPath ?? bip44Path(options);
  checkPath(path);
  const { phrase, passphrase, isNew } = await obtainPhrase(options, io);
  const privateKey = await derivePrivateKey(await mnemonicToSeed(phrase, passphrase), path);
  const show = isNew && options.noBackup !== true;
  return { type: "local", privateKey, ...(show ? { phraseToShow: phrase } : {}) };
}

/** Numbers of a path are checked together: `--account` and `--index` are parts of one. */
function checkPath(path: string): void {
  try {
    parseHdPath(path);
  } catch (error) {
    throw commandError(errorText(error), {
      hint: "write numbers below 2147483648, as in --hd-path m/44'/118'/0'/0/0",
      cause: error,
    });
  }
}

interface Phrase {
  readonly phrase: string;
  readonly passphrase: string;
  readonly isNew: boolean;
}

async function obtainPhrase(options: KeysAddOptions, io: Io): Promise<Phrase> {
  const given = await givenPhrase(options, io);
  if (given !== "" && !(await isMnemonic(given))) throw invalidPhrase();
  const passphrase = options.interactive === true ? await askSeedPassphrase(io) : "";
  return given === ""
    ? { phrase: await generateMnemonic(), passphrase, isNew: true }
    : { phrase: given, passphrase, isNew: false };
}

const PHRASE_FILE = {
  what: "phrase file of --source",
  maxBytes: 64 * 1024,
  hint: "give a file that holds only the words",
};

/** The words themselves are never repeated. */
function invalidPhrase(): Error {
  return commandError("invalid mnemonic", {
    hint: "give all 12 to 24 words of the phrase, in order and spelled as shown",
  });
}

/** The phrase to recover, empty when a new one is wanted. */
async function givenPhrase({ recover, source, interactive }: KeysAddOptions, io: Io): Promise<string> {
  if (recover === true) {
    const phrase = source === undefined ? await io.ask("Enter your bip39 mnemonic") : readTextFile(source, PHRASE_FILE);
    if (phrase.trim() === "") throw invalidPhrase();
    return phrase.trim();
  }
  if (interactive !== true) return "";
  return (await io.ask("Enter your bip39 mnemonic, or hit enter to generate one.")).trim();
}

async function askSeedPassphrase(io: Io): Promise<string> {
  const passphrase = await askTrimmed(
    "Enter your bip39 passphrase. This is combined with the mnemonic to derive the seed. " +
      'Most users should just hit enter to use the default, ""',
    io,
  );
  if (passphrase !== "" && (await askTrimmed("Repeat the passphrase:", io)) !== passphrase) {
    throw commandError("passphrases don't match", { hint: "type the same passphrase twice" });
  }
  return passphrase;
}

/** Other tools strip white space at the ends, even of typed text: another passphrase makes another key. */
async function askTrimmed(prompt: string, io: Io): Promise<string> {
  return trimSpace(await io.ask(prompt));
}

const PUBKEY_HINT = 'write a bech32 text or {"@type":"/cosmos.crypto.secp256k1.PubKey","key":"<base64>"}';

/** A public key as bech32 text or in a JSON form: that with `@type`, or the older one with `type` and `value`. */
function parsePublicKey(text: string, prefix?: string): PublicKey {
  try {
    if (!text.trimStart().startsWith("{")) return decodePublicKey(text.trim(), "accountPub", prefix);
    return publicKeyFromJson(readJson(text));
  } catch (error) {
    throw usageError(`--pubkey: ${errorText(error)}`, PUBKEY_HINT);
  }
}

function parseBase64Key(text: string): PublicKey {
  try {
    return secp256k1PublicKey(fromBase64(text));
  } catch (error) {
    throw usageError(`--pubkey-base64: ${errorText(error)}`, "write the 33 bytes of a compressed key in base64");
  }
}

function publicKeyOfNew(key: NewKey): PublicKey {
  return key.type === "local" ? secp256k1PublicKey(publicKeyOf(key.privateKey)) : key.publicKey;
}

function describe(name: string, key: NewKey): KeyInfo {
  const publicKey = publicKeyOfNew(key);
  return { name, type: key.type, publicKey, address: publicKeyAddress(publicKey) };
}

async function store(
  { name, prefix }: KeysAddOptions,
  keyring: Keyring,
  { key, existing }: { key: NewKey; existing: KeyInfo | undefined },
): Promise<KeyInfo> {
  if (existing !== undefined) {
    const { address } = keyTexts(publicKeyOfNew(key), prefix === undefined ? {} : { prefix });
    const same = await keyring.find(address);
    // Checked before the old key is deleted.
    if (same !== undefined && same.name !== name)
      throw keyringErrors.exists(`the same key is stored as "${same.name}"`);
    await keyring.delete(name);
  }
  switch (key.type) {
    case "local":
      return keyring.addLocal(name, key.privateKey);
    case "offline":
      return keyring.addOffline(name, key.publicKey);
    case "multi":
      return keyring.addMultisig(name, key.publicKey);
    case "ledger":
      return keyring.addLedger(name, key.publicKey, key.path);
  }
}
