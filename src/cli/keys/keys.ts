import { existsSync } from "node:fs";
import { join } from "node:path";
import { KEYRING_SERVICE, type KeyInfo, type Keyring, type RecordForm } from "../../keyring/index.ts";
import { errorText, printable, SvcError, sdkErrors } from "../../util/index.ts";
import {
  decodeAddress,
  type MultisigPublicKey,
  multisigPublicKey,
  publicKeyAddress,
  type SinglePublicKey,
} from "../../wire/index.ts";
import { cliKeyring, type KeyringFlags } from "../context/keyring.ts";
import { commandError, usageError } from "../errors.ts";
import type { Io } from "../terminal/io.ts";
import { type OutputFormat, printTable } from "../terminal/output.ts";
import { cutTable } from "../terminal/table.ts";
import { type KeyStyle, keyOutput, keysYaml, keyTexts, type PublicKeyFormat } from "./record.ts";

/** Flags of the group `keys`. */
export interface KeysFlags extends KeyringFlags {
  readonly output?: OutputFormat;
  /** `--pubkey-format`. */
  readonly pubkeyFormat?: PublicKeyFormat;
}

export interface KeysListOptions extends KeysFlags {
  readonly listNames?: boolean;
}

/** `keys list`: all keys, by name. */
export async function keysList(options: KeysListOptions, io: Io): Promise<void> {
  const keyring = cliKeyring(options, io);
  const keys = await keyring.list(({ message }) => io.err(`left out: ${message}\n`));
  tellPlace(options, keyring, io);
  if (options.listNames === true) {
    const names = keys.map(({ name }) => name);
    io.out(options.output === "json" ? JSON.stringify(names) : names.map((name) => `${printable(name)}\n`).join(""));
    return;
  }
  const outputs = keys.map((key) => keyOutput(key, options));
  if (options.output === "table" && keys.length > 0) {
    const rows = outputs.map(({ name, type, address }) => [printable(name), type, address]);
    return printTable(cutTable([["NAME", "TYPE", "ADDRESS"], ...rows], io.columns), io);
  }
  io.out(options.output === "json" ? JSON.stringify(outputs) : keysYaml(outputs));
}

/** The meaning of `os` depends on the session: a missing key may be in another place. */
function tellPlace({ keyringBackend }: KeysFlags, { backend, place }: Keyring, io: Io): void {
  // The user has already been told if "os" became "file".
  if (keyringBackend === "os" && backend === "os") io.err(`keyring backend "os" keeps keys in ${place}\n`);
}

export interface KeysShowOptions extends KeysFlags {
  /** Names or addresses; several show the multisig that they would make. */
  readonly names: readonly string[];
  /** `-a`: the address alone. */
  readonly address?: boolean;
  /** `-p`: the public key alone. */
  readonly pubkey?: boolean;
  /** `--bech`: `acc`, `val` or `cons`. */
  readonly bech?: string;
  readonly multisigThreshold?: number;
  /** `-d`: the address is shown on the device that holds the key, to be compared. */
  readonly device?: boolean;
  /** `--ledger-transport`. */
  readonly ledgerTransport?: string;
  /** Whether `--output` was written by the user. */
  readonly outputGiven?: boolean;
}

/** `keys show NAME_OR_ADDRESS...`. */
export async function keysShow(options: KeysShowOptions, io: Io): Promise<void> {
  const single = options.address === true || options.pubkey === true;
  if (options.address === true && options.pubkey === true) {
    throw usageError("cannot use both --address and --pubkey at once");
  }
  if (single && options.outputGiven === true) throw usageError("cannot use --output with --address or --pubkey");
  if (options.device === true) checkDevice(options);
  const style: KeyStyle = options;
  const keyring = cliKeyring(options, io);
  const keys: KeyInfo[] = [];
  // One after the other, because the first may ask for the passphrase.
  for (const name of options.names) keys.push(await findKey(keyring, name, options));
  const key = combine(keys, options.multisigThreshold ?? 1);
  if (options.device === true) await compareOnDevice(options, key, io);
  if (!single) {
    printKey(key, options, io);
    return;
  }
  const { address, pubkey } = keyTexts(key.publicKey, style);
  io.out(`${options.address === true ? address : pubkey}\n`);
}

function checkDevice({ pubkey, bech = "acc" }: KeysShowOptions): void {
  if (pubkey === true) throw usageError("the device flag (-d) can only be used for addresses not pubkeys");
  if (bech !== "acc") throw usageError("the device flag (-d) can only be used for accounts");
}

/** Nothing is printed until the user has confirmed on the device that the addresses agree. */
async function compareOnDevice(options: KeysShowOptions, key: KeyInfo, io: Io): Promise<void> {
  if (key.type !== "ledger") {
    const where = `"${key.name}" is ${key.type}`;
    throw usageError(`the device flag (-d) can only be used for accounts stored in devices, ${where}`);
  }
  const { showOnDevice } = await import("./ledger.ts");
  await showOnDevice(options, key, io);
}

export interface KeysDeleteOptions extends KeysFlags {
  readonly names: readonly string[];
  readonly yes?: boolean;
}

/** `keys delete NAME...`: each after its own confirmation. */
export async function keysDelete(options: KeysDeleteOptions, io: Io): Promise<void> {
  const keyring = cliKeyring(options, io);
  for (const name of options.names) {
    const key = await findKey(keyring, name, options);
    if (options.yes !== true && !(await io.confirm("Key reference will be deleted. Continue?"))) continue;
    await keyring.delete(key.name);
    const reference = key.type === "ledger" || key.type === "offline";
    io.err(reference ? "Public key reference deleted\n" : "Key deleted forever (uh oh!)\n");
  }
}

