import {
  makeSignDoc as aminoDocument,
  encodeSecp256k1Signature,
  type StdSignDoc,
  serializeSignDoc,
} from "@cosmjs/amino";
import { makeSignBytes } from "@cosmjs/proto-signing";
import type { Page } from "playwright-core";
import type { Extension, ExtensionSigner } from "../../../src/console/wallet/found.ts";
import type { TestKey } from "../../../src/testing/index.ts";
import { AuthInfoSchema, TxBodySchema } from "../../../src/wire/gen/sdk/tx/v1beta1/tx_pb.js";
import { decodeMessage, encodeMessage } from "../../../src/wire/index.ts";

/** The document of mode direct in the form of CosmJS. */
interface DirectDocument {
  readonly bodyBytes: Uint8Array;
  readonly authInfoBytes: Uint8Array;
  readonly chainId: string;
  readonly accountNumber: bigint;
}

/** Ways in which the wallet differs from one that signs at once what it is asked to. */
export interface KeplrSwitches {
  /** Rejects every question, as while it is locked and its window is closed. */
  locked?: boolean;
  /** Rejects every signature. */
  rejects?: boolean;
  /** Signs for another chain than it was asked for. */
  otherChain?: boolean;
  /** Has a device behind it, which signs amino JSON alone. */
  aminoOnly?: boolean;
  /** Account to which its owner switches while a signature is asked for. */
  switchTo?: TestKey;
  /** Signatures wait for it, as for a person who thinks. */
  slow?: Promise<void>;
  /** Memo and amount of the fee that its owner chooses instead of the proposed ones. */
  memo?: string;
  feeAmount?: string;
  /** Signs another message than it was asked to. */
  otherMessage?: boolean;
  /** Signs a field that no version knows, in mode direct. */
  unknownField?: boolean;
  /** Names an address that is not the one of its key. */
  otherAddress?: string;
  /** Answers in another form. */
  garbles?: boolean;
}

const PUBLIC_KEY = "tendermint/PubKeySecp256k1";
const CHANGED = "keplr_keystorechange";

/** A double of Keplr over a test key. CosmJS, which knows nothing of our codecs, makes its documents. */
export class KeplrDouble extends EventTarget implements Extension {
  readonly asked: string[] = [];
  readonly switches: KeplrSwitches;
  #key: TestKey;

  constructor(key: TestKey, switches: KeplrSwitches = {}) {
    super();
    this.#key = key;
    this.switches = switches;
  }

  /** The wallet's owner chooses another account. */
  switchAccount(key: TestKey): void {
    this.#key = key;
    this.dispatchEvent(new Event(CHANGED));
  }

  async experimentalSuggestChain(info: { readonly chainId: string }): Promise<void> {
    this.#ask(`suggest ${info.chainId}`);
  }

  async enable(chainId: string): Promise<void> {
    this.#ask(`enable ${chainId}`);
  }

