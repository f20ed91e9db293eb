import { decryptKeyArmor, encryptKeyArmor, generateMnemonic, isPrivateKey, sha256 } from "../../crypto/index.ts";
import {
  checkKeyName,
  type Keyring,
  MIN_PASSPHRASE,
  newPassphraseFault,
  passphraseForms,
} from "../../keyring/index.ts";
import { errorText, fromHex, SvcError, toHex, toHexUpper, toUtf8, trimSpace } from "../../util/index.ts";
import { type Bech32Kind, bech32Prefix, encodeBech32, parseBech32 } from "../../wire/index.ts";
import { cliKeyring, newSecret } from "../context/keyring.ts";
import { commandError, usageError } from "../errors.ts";
import { readTextFile } from "../terminal/files.ts";
import type { Io } from "../terminal/io.ts";
import { findKey, type KeysFlags } from "./keys.ts";
import { yamlText } from "./record.ts";

/** Characters that 256 bits of entropy need in base 64. */
const MIN_ENTROPY_TEXT = 43;

export interface KeysExportOptions extends KeysFlags {
  readonly name: string;
  readonly unarmoredHex?: boolean;
  readonly unsafe?: boolean;
  readonly yes?: boolean;
}

/** `keys export NAME`: the private key, encrypted under a passphrase. */
export async function keysExport(options: KeysExportOptions, io: Io): Promise<void> {
  if ((options.unarmoredHex === true) !== (options.unsafe === true)) {
    throw usageError("the flags unsafe and unarmored-hex must be used together", "give both, or neither");
  }
  const keyring = cliKeyring(options, io);
  // A missing key is reported before asking for a passphrase. An existing key is opened after the questions, as scripts
  // answer them in this order.
  if (!(await keyring.has(options.name))) await findKey(keyring, options.name, options);
  const open = () => privateKeyOf(keyring, options);
  if (options.unarmoredHex === true) return exportHex(options, open, io);
  const passphrase = await newSecret("Enter passphrase to encrypt the exported key:", io);
  const fault = newPassphraseFault(passphrase);
  if (fault !== undefined) throw commandError(fault, { hint: "type another one" });
  io.out(`${await encryptKeyArmor(await open(), passphrase)}\n`);
}

async function exportHex({ yes }: KeysExportOptions, open: () => Promise<Uint8Array>, io: Io): Promise<void> {
  const warning =
    "WARNING: The private key will be exported as an unarmored hexadecimal string. USE AT YOUR OWN RISK. Continue?";
  if (yes !== true && !(await io.confirm(warning))) return;
  io.out(`${toHex(await open())}\n`);
}

async function privateKeyOf(keyring: Keyring, options: KeysExportOptions): Promise<Uint8Array> {
  const { name } = await findKey(keyring, options.name, options);
  return keyring.exportPrivateKey(name);
}

export interface KeysImportOptions extends KeysFlags {
  readonly name: string;
  /** Path of the armored text. */
  readonly file: string;
}

/** `keys import NAME FILE`: prints nothing when all went well. */
export async function keysImport(options: KeysImportOptions, io: Io): Promise<void> {
  const { name, file } = options;
  checkKeyName(name);
  const armor = readTextFile(file, ARMOR_FILE);
  const passphrase = await io.password("Enter passphrase to decrypt your key:");
  checkLength(passphrase);
  const privateKey = await decrypt(armor, passphrase, file);
  await storeNew(cliKeyring(options, io), name, privateKey);
}

export interface KeysImportHexOptions extends KeysFlags {
  readonly name: string;
}

/** `keys import-hex NAME`: reads the 64 digits without echo. Prints nothing when all went well. */
export async function keysImportHex(options: KeysImportHexOptions, io: Io): Promise<void> {
  const { name } = options;
  if (HEX_KEY.test(name)) {
    throw usageError("<name> is a private key, which is never an argument", "give a name: svc keys import-hex alice");
  }
  checkKeyName(name);
  const privateKey = parsePrivateKey(await io.password("Enter hex private key:"));
  await storeNew(cliKeyring(options, io), name, privateKey);
}

/** A private key in hexadecimal. */
const HEX_KEY = /^(?:0x)?([0-9a-f]{64})$/i;

/** The text itself is never repeated. */
function parsePrivateKey(text: string): Uint8Array {
  const digits = HEX_KEY.exec(text.trim())?.[1];
  const key = digits === undefined ? undefined : fromHex(digits);
  if (key === undefined || !isPrivateKey(key)) {
    throw commandError("the private key is not valid", { hint: "give the 64 hexadecimal digits of a secp256k1 key" });
  }
  return key;
}