export interface KeysRenameOptions extends KeysFlags {
  readonly name: string;
  readonly newName: string;
  readonly yes?: boolean;
}

/** `keys rename OLD NEW`. */
export async function keysRename(options: KeysRenameOptions, io: Io): Promise<void> {
  const { name, newName } = options;
  const keyring = cliKeyring(options, io);
  await findKey(keyring, name, options);
  const question = `Key reference will be renamed from ${name} to ${newName}. Continue?`;
  if (options.yes !== true && !(await io.confirm(question))) return;
  await keyring.rename(name, newName);
  io.err(`Key was successfully renamed from ${name} to ${newName}\n`);
}

export interface KeysMigrateOptions extends KeysFlags {
  /** `--to`. */
  readonly form: RecordForm;
}

/** `keys migrate`: records in the current form, or in the one that older tools read. */
export async function keysMigrate(options: KeysMigrateOptions, io: Io): Promise<void> {
  const migrated = [...(await cliKeyring(options, io).migrate(options.form))];
  for (const name of migrated) io.err(`Successfully migrated key ${name}.info.\n`);
  const isJson = options.output === "json";
  io.out(isJson ? `${JSON.stringify({ migrated })}\n` : "Keys migration has been successfully executed.\n");
}

/** Databases of keys of releases before 0.40 were named here. Their tools are gone; the keys in them are not. */
export function refuseOldKeybase(dir: string): SvcError {
  const ways =
    "svc keys add NAME --recover takes its phrase, svc keys import NAME FILE an armor that the old tool exports";
  const text = `${dir}: key databases from before release 0.40 cannot be read; keys migrate rewrites the keyring itself`;
  return commandError(text, { hint: `bring each key over: ${ways}` });
}

/** Prints one key: a YAML list of one item, or a JSON object. */
export function printKey(key: KeyInfo, options: KeysFlags & KeyStyle, io: Io): void {
  const output = keyOutput(key, options);
  io.out(options.output === "json" ? `${JSON.stringify(output)}\n` : keysYaml([output]));
}

/**
 * The key of a name or address; the error says why the text is not an address, and which keys exist.
 */
export async function findKey(keyring: Keyring, nameOrAddress: string, flags: KeysFlags): Promise<KeyInfo> {
  try {
    return await keyring.get(nameOrAddress);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== sdkErrors.keyNotFound.code || error.codespace !== "sdk")
      throw error;
    throw sdkErrors.keyNotFound(whatIsMissing(nameOrAddress, flags.prefix), { hint: await keysThere(keyring, flags) });
  }
}

function whatIsMissing(nameOrAddress: string, prefix?: string): string {
  const text = `${nameOrAddress} is not a valid name or address`;
  if (!looksLikeAddress(nameOrAddress)) return text;
  const fault = addressFault(nameOrAddress, prefix);
  return fault === undefined ? `no key has the address ${nameOrAddress}` : `${text}: ${fault}`;
}

/** Names of keys are rarely that long, and rarely have a digit 1 before that many letters. */
function looksLikeAddress(text: string): boolean {
  return /^[a-z]+1[a-z0-9]{20,}$/i.test(text);
}

/** Where the key was looked for, and which keys exist. Nothing that needs a passphrase is decrypted. */
export async function keysThere(keyring: Keyring, { home, keyringDir, keyringService }: KeysFlags): Promise<string> {
  const inFiles = ["file", "test", "memory"].includes(keyring.backend);
  const where = inFiles ? `in ${keyringDir ?? home}` : `of ${keyringService ?? KEYRING_SERVICE}`;
  const place = `the keyring ${where} (--keyring-backend ${keyring.backend})`;
  if (keyring.backend === "os" && existsSync(join(keyringDir ?? home, "keyring-file")))
    return `${place} does not have it; ${keyringDir ?? home} also has keys of --keyring-backend file`;
  if (keyring.backend !== "test") return `${place} is listed by: svc keys list`;
  const names = (await keyring.list(() => undefined)).map(({ name }) => name);
  if (names.length > 0) return `${place} holds ${names.join(", ")}`;
  return `${place} is empty: make a key with svc keys add, or name another keyring with --home and --keyring-backend`;
}

function addressFault(text: string, prefix?: string): string | undefined {
  try {
    decodeAddress(text, "account", prefix);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** The keys as members of a multisig; each must be a single key. */
export function memberKeys(keys: readonly KeyInfo[]): SinglePublicKey[] {
  return keys.map(({ name, publicKey }) => {
    if (publicKey.type === "multisig")
      throw usageError(`key "${name}" is a multisig and cannot be a member of another`);
    return publicKey;
  });
}

/** The key of a multisig; a threshold that cannot be met is refused with the remedy. */
export function thresholdKey(threshold: number, keys: readonly SinglePublicKey[]): MultisigPublicKey {
  try {
    return multisigPublicKey(threshold, keys);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const hint = `give --multisig-threshold from 1 to ${keys.length}`;
    throw new SvcError(error.codespace, error.code, error.message, { hint, cause: error });
  }
}

function combine(keys: readonly KeyInfo[], threshold: number): KeyInfo {
  const [key] = keys;
  if (key === undefined) throw usageError("name at least one key");
  if (keys.length === 1) return key;
  const publicKey = thresholdKey(threshold, memberKeys(keys));
  return { name: "multi", type: "multi", publicKey, address: publicKeyAddress(publicKey) };
}
