import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createFile, errorText, replaceFile, SvcError } from "../util/index.ts";
import { keyringErrors } from "./errors.ts";
import { checkDirectory, checkSecretFile, isErrno, prepareDirectory, removeFile } from "./files.ts";
import { decodeItemJson, encodeItemJson } from "./item-json.ts";
import { decryptItem, encryptItem } from "./jwe.ts";
import { askExisting, askNew, hashPassphrase, matchesHash, type PassphraseSource } from "./passphrase.ts";
import type { ItemStore } from "./types.ts";

const KEYHASH = "keyhash";
/** The passphrase of the back end `test`, known to everybody. */
const TEST_PASSPHRASE = "test";

/** Names that `--keyring-kdf` takes. */
export const KEYRING_KDFS = ["standard", "strong"] as const;
export type KeyringKdf = (typeof KEYRING_KDFS)[number];

/**
 * Work that a guess at the passphrase costs: rounds of PBKDF2 for an item, cost of bcrypt for the `keyhash`. The standard
 * is what the ecosystem's tools write; the strong one, some 0.3 s for either, they read as well.
 */
const WORK: Readonly<Record<KeyringKdf, { readonly rounds: number; readonly cost: number }>> = {
  standard: { rounds: 8192, cost: 10 },
  strong: { rounds: 600_000, cost: 12 },
};

/** Items as encrypted files of one directory, one file an item. */
export class FileItems implements ItemStore {
  readonly backend: string;
  readonly #dir: string;
  readonly #work: { readonly rounds: number; readonly cost: number };
  readonly #unlock: () => Promise<string>;
  #passphrase: Promise<string> | undefined;

  /** Without a source of passphrases the directory is one of the back end `test`. */
  constructor(dir: string, source?: PassphraseSource, kdf: KeyringKdf = "standard") {
    this.#work = WORK[kdf];
    this.backend = source === undefined ? "test" : "file";
    this.#dir = dir;
    this.#unlock = source === undefined ? async () => TEST_PASSPHRASE : () => this.#askPassphrase(source);
  }

  async keys(): Promise<string[]> {
    checkDirectory(this.#dir);
    try {
      const names = readdirSync(this.#dir);
      return names.filter((name) => !name.startsWith(".") && name !== KEYHASH).map(itemKey);
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
  }

  async read(key: string): Promise<Uint8Array | undefined> {
    const path = this.#path(key);
    if (!checkSecretFile(path)) return undefined;
    const text = readFileSync(path, "utf8");
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
    return join(this.#dir, key.replaceAll("/", "%2F"));
  }

  /** The passphrase, asked for once; a failed attempt does not stick. */
  #secret(): Promise<string> {
    this.#passphrase ??= this.#unlock().catch((error: unknown) => {
      this.#passphrase = undefined;
      throw error;
    });
    return this.#passphrase;
  }

  async #encodeItem(key: string, data: Uint8Array): Promise<string> {
    // Nothing is made before there is a passphrase.
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
    // Another process was first: its passphrase holds.
    return askExisting(source, (answer) => matchesHash(answer, readHash(path) ?? ""));
  }

  /** A hash that is easier to guess at than the items to come is made anew. */
  async #strengthen(path: string, hash: string, passphrase: string): Promise<void> {
    const { cost } = this.#work;
    if (Number(hash.slice(4, 6)) < cost) replaceFile(path, await hashPassphrase(passphrase, cost));
  }

  /** Items without their `keyhash`: a passphrase is right when it opens one of them. */
  async #restoreHash(item: string, source: PassphraseSource): Promise<string> {
    const text = readFileSync(this.#path(item), "utf8");
    const passphrase = await askExisting(source, async (answer) => opens(text, answer));
    createFile(join(this.#dir, KEYHASH), await hashPassphrase(passphrase, this.#work.cost));
    return passphrase;
  }
}

/** The hash of a passphrase is no secret, and older tools leave it readable, so only its form is checked. */
function readHash(path: string): string | undefined {
  let hash: string;
  try {
    hash = readFileSync(path, "latin1").trim();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
  if (!/^\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}$/.test(hash)) throw keyringErrors.damaged(path);
  return hash;
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

function itemKey(fileName: string): string {
  return fileName.replaceAll(/%2F/gi, "/");
}
