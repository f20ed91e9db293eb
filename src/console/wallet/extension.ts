import * as v from "valibot";
import type { PreparedTx } from "../../client/index.ts";
import { arbitraryDocument, type SessionConsent, verifySecp256k1 } from "../../crypto/index.ts";
import { equalBytes, errorText, fromBase64, fromUtf8, SvcError } from "../../util/index.ts";
import {
  encodeAddress,
  publicKeyAddress,
  SignMode,
  type SinglePublicKey,
  secp256k1PublicKey,
} from "../../wire/index.ts";
import { walletErrors } from "./errors.ts";
import {
  EXTENSIONS,
  type Extension,
  type ExtensionHost,
  type ExtensionName,
  type ExtensionSigner,
  extensionOf,
} from "./found.ts";
import { aminoTx, askedParts, directTx, type GivenSignature } from "./signed.ts";
import { checkChain, type Wallet } from "./wallet.ts";

const bytes = v.custom<Uint8Array>((value) => value instanceof Uint8Array);
const key = v.object({ name: v.string(), pubKey: bytes, bech32Address: v.string() });
const signature = v.object({
  pub_key: v.object({ type: v.literal("tendermint/PubKeySecp256k1"), value: v.string() }),
  signature: v.string(),
});
const direct = v.object({ signed: v.object({ bodyBytes: bytes, authInfoBytes: bytes }), signature });
/** Digits of an amount, and of gas, which has 64 bits. */
const digits = (most: number) => v.pipe(v.string(), v.regex(/^\d+$/), v.maxLength(most));
const amino = v.object({
  signed: v.object({
    memo: v.string(),
    fee: v.object({
      amount: v.array(v.object({ denom: v.string(), amount: digits(78) })),
      gas: v.pipe(
        digits(19),
        v.transform((text) => BigInt(text)),
      ),
      payer: v.optional(v.string()),
      granter: v.optional(v.string()),
    }),
  }),
  signature,
});

export interface ExtensionRequest {
  readonly name: ExtensionName;
  /** The chain that the pages show, and its facts for the wallet's list. */
  readonly chainId: string;
  readonly info: { readonly chainId: string };
}

/** Connects an extension: it shows its own questions. Rejects with one of `walletErrors`. */
export async function connectExtension(host: ExtensionHost, request: ExtensionRequest): Promise<Wallet> {
  const { name, chainId, info } = request;
  const extension = extensionOf(host.globals, name);
  if (extension === undefined) throw walletErrors.absent();
  if (info.chainId !== chainId) throw walletErrors.otherChain(`${info.chainId} instead of ${chainId}`);
  const [found, signer] = await asking(async () => {
    await extension.experimentalSuggestChain(info);
    await extension.enable(chainId);
    return [read(key, await extension.getKey(chainId)), await extension.getOfflineSignerAuto(chainId)] as const;
  });
  const publicKey = readKey(found.pubKey);
  const address = encodeAddress(publicKeyAddress(publicKey), "account");
  if (address !== found.bech32Address) throw walletErrors.otherKey();
  const account = new ExtensionWallet({ extension, signer, publicKey, address, chainId, name: found.name });
  account.follow(host.events, EXTENSIONS[name].event);
  return account;
}

interface Account {
  readonly extension: Extension;
  readonly signer: ExtensionSigner;
  readonly publicKey: SinglePublicKey;
  readonly address: string;
  readonly chainId: string;
  readonly name: string;
}

class ExtensionWallet implements Wallet {
  readonly kind = "extension";
  readonly lacks = {};
  readonly name: string;
  readonly chainId: string;
  readonly address: string;
  readonly publicKey: SinglePublicKey;
  readonly signMode: SignMode;
  readonly text: SessionConsent;
  readonly #account: Account;
  readonly #listeners = new Set<() => void>();
  #isSwitched = false;

  constructor(account: Account) {
    this.#account = account;
    this.name = account.name;
    this.chainId = account.chainId;
    this.address = account.address;
    this.publicKey = account.publicKey;
    this.signMode = account.signer.signDirect === undefined ? SignMode.LEGACY_AMINO_JSON : SignMode.DIRECT;
    this.text = { algorithm: "ES256KADR36", sign: (data) => this.#signText(data) };
  }

  /** An account that was switched once stays unusable: what the pages show belongs to the account before. */
  follow(events: ExtensionHost["events"], event: string): void {
    const switched = (): void => {
      this.#isSwitched = true;
      events.removeEventListener(event, switched);
      for (const listener of this.#listeners) listener();
    };
    events.addEventListener(event, switched);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async signTx(tx: PreparedTx): Promise<Uint8Array> {
    checkChain(this, tx);
    this.#checkAccount();
    const inMode = { ...tx, signMode: this.signMode };
    return this.signMode === SignMode.DIRECT ? this.#signDirect(inMode) : this.#signAmino(inMode);
  }

  async #signDirect(tx: PreparedTx): Promise<Uint8Array> {
    const { signer, address, publicKey } = this.#account;
    const { chainId, accountNumber } = tx.signer;
    const document = { ...askedParts(tx, publicKey), chainId, accountNumber };
    const { signed, signature } = await asking(async () => read(direct, await signer.signDirect?.(address, document)));
    return directTx(tx, publicKey, { parts: signed, given: given(signature) });
  }

  async #signAmino(tx: PreparedTx): Promise<Uint8Array> {
    const { signer, address, publicKey } = this.#account;
    const { aminoDocument } = await import("./amino.ts");
    const document = aminoDocument(askedParts(tx, publicKey), tx.signer);
    const { signed, signature } = await asking(async () => read(amino, await signer.signAmino(address, document)));
    const { amount, gas: gasLimit, payer = "", granter = "" } = signed.fee;
    const fee = { amount, gasLimit, payer, granter };
    return aminoTx(tx, publicKey, { choices: { memo: signed.memo, fee }, given: given(signature) });
  }

  async #signText(data: Uint8Array): Promise<Uint8Array> {
    this.#checkAccount();
    const { extension, chainId, address, publicKey } = this.#account;
    const text = fromUtf8(data);
    const answer = await asking(async () => read(signature, await extension.signArbitrary(chainId, address, text)));
    const { key, signature: made } = given(answer);
    if (!equalBytes(key, publicKey.key)) throw walletErrors.switched();
    if (!verifySecp256k1(key, arbitraryDocument(data, address), made))
      throw walletErrors.signedOther("the signature is of another text");
    return made;
  }

  #checkAccount(): void {
    if (this.#isSwitched) throw walletErrors.switched();
  }
}

/** Extensions reject with errors of their own, texts or nothing at all, for a closed window as for a locked wallet. */
async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw walletErrors.refused(errorText(error), { cause: error });
  }
}

function read<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw walletErrors.badAnswer(result.issues[0].path?.map(({ key }) => String(key)).join("."));
}

function readKey(bytes: Uint8Array): SinglePublicKey {
  try {
    return secp256k1PublicKey(bytes);
  } catch (error) {
    throw walletErrors.badAnswer(errorText(error));
  }
}

function given({ pub_key, signature: made }: v.InferOutput<typeof signature>): GivenSignature {
  try {
    return { key: fromBase64(pub_key.value), signature: fromBase64(made) };
  } catch (error) {
    throw walletErrors.badAnswer(errorText(error));
  }
}