  async getKey(chainId: string): Promise<unknown> {
    this.#ask(`key ${chainId}`);
    if (this.switches.garbles === true) return { name: "Anna", pubKey: "AAA", bech32Address: this.#key.address };
    const { address, name } = this.#key;
    const isNanoLedger = this.switches.aminoOnly === true;
    const bech32Address = this.switches.otherAddress ?? address;
    return {
      name,
      algo: "secp256k1",
      pubKey: this.#key.publicKey.type === "secp256k1" && this.#key.publicKey.key,
      bech32Address,
      isNanoLedger,
    };
  }

  async getOfflineSignerAuto(chainId: string): Promise<ExtensionSigner> {
    this.#ask(`signer ${chainId}`);
    const signAmino = (signer: string, document: StdSignDoc) => this.#signAmino(signer, document);
    if (this.switches.aminoOnly === true) return { signAmino };
    return { signAmino, signDirect: (signer: string, document: DirectDocument) => this.#signDirect(signer, document) };
  }

  async signArbitrary(chainId: string, signer: string, text: string): Promise<unknown> {
    this.#ask(`text ${chainId}`);
    await this.#think();
    const data = Buffer.from(this.switches.otherMessage === true ? `${text}.` : text).toString("base64");
    const message = { type: "sign/MsgSignData", value: { signer, data } };
    return this.#signature(serializeSignDoc(aminoDocument([message], { gas: "0", amount: [] }, "", "", 0, 0)));
  }

  async #signDirect(_signer: string, asked: DirectDocument): Promise<unknown> {
    this.#ask(`direct ${asked.chainId}`);
    await this.#think();
    if (this.switches.garbles === true) return { signed: asked, signature: "AAA" };
    const signed = { ...asked, chainId: this.#chain(asked.chainId), ...this.#chosen(asked) };
    return { signed, signature: this.#signature(makeSignBytes(signed)) };
  }

  async #signAmino(_signer: string, asked: StdSignDoc): Promise<unknown> {
    this.#ask(`amino ${asked.chain_id}`);
    await this.#think();
    const { memo = asked.memo, feeAmount } = this.switches;
    const amount = feeAmount === undefined ? asked.fee.amount : [{ denom: "utoken", amount: feeAmount }];
    const msgs = this.switches.otherMessage === true ? [...asked.msgs, ...asked.msgs] : asked.msgs;
    const signed = { ...asked, chain_id: this.#chain(asked.chain_id), memo, msgs, fee: { ...asked.fee, amount } };
    return { signed, signature: this.#signature(serializeSignDoc(signed)) };
  }

  /** The parts of a transaction with the choices of the wallet's owner. */
  #chosen({ bodyBytes, authInfoBytes }: DirectDocument): Pick<DirectDocument, "bodyBytes" | "authInfoBytes"> {
    const { memo, feeAmount, otherMessage } = this.switches;
    const body = decodeMessage(TxBodySchema, bodyBytes);
    if (memo !== undefined) body.memo = memo;
    if (otherMessage === true) body.messages.push(...body.messages);
    const info = decodeMessage(AuthInfoSchema, authInfoBytes);
    if (feeAmount !== undefined && info.fee !== undefined)
      info.fee.amount = info.fee.amount.map((coin) => ({ ...coin, amount: feeAmount }));
    const unknown = this.switches.unknownField === true ? [0xfa, 0x7f, 0] : [];
    const signed = Uint8Array.from([...encodeMessage(AuthInfoSchema, info), ...unknown]);
    return { bodyBytes: encodeMessage(TxBodySchema, body), authInfoBytes: signed };
  }

  #signature(bytes: Uint8Array): unknown {
    const { publicKey } = this.#key;
    if (publicKey.type !== "secp256k1") throw new Error(`the double has no keys of type ${publicKey.type}`);
    const signature = encodeSecp256k1Signature(publicKey.key, this.#key.sign(bytes));
    return { ...signature, pub_key: { ...signature.pub_key, type: PUBLIC_KEY } };
  }

  #chain(chainId: string): string {
    return this.switches.otherChain === true ? "other-1" : chainId;
  }

  #ask(question: string): void {
    this.asked.push(question);
    if (this.switches.locked === true) throw new Error("Request rejected");
  }

  async #think(): Promise<void> {
    const { slow, rejects, switchTo } = this.switches;
    await slow;
    if (switchTo !== undefined) this.switchAccount(switchTo);
    if (rejects === true) throw new Error("Request rejected");
  }
}

/** Bytes and whole numbers as JSON between a page and this process. */
const IN_PAGE = `(() => {
  const pack = (_, v) => v instanceof Uint8Array ? { $bytes: btoa(String.fromCharCode(...v)) } : typeof v === "bigint" ? { $int: String(v) } : v;
  const unpack = (_, v) => v && v.$bytes !== undefined ? Uint8Array.from(atob(v.$bytes), (c) => c.charCodeAt(0)) : v;
  const ask = async (...words) => JSON.parse(await keplrAsked(JSON.stringify(words, pack)), unpack);
  const method = (name) => (...words) => ask(name, ...words);
  window.keplr = Object.fromEntries(["experimentalSuggestChain", "enable", "getKey", "signArbitrary"].map((name) => [name, method(name)]));
  window.keplr.getOfflineSignerAuto = async (chain) => {
    const names = await ask("signer", chain);
    return Object.fromEntries(names.map((name) => [name, method(name)]));
  };
})()`;

/** Puts the double into a page that is opened afterwards, as the wallet's extension would. */
export async function installKeplr(page: Page, double: KeplrDouble): Promise<void> {
  let signer: ExtensionSigner | undefined;
  const answer = async (method: string, words: readonly unknown[]): Promise<unknown> => {
    const [first, second] = words;
    if (method === "signer") {
      signer = await double.getOfflineSignerAuto(String(first));
      return Object.keys(signer);
    }
    if (method === "signDirect" && typeof second === "object" && second !== null)
      return signer?.signDirect?.(String(first), second);
    if (method === "signAmino") return signer?.signAmino(String(first), second);
    if (method === "getKey") return double.getKey(String(first));
    if (method === "signArbitrary") return double.signArbitrary(String(first), String(second), String(words[2]));
    return null;
  };
  await page.exposeFunction("keplrAsked", async (text: string) => {
    const [method, ...words]: unknown[] = JSON.parse(text, unpacked);
    return JSON.stringify((await answer(String(method), words)) ?? null, packed);
  });
  await page.addInitScript(IN_PAGE);
}

function packed(_: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
  return typeof value === "bigint" ? value.toString() : value;
}

function unpacked(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("$bytes" in value) return new Uint8Array(Buffer.from(String(value.$bytes), "base64"));
  return "$int" in value ? BigInt(String(value.$int)) : value;
}
