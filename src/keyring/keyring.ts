import { isPrivateKey, publicKeyOf, signSecp256k1 } from "../crypto/index.ts";
import {
  BECH32_PREFIX,
  compareBytes,
  errorText,
  fromHex,
  fromUtf8,
  SvcError,
  sdkErrors,
  toHex,
  toUtf8,
} from "../util/index.ts";
import { decodeAddress, isAddress, type PublicKey, publicKeyAddress } from "../wire/index.ts";
import { keyringErrors } from "./errors.ts";
import { checkKeyName } from "./names.ts";
import { decodeAminoRecord, decodeRecord, encodeAminoRecord, encodeRecord } from "./record/index.ts";
import type { DevicePath, ItemStore, KeyInfo, KeyOutline, KeyRecord, Keyring, RecordForm } from "./types.ts";

const INFO = ".info";
const ADDRESS = ".address";

/** Parts of a keyring. */
export interface KeyringParts {
  readonly items: ItemStore;
  /** Bech32 prefix of addresses given to `get`. */
  readonly prefix?: string;
}

/**
 * The keyring over any store of items: `<name>.info` holds the record, `<address>.address` the name of that item.
 * Records of both generations are read; new ones are written as protobuf.
 */
export class ItemKeyring implements Keyring {
  readonly #items: ItemStore;
  readonly #prefix: string;
  /** Private keys that have signed already: unlocking one costs milliseconds. */
  readonly #unlocked = new Map<string, Uint8Array>();

  constructor({ items, prefix = BECH32_PREFIX }: KeyringParts) {
    this.#items = items;
    this.#prefix = prefix;
  }

  get backend(): string {
    return this.#items.backend;
  }

  get place(): string {
    return this.#items.place;
  }

  async list(onUnreadable?: (fault: SvcError) => void): Promise<KeyInfo[]> {
    const keys = (await this.outline()).names.map((name) => name + INFO);
    // The first read asks for the passphrase; the others then run side by side.
    const [first, ...others] = keys;
    if (first === undefined) return [];
    const read = (key: string): Promise<KeyRecord | undefined> => this.#read(key).catch(passOver(onUnreadable));
    const records = [await read(first), ...(await Promise.all(others.map(read)))];
    return records.filter((record) => record !== undefined).map(infoOf);
  }