async function storeNew(keyring: Keyring, name: string, privateKey: Uint8Array): Promise<void> {
  if ((await keyring.find(name)) !== undefined) {
    throw commandError(`cannot overwrite key: ${name}`, { hint: "choose another name, or delete that key first" });
  }
  await keyring.addLocal(name, privateKey);
}

const ARMOR_HINT = "give a file as svc keys export prints it, whole and unchanged";
const ARMOR_FILE = { what: "key file", maxBytes: 64 * 1024, hint: ARMOR_HINT };

/** White space at the end of a piped line may or may not have been part of the passphrase when the armor was made. */
async function decrypt(armor: string, line: string, file: string): Promise<Uint8Array> {
  let wrong: unknown;
  for (const passphrase of passphraseForms(line)) {
    try {
      return await decryptKeyArmor(armor, passphrase);
    } catch (error) {
      if (!(error instanceof SvcError))
        throw commandError(`key file ${file}: ${errorText(error)}`, { hint: ARMOR_HINT, cause: error });
      wrong ??= error.wrap("failed to decrypt private key");
    }
  }
  throw wrong;
}

function checkLength(passphrase: string): void {
  if (toUtf8(passphrase).length >= MIN_PASSPHRASE) return;
  throw commandError(`password must be at least ${MIN_PASSPHRASE} characters`, { hint: "type a longer one" });
}

export interface KeysParseOptions {
  /** Bech32 or hexadecimal. */
  readonly text: string;
  readonly output?: "text" | "json";
  readonly prefix?: string;
}

const FORMATS: readonly Bech32Kind[] = ["account", "accountPub", "valoper", "valoperPub", "valcons", "valconsPub"];

/** `keys parse TEXT`: the parts of a bech32 text, or all bech32 forms of hexadecimal bytes. */
export function keysParse({ text, output = "text", prefix }: KeysParseOptions, io: Io): void {
  const hex = /^(?:0x)?((?:[0-9a-fA-F]{2})+)$/.exec(text.trim())?.[1];
  if (hex !== undefined) {
    const formats = FORMATS.map((kind) => encodeBech32(fromHex(hex), bech32Prefix(kind, prefix)));
    io.out(
      output === "json" ? `${JSON.stringify({ formats })}\n` : `formats:\n${formats.map((f) => `- ${f}\n`).join("")}\n`,
    );
    return;
  }
  const { human, bytes } = parseAnyBech32(text.trim());
  io.out(
    output === "json"
      ? `${JSON.stringify({ human, bytes })}\n`
      : `human: ${yamlText(human)}\nbytes: ${hexScalar(bytes)}\n\n`,
  );
}

function parseAnyBech32(text: string): { human: string; bytes: string } {
  try {
    const { humanPart, bytes } = parseBech32(text);
    return { human: humanPart, bytes: toHexUpper(bytes) };
  } catch (cause) {
    throw commandError("couldn't find valid bech32 nor hex data", {
      hint: "give an address, a key or hexadecimal digits",
      cause,
    });
  }
}

/** Hexadecimal without letters, or with an E in the right place, would read as a number. */
function hexScalar(hex: string): string {
  return /^\d+(E\d+)?$/.test(hex) || hex === "" ? JSON.stringify(hex) : hex;
}

export interface KeysMnemonicOptions {
  readonly unsafeEntropy?: boolean;
  readonly output?: "text" | "json";
  readonly yes?: boolean;
}

/** `keys mnemonic`: a fresh phrase of 24 words, or the one of entropy that the user enters. */
export async function keysMnemonic(options: KeysMnemonicOptions, io: Io): Promise<void> {
  const { unsafeEntropy, yes, output } = options;
  const print = (mnemonic: string): void =>
    io.out(output === "json" ? `${JSON.stringify({ mnemonic })}\n` : `${mnemonic}\n`);
  if (unsafeEntropy !== true) return print(await generateMnemonic());
  const line = await io.ask("WARNING: Generate at least 256-bits of entropy and enter the results here:");
  const entropy = trimSpace(line);
  if (entropy.length < MIN_ENTROPY_TEXT) {
    throw commandError(
      `256-bits is 43 characters in Base-64, and 100 in Base-6. You entered ${entropy.length}, and probably want more`,
      { hint: "throw dice, or leave out --unsafe-entropy" },
    );
  }
  if (yes !== true && !(await io.confirm(`> Input length: ${entropy.length}`))) return;
  print(await generateMnemonic(sha256(toUtf8(entropy))));
}
