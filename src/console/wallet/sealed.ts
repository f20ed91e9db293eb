import { argon2id } from "@noble/hashes/argon2.js";
import * as v from "valibot";
import { publicKeyOf, randomBytes } from "../../crypto/index.ts";
import { equalBytes, toUtf8 } from "../../util/index.ts";
import { encodeAddress, publicKeyAddress, secp256k1PublicKey } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";

/** Cost of a guess at a passphrase: KiB of memory and passes over it. */
export interface KdfCost {
  readonly memory: number;
  readonly passes: number;
}

/** The least that OWASP recommends for argon2id; about a second in a page, which has no WebAssembly. */
export const KDF_COST: KdfCost = { memory: 19 * 1024, passes: 2 };
/** Bytes of the derived key. */
const KEY_LENGTH = 32;

export interface KdfRequest {
  readonly passphrase: string;
  readonly salt: Uint8Array;
  readonly cost: KdfCost;
}

/** The key of a passphrase. */
export function deriveKey({ passphrase, salt, cost }: KdfRequest): Uint8Array {
  const { memory: m, passes: t } = cost;
  return argon2id(toUtf8(passphrase.normalize("NFKC")), salt, { m, t, p: 1, dkLen: KEY_LENGTH });
}

const SALT_LENGTH = 16;
const NONCE_LENGTH = 12;
/** Characters of a passphrase. */
export const MIN_PASSPHRASE = 8;
/** A record of the browser's storage must not make the page use all memory or time. */
const MAX_MEMORY = 256 * 1024;
const MAX_PASSES = 16;

const bytes = v.custom<Uint8Array>((value) => value instanceof Uint8Array);
const cost = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));

/** A private key under a passphrase, as the browser stores it. The address is authenticated with it. */
const sealedKey = v.object({
  version: v.literal(1),
  name: v.string(),
  address: v.string(),
  publicKey: bytes,
  salt: bytes,
  cost: v.object({ memory: cost(MAX_MEMORY), passes: cost(MAX_PASSES) }),
  nonce: bytes,
  sealed: bytes,
});
export type SealedKey = v.InferOutput<typeof sealedKey>;

/** Makes the key of a passphrase. */
export type Derive = (request: KdfRequest) => Promise<Uint8Array>;

/** The keys of stored records. One that cannot be read hides no other; throws `walletErrors.stored` if none can be. */
export function readSealedKeys(records: readonly unknown[]): SealedKey[] {
  const read = records.map((record) => v.safeParse(sealedKey, record));
  const keys = read.flatMap(({ success, output }) => (success ? [output] : []));
  if (keys.length === 0 && records.length > 0) throw walletErrors.stored("the record of a key cannot be read");
  return keys;
}

export interface SealOptions {
  readonly name: string;
  readonly passphrase: string;
  readonly derive: Derive;
}

/** Encrypts a private key by AES-GCM under a passphrase. Rejects with `walletErrors.weak`. */
export async function sealKey(privateKey: Uint8Array, { name, passphrase, derive }: SealOptions): Promise<SealedKey> {
  if (passphrase.length < MIN_PASSPHRASE)
    throw walletErrors.weak(`${passphrase.length} of at least ${MIN_PASSPHRASE} characters`);
  const publicKey = secp256k1PublicKey(publicKeyOf(privateKey));
  const address = encodeAddress(publicKeyAddress(publicKey), "account");
  const salt = randomBytes(SALT_LENGTH);
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = { name: "AES-GCM", iv: nonce, additionalData: associated(address) };
  const key = await cipherKey(await derive({ passphrase, salt, cost: KDF_COST }), "encrypt");
  const sealed = new Uint8Array(await crypto.subtle.encrypt(cipher, key, privateKey.slice()));
  return { version: 1, name, address, publicKey: publicKey.key, salt, cost: { ...KDF_COST }, nonce, sealed };
}

/** The private key. Rejects with `walletErrors.passphrase`, also if the record was changed. */
export async function unsealKey(
  { address, publicKey, salt, cost, nonce, sealed }: SealedKey,
  { passphrase, derive }: Pick<SealOptions, "passphrase" | "derive">,
): Promise<Uint8Array> {
  const key = await cipherKey(await derive({ passphrase, salt, cost }), "decrypt");
  const cipher = { name: "AES-GCM", iv: nonce.slice(), additionalData: associated(address) };
  const opened = await crypto.subtle.decrypt(cipher, key, sealed.slice()).catch(() => undefined);
  const privateKey = new Uint8Array(opened ?? []);
  if (opened === undefined || !equalBytes(publicKeyOf(privateKey), publicKey)) throw walletErrors.passphrase();
  return privateKey;
}

function cipherKey(bytes: Uint8Array, use: "encrypt" | "decrypt") {
  if (globalThis.crypto.subtle === undefined)
    throw walletErrors.stored("this page was not loaded over https or from this machine");
  return crypto.subtle.importKey("raw", bytes.slice(), "AES-GCM", false, [use]);
}

function associated(address: string) {
  return toUtf8(`svc console key 1 ${address}`).slice();
}
