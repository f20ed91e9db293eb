import { type PreparedTx, privateKeySigner, type TxSigner } from "../../client/index.ts";
import {
  decryptKeyArmor,
  derivePrivateKey,
  encryptKeyArmor,
  mnemonicToSeed,
  type SessionConsent,
} from "../../crypto/index.ts";
import { DEFAULT_HD_PATH } from "../../util/index.ts";
import { directSignBytes, SignMode, type SinglePublicKey, secp256k1PublicKey } from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import { type Derive, type SealedKey, unsealKey } from "./sealed.ts";
import { askedParts, directTx } from "./signed.ts";
import { checkChain, type Wallet } from "./wallet.ts";

/** Time without a signature after which an unlocked key is forgotten. */
export const FORGET_MS = 15 * 60_000;

/** The private key of a recovery phrase, at the path of accounts. Rejects with `invalid mnemonic`. */
export async function keyOfPhrase(phrase: string): Promise<Uint8Array> {
  return derivePrivateKey(await mnemonicToSeed(phrase), DEFAULT_HD_PATH);
}

/** The private key of an armor, as `svc keys export` and the tools of the ecosystem write it. */
export function keyOfArmor(armor: string, passphrase: string): Promise<Uint8Array> {
  return decryptKeyArmor(armor, passphrase);
}

/** A key that the browser stores under a passphrase. It signs while it is unlocked. */
export class LocalWallet implements Wallet {
  readonly kind = "local";
  readonly lacks = {};
  readonly signMode = SignMode.DIRECT;
  readonly name: string;
  readonly address: string;
  readonly publicKey: SinglePublicKey;
  readonly chainId: string;
  readonly text: SessionConsent;
  readonly #sealed: SealedKey;
  readonly #derive: Derive;
  readonly #listeners = new Set<() => void>();
  #open: { readonly key: Uint8Array; readonly signer: TxSigner; until: number } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(sealed: SealedKey, { chainId, derive }: { readonly chainId: string; readonly derive: Derive }) {
    this.#sealed = sealed;
    this.#derive = derive;
    this.chainId = chainId;
    this.name = sealed.name;
    this.address = sealed.address;
    this.publicKey = secp256k1PublicKey(sealed.publicKey);
    this.text = { algorithm: "ES256K", sign: (bytes) => this.#sign(bytes) };
  }

  get isLocked(): boolean {
    return this.#open === undefined || Date.now() >= this.#open.until;
  }

  /** Rejects with `walletErrors.passphrase`. */
  async unlock(passphrase: string): Promise<void> {
    const key = await unsealKey(this.#sealed, { passphrase, derive: this.#derive });
    this.lock();
    this.#open = { key, signer: privateKeySigner(key), until: 0 };
    this.#prolong(this.#open);
    this.#tell();
  }

  /** Forgets the private key. */
  lock(): void {
    clearTimeout(this.#timer);
    const open = this.#open;
    if (open === undefined) return;
    open.key.fill(0);
    this.#open = undefined;
    this.#tell();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async signTx(tx: PreparedTx): Promise<Uint8Array> {
    checkChain(this, tx);
    const direct = { ...tx, signMode: this.signMode };
    const parts = askedParts(direct, this.publicKey);
    const signature = await this.#sign(directSignBytes(parts, tx.signer));
    return directTx(direct, this.publicKey, { parts, given: { key: this.publicKey.key, signature } });
  }

  /** The key under another passphrase, for other tools. It asks for the key's own, also while the key is unlocked. */
  async exportArmor(passphrase: string, armorPassphrase: string): Promise<string> {
    const key = await unsealKey(this.#sealed, { passphrase, derive: this.#derive });
    try {
      return await encryptKeyArmor(key, armorPassphrase);
    } finally {
      key.fill(0);
    }
  }

  async #sign(bytes: Uint8Array): Promise<Uint8Array> {
    // A machine that slept has run no timers.
    if (this.isLocked) this.lock();
    if (this.#open === undefined) throw walletErrors.locked();
    this.#prolong(this.#open);
    return this.#open.signer.sign(bytes, this.signMode);
  }

  #prolong(open: { until: number }): void {
    open.until = Date.now() + FORGET_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lock(), FORGET_MS);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