  async get(nameOrAddress: string): Promise<KeyInfo> {
    return infoOf(await this.#record(nameOrAddress));
  }

  async find(nameOrAddress: string): Promise<KeyInfo | undefined> {
    const record = await this.#findRecord(nameOrAddress);
    return record === undefined ? undefined : infoOf(record);
  }

  async has(nameOrAddress: string): Promise<boolean> {
    const items = await this.#items.keys();
    if (items.includes(nameOrAddress + INFO)) return true;
    if (!isAddress(nameOrAddress, "account", this.#prefix)) return false;
    return items.includes(toHex(decodeAddress(nameOrAddress, "account", this.#prefix)) + ADDRESS);
  }

  async outline(): Promise<KeyOutline> {
    const items = await this.#items.keys();
    const stems = (end: string): string[] =>
      items.filter((key) => key.endsWith(end)).map((key) => key.slice(0, -end.length));
    return {
      names: stems(INFO).sort((a, b) => compareBytes(toUtf8(a), toUtf8(b))),
      addresses: stems(ADDRESS).map(fromHex),
    };
  }

  async addLocal(name: string, privateKey: Uint8Array): Promise<KeyInfo> {
    if (!isPrivateKey(privateKey)) throw new Error("not a secp256k1 private key");
    const publicKey: PublicKey = { type: "secp256k1", key: publicKeyOf(privateKey) };
    return this.#add({ type: "local", name, publicKey, privateKey });
  }

  async addOffline(name: string, publicKey: PublicKey): Promise<KeyInfo> {
    return this.#add({ type: "offline", name, publicKey });
  }

  async addMultisig(name: string, publicKey: PublicKey): Promise<KeyInfo> {
    return this.#add({ type: "multi", name, publicKey });
  }

  async addLedger(name: string, publicKey: PublicKey, path: DevicePath): Promise<KeyInfo> {
    return this.#add({ type: "ledger", name, publicKey, path });
  }

  async rename(name: string, newName: string): Promise<KeyInfo> {
    const record = await this.#record(name);
    checkKeyName(newName);
    const renamed = { ...record, name: newName };
    if (!(await this.#items.create(newName + INFO, encodeRecord(renamed)))) throw keyringErrors.exists(newName);
    // The index moves to the new item before the old one goes, so that an interruption loses nothing.
    await this.#items.write(addressItem(record), toUtf8(newName + INFO));
    await this.#items.remove(record.name + INFO);
    this.#unlocked.clear();
    return infoOf(renamed);
  }

  async delete(nameOrAddress: string): Promise<void> {
    const record = await this.#record(nameOrAddress);
    await this.#items.remove(addressItem(record));
    await this.#items.remove(record.name + INFO);
    this.#unlocked.clear();
  }

  async sign(nameOrAddress: string, bytes: Uint8Array): Promise<Uint8Array> {
    const unlocked = this.#unlocked.get(nameOrAddress);
    if (unlocked !== undefined) return signSecp256k1(unlocked, bytes);
    const record = await this.#record(nameOrAddress);
    if (record.type !== "local") {
      throw keyringErrors.notLocal(`key "${record.name}" is of type ${record.type} and cannot sign here`);
    }
    const privateKey = privateKeyOf(record);
    this.#unlocked.set(nameOrAddress, privateKey);
    return signSecp256k1(privateKey, bytes);
  }

  async exportPrivateKey(nameOrAddress: string): Promise<Uint8Array> {
    const record = await this.#record(nameOrAddress);
    if (record.type !== "local") throw keyringErrors.notLocal();
    return privateKeyOf(record);
  }

  async migrate(form: RecordForm): Promise<string[]> {
    const migrated: string[] = [];
    for (const { name } of await this.list()) {
      const data = await this.#items.read(name + INFO);
      if (data === undefined || (decodeAminoRecord(data) === undefined ? "proto" : "amino") === form) continue;
      const record = decodeItem(name + INFO, data);
      await this.#items.write(name + INFO, form === "amino" ? encodeAminoRecord(record) : encodeRecord(record));
      migrated.push(name);
    }
    return migrated;
  }

  async #add(record: KeyRecord): Promise<KeyInfo> {
    checkKeyName(record.name);
    const sameAddress = await this.#findByAddress(publicKeyAddress(record.publicKey));
    if (sameAddress !== undefined) throw keyringErrors.exists(`the same key is stored as "${sameAddress.name}"`);
    if (!(await this.#items.create(record.name + INFO, encodeRecord(record)))) throw keyringErrors.exists(record.name);
    await this.#items.write(addressItem(record), toUtf8(record.name + INFO));
    return infoOf(record);
  }

  async #record(nameOrAddress: string): Promise<KeyRecord> {
    const record = await this.#findRecord(nameOrAddress);
    if (record === undefined) throw sdkErrors.keyNotFound(`${nameOrAddress.slice(0, 100)}${INFO}`);
    return record;
  }

  async #findRecord(nameOrAddress: string): Promise<KeyRecord | undefined> {
    const byName = await this.#read(nameOrAddress + INFO);
    if (byName !== undefined || !isAddress(nameOrAddress, "account", this.#prefix)) return byName;
    return this.#findByAddress(decodeAddress(nameOrAddress, "account", this.#prefix));
  }

  async #findByAddress(address: Uint8Array): Promise<KeyRecord | undefined> {
    const key = await this.#items.read(toHex(address) + ADDRESS);
    if (key === undefined) return undefined;
    const record = await this.#read(fromUtf8(key));
    // An index left by an interrupted deletion, or a false one, does not lead to a key of the address.
    return record !== undefined && toHex(publicKeyAddress(record.publicKey)) === toHex(address) ? record : undefined;
  }

  async #read(key: string): Promise<KeyRecord | undefined> {
    const data = await this.#items.read(key);
    return data === undefined ? undefined : decodeItem(key, data);
  }
}

/** Faults other than a record's own, such as a wrong passphrase or an open file, still end the list. */
function passOver(onUnreadable: ((fault: SvcError) => void) | undefined): (error: unknown) => undefined {
  return (error) => {
    const own = error instanceof SvcError && error.codespace === "keyring" && error.code === keyringErrors.damaged.code;
    if (!own || onUnreadable === undefined) throw error;
    onUnreadable(error);
  };
}

function decodeItem(key: string, data: Uint8Array): KeyRecord {
  let record: KeyRecord;
  try {
    record = decodeAminoRecord(data) ?? decodeRecord(data);
  } catch (error) {
    throw keyringErrors.damaged(`${key}: ${errorText(error)}`);
  }
  if (record.name + INFO !== key) throw keyringErrors.damaged(`${key} holds the key "${record.name}"`);
  return record;
}

type LocalRecord = Extract<KeyRecord, { type: "local" }>;

/** Compared when the key is used: a list of keys need not derive each key. */
function privateKeyOf(record: LocalRecord): Uint8Array {
  if (belongsTo(record)) return record.privateKey;
  throw keyringErrors.damaged(`${record.name}${INFO}: its two halves do not match`);
}

function belongsTo(record: LocalRecord): boolean {
  const { publicKey, privateKey } = record;
  return (
    publicKey.type === "secp256k1" &&
    isPrivateKey(privateKey) &&
    toHex(publicKeyOf(privateKey)) === toHex(publicKey.key)
  );
}

function addressItem(record: KeyRecord): string {
  return toHex(publicKeyAddress(record.publicKey)) + ADDRESS;
}

function infoOf(record: KeyRecord): KeyInfo {
  const { name, type, publicKey } = record;
  const info = { name, type, publicKey, address: publicKeyAddress(publicKey) };
  return record.type === "ledger" ? { ...info, path: record.path } : info;
}
