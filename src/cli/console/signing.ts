import * as v from "valibot";
import type { TxSigner } from "../../client/index.ts";
import { readSessionClaims, SESSION_MAX_LIFETIME } from "../../crypto/index.ts";
import { equalBytes, fromBase64, printable, toBase64, toUtf8, tryParseInt } from "../../util/index.ts";
import { decodeTxParts, isAddress, publicKeyFromAny, SignMode, signBytes } from "../../wire/index.ts";
import { txJson } from "../tx/session/print.ts";
import { type OwnCall, ownCall, Refusal, readBody, requireConsent } from "./calls.ts";
import { MAX_SIGN_TEXT } from "./limits.ts";
import type { Questions } from "./questions.ts";

export interface SigningParts {
  readonly signer: TxSigner;
  /** Name of the key. */
  readonly name: string;
  readonly chainId: string;
  readonly questions: Pick<Questions, "ask">;
  /** Whether sessions at gateways are asked for as well. */
  readonly asksForSessions: boolean;
  readonly tell: (line: string) => void;
}

const txRequest = v.object({
  account: v.string(),
  /** The document of mode direct, as wallets of the ecosystem get it. */
  signDoc: v.object({
    bodyBytes: v.string(),
    authInfoBytes: v.string(),
    chainId: v.string(),
    accountNumber: v.string(),
  }),
});

const sessionRequest = v.object({
  account: v.string(),
  /** The session without its signature: a JWS signing input (RFC 7515). */
  input: v.pipe(v.string(), v.maxLength(4096)),
});

/** Length of a signature in a JWS. */
const SIGNATURE_CHARACTERS = 86;
/** Seconds that a session may begin after the clock of this machine. */
const LEEWAY = 30;

/** Signs for pages with one key of the keyring, after the user has agreed at the terminal. */
export class Signing {
  readonly #parts: SigningParts;

  constructor(parts: SigningParts) {
    this.#parts = parts;
  }

  /** The keys that pages may ask for. */
  get keys() {
    const { name, signer } = this.#parts;
    const { address, publicKey } = signer;
    return publicKey.type === "secp256k1" ? [{ name, address, publicKey: toBase64(publicKey.key) }] : [];
  }

  /** The calls of pages. */
  get calls(): readonly (readonly [path: string, call: OwnCall])[] {
    const signed = (sign: (body: string, signal: AbortSignal) => Promise<Uint8Array>): OwnCall =>
      ownCall("POST", 400, async (body, signal) => ({ signature: toBase64(await sign(body, signal)) }));
    return [
      ["sign", signed((body, signal) => this.#transaction(body, signal))],
      ["sign/session", signed((body, signal) => this.#session(body, signal))],
    ];
  }

  /** Signs the transaction of a request. */
  async #transaction(body: string, signal: AbortSignal): Promise<Uint8Array> {
    const { account, signDoc } = readBody(txRequest, body);
    this.#checkAccount(account);
    const { chainId, questions, signer, name } = this.#parts;
    if (signDoc.chainId !== chainId) {
      throw new Refusal(400, `the transaction is for chain ${shown(signDoc.chainId)}, the console of ${chainId}`);
    }
    const accountNumber = tryParseInt(signDoc.accountNumber);
    if (accountNumber === undefined || accountNumber < 0n) throw new Refusal(400, "the account number is not one");
    const parts = { bodyBytes: bytes(signDoc.bodyBytes), authInfoBytes: bytes(signDoc.authInfoBytes) };
    const sequence = this.#sequence(parts);
    const text = printable(txJson(parts));
    if (text.length > MAX_SIGN_TEXT) throw new Refusal(413, "the transaction is too long to be read: use svc tx sign");
    const head = `The console asks ${name} (${signer.address}) to sign on ${chainId}, as account ${accountNumber}:`;
    requireConsent(await questions.ask(`${head}\n${text}`, signal));
    return signer.sign(signBytes(SignMode.DIRECT, parts, { chainId, accountNumber, sequence }), SignMode.DIRECT);
  }

  /** Signs a session at gateways, by which a key of the page may act for the account. */
  async #session(body: string, signal: AbortSignal): Promise<Uint8Array> {
    const { account, input } = readBody(sessionRequest, body);
    this.#checkAccount(account);
    const { asksForSessions, questions, signer, name, tell } = this.#parts;
    const { iss, iat, exp, providers, leases } = await claimsOf(input);
    if (iss !== account) throw new Refusal(400, `the session is of ${shown(iss)}`);
    // Any other text could write lines of its own on the screen.
    const other = providers === "all" ? undefined : providers.find((each) => !isAddress(each));
    if (other !== undefined) throw new Refusal(400, `${shown(other)} is no address of a provider`);
    const now = Date.now() / 1000;
    if (exp - iat > SESSION_MAX_LIFETIME || iat > now + LEEWAY) throw new Refusal(400, "the session lasts too long");
    const where = providers === "all" ? "all providers" : providers.join(", ");
    const until = new Date(exp * 1000).toISOString();
    const text = printable(`${JSON.stringify(leases)} at ${where}, until ${until}`);
    if (text.length > MAX_SIGN_TEXT) throw new Refusal(413, "the session is too long to be read");
    if (asksForSessions) requireConsent(await questions.ask(`The console asks ${name} for a session: ${text}`, signal));
    else tell(`session of ${name}: ${text}`);
    return signer.sign(toUtf8(input), SignMode.DIRECT);
  }

  #checkAccount(account: string): void {
    if (account !== this.#parts.signer.address) throw new Refusal(404, "the console has no key of this account");
  }

  /** The sequence of a transaction that the key signs alone, in mode direct. */
  #sequence({
    bodyBytes,
    authInfoBytes,
  }: {
    readonly bodyBytes: Uint8Array;
    readonly authInfoBytes: Uint8Array;
  }): bigint {
    const { authInfo } = decodeTxParts(bodyBytes, authInfoBytes);
    const [info, ...others] = authInfo.signerInfos;
    const sum = info?.modeInfo?.sum;
    const isDirect = sum?.case === "single" && sum.value.mode === SignMode.DIRECT;
    const key = info?.publicKey === undefined ? undefined : publicKeyFromAny(info.publicKey);
    const own = this.#parts.signer.publicKey;
    const isOwn = key?.type === "secp256k1" && own.type === "secp256k1" && equalBytes(key.key, own.key);
    if (info === undefined || others.length > 0 || !isDirect || !isOwn)
      throw new Refusal(400, "the transaction is not one that this key signs alone, in mode direct");
    return info.sequence;
  }
}

function bytes(text: string): Uint8Array {
  return fromBase64(text);
}

async function claimsOf(input: string) {
  return readSessionClaims(`${input}.${"A".repeat(SIGNATURE_CHARACTERS)}`);
}

function shown(text: string): string {
  return printable(JSON.stringify(text.slice(0, 100)));
}
