import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createFile, errorText, readFileText, replaceFile, SvcError } from "../../util/index.ts";
import { keyringErrors } from "../errors.ts";
import { checkDirectory, checkSecretFile, isErrno, prepareDirectory, removeFile } from "../files.ts";
import { decryptItem, encryptItem, MAX_ITEM } from "../jwe.ts";
import { askExisting, askNew, hashPassphrase, matchesHash, type PassphraseSource } from "../passphrase.ts";
import type { ItemStore } from "../types.ts";
import { decodeItemJson, encodeItemJson } from "./item-json.ts";

const KEYHASH = "keyhash";
const MAX_KEYHASH = 1024;
/** Bytes; most file systems take no more. */
const MAX_FILE_NAME = 255;
/** Other files in the directory are temporary or belong to editors. */
const ITEM = /\.(?:info|address)$/;
/** Characters that a file name cannot hold, and the escape mark; other tools escape in the same way. */
const ESCAPED = process.platform === "win32" ? /[%/\\]/g : /[%/]/g;
/** The passphrase of the back end `test`, which everybody knows. */
const TEST_PASSPHRASE = "test";

/** Names that `--keyring-kdf` takes. */
export const KEYRING_KDFS = ["standard", "strong"] as const;
export type KeyringKdf = (typeof KEYRING_KDFS)[number];

/**
 * Work of one guess at the passphrase: rounds of PBKDF2 for an item, cost of bcrypt for the `keyhash`. The standard
 * equals the ecosystem's tools; they can also read the strong one, which takes about 0.3 s for either.
 */
const WORK: Readonly<Record<KeyringKdf, { readonly rounds: number; readonly cost: number }>> = {
  standard: { rounds: 8192, cost: 10 },
  strong: { rounds: 600_000, cost: 12 },
};

/** Items as encrypted files of one directory, one file per item. */
export class FileItems implements ItemStore {
  readonly backend: string;
  readonly #dir: string;
  readonly #work: { readonly rounds: number; readonly cost: number };
  readonly #unlock: () => Promise<string>;
  #passphrase: Promise<string> | undefined;

  /** Without a source of passphrases the directory belongs to the back end `test`. */
  constructor(dir: string, source?: PassphraseSource, kdf: KeyringKdf = "standard") {
    this.#work = WORK[kdf];
    this.backend = source === undefined ? "test" : "file";
    this.#dir = dir;
    this.#unlock = source === undefined ? async () => TEST_PASSPHRASE : () => this.#askPassphrase(source);
  }

  get place(): string {
    return `files of ${this.#dir}`;
  }

  async keys(): Promise<string[]> {
    checkDirectory(this.#dir);
    try {
      const names = readdirSync(this.#dir);
      return names.filter((name) => ITEM.test(name)).map(itemKey);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const path = this.#path(key);
    if (!isFileName(itemFile(key)) || !checkSecretFile(path)) return undefined;
    const text = readItem(path);
    return decodeItem(path, text, await this.#secret());
  }

  async create(key: string, data: Uint8Array): Promise<boolean> {
    return createFile(this.#path(key), await this.#encodeItem(key, data));
  }

  async write(key: string, data: Uint8Array): Promise<void> {
    replaceFile(this.#path(key), await this.#encodeItem(key, data));
  }

  async remove(key: string): Promise<void> {
    removeFile(this.#path(key));
  }

  #path(key: string): string {
    return join(this.#dir, itemFile(key));
  }

  /** The passphrase, asked for once; a failed attempt is not remembered. */
  #secret(): Promise<string> {
    this.#passphrase ??= this.#unlock().catch((error: unknown) => {
      this.#passphrase = undefined;
      throw error;
    });
    return this.#passphrase;
  }

  async #encodeItem(key: string, data: Uint8Array): Promise<string> {
    // Nothing is created before there is a passphrase.
    checkDirectory(this.#dir);
    const passphrase = await this.#secret();
    prepareDirectory(this.#dir);
    const created = `${new Date().toISOString().replace("T", " ").replace("Z", "")} +0000 UTC`;
    return encryptItem(encodeItemJson(key, data), passphrase, { created, rounds: this.#work.rounds });
  }

  async #askPassphrase(source: PassphraseSource): Promise<string> {
    const path = join(this.#dir, KEYHASH);
    const hash = readHash(path);
    if (hash !== undefined) {
      const passphrase = await askExisting(source, (answer) => matchesHash(answer, hash));
      await this.#strengthen(path, hash, passphrase);
      return passphrase;
    }
    const [item] = await this.keys();
    if (item !== undefined) return this.#restoreHash(item, source);
    const passphrase = await askNew(source);
    prepareDirectory(this.#dir);
    if (createFile(path, await hashPassphrase(passphrase, this.#work.cost))) return passphrase;
    // Another process was first: its passphrase applies.
    return askExisting(source, (answer) => matchesHash(answer, readHash(path) ?? ""));
  }

  /** A hash that is easier to guess than new items would be is replaced. */
  async #strengthen(path: string, hash: string, passphrase: string): Promise<void> {
    const { cost } = this.#work;
    if (Number(hash.slice(4, 6)) < cost) replaceFile(path, await hashPassphrase(passphrase, cost));
  }

  /** Items without their `keyhash`: a passphrase is right if it opens one of the items. */
  async #restoreHash(item: string, source: PassphraseSource): Promise<string> {
    const text = readItem(this.#path(item));
    const passphrase = await askExisting(source, async (answer) => opens(text, answer));
    createFile(join(this.#dir, KEYHASH), await hashPassphrase(passphrase, this.#work.cost));
    return passphrase;
  }
}

/** The hash of a passphrase is not a secret, and older tools leave it readable, so only its form is checked. */
function readHash(path: string): string | undefined {
  let hash: string;
  try {
    hash = readFileText(path, { maxBytes: MAX_KEYHASH }).trim();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    if (isErrno(error)) throw error;
    throw keyringErrors.damaged(errorText(error));
  }
  if (!/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash)) throw keyringErrors.damaged(path);
  return hash;
}

function readItem(path: string): string {
  try {
    return readFileText(path, { maxBytes: MAX_ITEM });
  } catch (error) {
    if (isErrno(error)) throw error;
    throw keyringErrors.damaged(`key file ${errorText(error)}`);
  }
}

async function opens(text: string, passphrase: string): Promise<boolean> {
  try {
    await decryptItem(text, passphrase);
    return true;
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
}

async function decodeItem(path: string, text: string, passphrase: string): Promise<Uint8Array> {
  let item: Uint8Array;
  try {
    item = await decryptItem(text, passphrase);
  } catch (error) {
    if (error instanceof SvcError) throw error.wrap(`key file ${path} was written under another passphrase`);
    throw keyringErrors.damaged(`key file ${path}: ${errorText(error)}`);
  }
  return decodeItemJson(item, `key file ${path}`);
}

/** Whether the name is valid as a file name; otherwise there is no such item. */
function isFileName(name: string): boolean {
  return Buffer.byteLength(name) <= MAX_FILE_NAME && !name.includes("\0");
}

function itemFile(key: string): string {
  return key.replace(ESCAPED, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function itemKey(fileName: string): string {
  return fileName.replace(/%(25|2F|5C)/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
