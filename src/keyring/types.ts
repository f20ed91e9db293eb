import type { SvcError } from "../util/index.ts";
import type { PublicKey } from "../wire/index.ts";

/** How a key is held: its private half here, on a hardware device, nowhere, or shared between several keys. */
export type KeyType = "local" | "ledger" | "offline" | "multi";

/** The public side of a key. */
export interface KeyInfo {
  readonly name: string;
  readonly type: KeyType;
  readonly publicKey: PublicKey;
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** Where the key is on its hardware device; only for type `ledger`. */
  readonly path?: DevicePath;
}

/** Facts about a key that need no decryption. */
export interface KeyOutline {
  /** In byte order. */
  readonly names: readonly string[];
  /** 20 bytes each; not in the order of the names. */
  readonly addresses: readonly Uint8Array[];
}

/** Derivation path of a key on a hardware device: `m/purpose'/coinType'/account'/change/index`. */
export interface DevicePath {
  readonly purpose: number;
  readonly coinType: number;
  readonly account: number;
  readonly change: boolean;
  readonly index: number;
}

/** The stored form of a key. */
export type KeyRecord =
  | { readonly type: "local"; readonly name: string; readonly publicKey: PublicKey; readonly privateKey: Uint8Array }
  | { readonly type: "ledger"; readonly name: string; readonly publicKey: PublicKey; readonly path: DevicePath }
  | { readonly type: "offline" | "multi"; readonly name: string; readonly publicKey: PublicKey };

/** How records are written: as protobuf, or in the form that tools of the era before read. */
export type RecordForm = "proto" | "amino";

/**
 * A set of named keys. One name and one address stand for one key. Methods reject with `sdkErrors.keyNotFound`,
 * `sdkErrors.wrongPassword` or one of `keyringErrors`.
 */
export interface Keyring {
  /** Name of the back end in use, for messages. */
  readonly backend: string;
  /** Where the keys are, for messages: known once they have been looked for. */
  readonly place: string;
  /**
   * All keys, by name in byte order. A record that cannot be read (another tool may keep kinds of keys that are unknown
   * here) is left out and reported to `onUnreadable`; without it the list fails.
   */
  list(onUnreadable?: (fault: SvcError) => void): Promise<KeyInfo[]>;
  /** The key of a name or of an address (bech32 of the keyring's network). */
  get(nameOrAddress: string): Promise<KeyInfo>;
  /** Like `get`; undefined if there is no such key. */
  find(nameOrAddress: string): Promise<KeyInfo | undefined>;
  /** Whether there is an item of that name or address; asks for no passphrase and opens nothing. */
  has(nameOrAddress: string): Promise<boolean>;
  /** Names and addresses of the keys as the names of items tell them; asks for no passphrase and opens nothing. */
  outline(): Promise<KeyOutline>;
  /** Adds a secp256k1 private key. */
  addLocal(name: string, privateKey: Uint8Array): Promise<KeyInfo>;
  /** Adds only a public key. */
  addOffline(name: string, publicKey: PublicKey): Promise<KeyInfo>;
  addMultisig(name: string, publicKey: PublicKey): Promise<KeyInfo>;
  addLedger(name: string, publicKey: PublicKey, path: DevicePath): Promise<KeyInfo>;
  rename(name: string, newName: string): Promise<KeyInfo>;
  delete(nameOrAddress: string): Promise<void>;
  /** 64 bytes R||S over SHA-256 of the bytes, by a local key. */
  sign(nameOrAddress: string, bytes: Uint8Array): Promise<Uint8Array>;
  /** The 32 bytes of a local key. */
  exportPrivateKey(nameOrAddress: string): Promise<Uint8Array>;
  /** Rewrites every record of another form; returns the names of the keys. */
  migrate(form: RecordForm): Promise<string[]>;
}

/** Where items of a keyring are kept. Keys of items are `<name>.info` and `<address>.address`. */
export interface ItemStore {
  /** Name of the back end in use, for messages. */
  readonly backend: string;
  /** Where the items are, for messages; empty until that is known. */
  readonly place: string;
  /** True once the way to the items is gone, so that it must be opened again. */
  readonly isLost?: boolean;
  keys(): Promise<string[]>;
  read(key: string): Promise<Uint8Array | undefined>;
  /** Stores a new item; false when there is one already. Durable when it resolves. */
  create(key: string, data: Uint8Array): Promise<boolean>;
  /** Stores or replaces an item, in one step. */
  write(key: string, data: Uint8Array): Promise<void>;
  remove(key: string): Promise<void>;
}
