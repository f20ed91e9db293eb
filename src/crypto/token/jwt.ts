import { defineErrors, errorText, fromBase64, fromUtf8, toBase64, toUtf8 } from "../../util/index.ts";
import { verifySecp256k1 } from "../secp256k1/index.ts";
import type { TokenClaims } from "./claims.ts";

/** Why a token is refused. The texts carry only the class of the reason, never the token. */
export const jwtErrors = defineErrors("jwt", {
  malformed: [1, "malformed token"],
  algorithm: [2, "token algorithm is neither ES256K nor ES256KADR36"],
  claims: [3, "token claims are not acceptable"],
  signature: [4, "token signature is not valid"],
  audience: [5, "token is for another provider"],
  expired: [6, "token has expired", "make a new one; check that both clocks are right"],
  early: [7, "token is not valid yet", "check that both clocks are right"],
  lifetime: [8, "token is valid for more than one hour", "make one with a shorter lifetime"],
  issuer: [9, "token was issued by another account"],
  unboundLifetime: [
    10,
    "token without aud or jti is valid for more than 15 minutes",
    "make one with a shorter lifetime",
  ],
});

/** Seconds that a gateway token may be in force at most. */
export const TOKEN_MAX_LIFETIME = 3600;
/** Seconds that a gateway token is in force unless something else is said. */
export const TOKEN_DEFAULT_LIFETIME = 900;
export const TOKEN_LEEWAY = 30;
/** Seconds that a token without `aud` or `jti` may be in force at most. */
const UNBOUND_MAX_LIFETIME = 900;

const MAX_TOKEN = 16 * 1024;
const HEADER = '{"alg":"ES256K","typ":"JWT"}';
/** The signed bytes of a token by its algorithm: of wallets, which sign no plain bytes, a document around them. */
const SIGNED = {
  ES256K: (input: string): Uint8Array => toUtf8(input),
  ES256KADR36: (input: string, signer: string): Uint8Array => arbitraryDocument(toUtf8(input), signer),
} as const;
type Algorithm = keyof typeof SIGNED;
const SHAPE = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/** Signs bytes with the account's key: 64 bytes R||S over their SHA-256. */
export type TokenSigner = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** A compact JWS (RFC 7515) with algorithm ES256K (RFC 8812). */
export async function signToken(claims: TokenClaims, sign: TokenSigner): Promise<string> {
  const input = `${base64url(toUtf8(HEADER))}.${base64url(toUtf8(JSON.stringify(claims)))}`;
  return `${input}.${base64url(await sign(toUtf8(input)))}`;
}

/** The claims of a token before its signature is verified: they tell whose key to verify it with. */
export async function readTokenClaims(token: string): Promise<TokenClaims> {
  return (await parseToken(token)).claims;
}

/** Values that the verifier expects in a token. */
export interface TokenExpectation {
  /** The 33-byte key of the account. */
  readonly publicKey: Uint8Array;
  /** That account's address, which must be the issuer. */
  readonly issuer: string;
  /** The provider's own address. */
  readonly audience: string;
  /** Seconds since 1970. */
  readonly now: number;
}

/** The claims of a token that is genuine, for this audience and in force now; throws one of `jwtErrors` otherwise. */
export async function verifyToken(token: string, expected: TokenExpectation): Promise<TokenClaims> {
  const { claims, algorithm, input, signature } = await parseToken(token);
  if (claims.iss !== expected.issuer) throw jwtErrors.issuer();
  const signed = SIGNED[algorithm](input, claims.iss);
  if (!verifySecp256k1(expected.publicKey, signed, signature)) throw jwtErrors.signature();
  if (claims.aud !== undefined && claims.aud !== expected.audience) throw jwtErrors.audience();
  checkTimes(claims, expected.now);
  return claims;
}

/** Whether a token is for one provider, and can be told from others of its account. */
export function isBound({ aud, jti }: TokenClaims): boolean {
  return aud !== undefined && jti !== undefined;
}

/**
 * The document that wallets sign in place of arbitrary bytes (ADR-36 of the Cosmos SDK), in amino JSON: no chain takes it for a
 * transaction.
 */
function arbitraryDocument(data: Uint8Array, signer: string): Uint8Array {
  const message = { type: "sign/MsgSignData", value: { data: toBase64(data), signer } };
  const fee = { amount: [], gas: "0" };
  return toUtf8(JSON.stringify({ account_number: "0", chain_id: "", fee, memo: "", msgs: [message], sequence: "0" }));
}

function checkTimes(claims: TokenClaims, now: number): void {
  const { iat, nbf, exp } = claims;
  if (exp <= nbf || exp < iat) throw jwtErrors.claims("exp");
  const lifetime = exp - Math.min(iat, nbf);
  if (lifetime > TOKEN_MAX_LIFETIME) throw jwtErrors.lifetime();
  if (!isBound(claims) && lifetime > UNBOUND_MAX_LIFETIME) throw jwtErrors.unboundLifetime();
  if (now >= exp + TOKEN_LEEWAY) throw jwtErrors.expired();
  if (now + TOKEN_LEEWAY < Math.max(nbf, iat)) throw jwtErrors.early();
}

interface ParsedToken {
  readonly claims: TokenClaims;
  readonly algorithm: Algorithm;
  /** Header and payload as they were sent. */
  readonly input: string;
  readonly signature: Uint8Array;
}

async function parseToken(token: string): Promise<ParsedToken> {
  if (token.length > MAX_TOKEN) throw jwtErrors.malformed("larger than 16 KiB");
  const [, header, payload, signature] = SHAPE.exec(token) ?? [];
  if (header === undefined || payload === undefined || signature === undefined) throw jwtErrors.malformed();
  const algorithm = algorithmOf(parseJson(header));
  // Loaded at the first token, so that programs without tokens do not pay for the validation library.
  const { parseTokenClaims } = await import("./claims.ts");
  const claims = parseTokenClaims(parseJson(payload));
  if (typeof claims === "string") throw jwtErrors.claims(claims);
  return { claims, algorithm, input: `${header}.${payload}`, signature: fromBase64url(signature) };
}

/** Headers that name keys elsewhere (`kid`, `jku`, `x5u`, ...) are refused with everything else that is not needed. */
function algorithmOf(header: unknown): Algorithm {
  if (typeof header !== "object" || header === null || Array.isArray(header)) throw jwtErrors.malformed("header");
  const { alg, typ = "JWT", ...rest }: { readonly alg?: unknown; readonly typ?: unknown } = header;
  if (alg !== "ES256K" && alg !== "ES256KADR36") throw jwtErrors.algorithm();
  if (typ !== "JWT" || Object.keys(rest).length > 0) throw jwtErrors.malformed("header");
  return alg;
}

function parseJson(part: string): unknown {
  let text: string;
  let value: unknown;
  try {
    text = fromUtf8(fromBase64url(part));
    value = JSON.parse(text);
  } catch (error) {
    throw jwtErrors.malformed(undefined, { cause: errorText(error) });
  }
  if (hasDuplicateKeys(text)) throw jwtErrors.malformed("a name appears twice");
  return value;
}

function base64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Strict: the text must be the one encoding of its bytes, so that no second token reads the same. */
function fromBase64url(text: string): Uint8Array {
  if (text.length % 4 === 1) throw jwtErrors.malformed();
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = fromBase64(standard.padEnd(Math.ceil(text.length / 4) * 4, "="));
  if (base64url(bytes) !== text) throw jwtErrors.malformed();
  return bytes;
}

/**
 * Whether any object of a JSON text names a key twice. `JSON.parse` silently keeps the last one, so two readers of the
 * same signed text could see different claims. The text must be valid JSON.
 */
export function hasDuplicateKeys(json: string): boolean {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of json.matchAll(TOKEN)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const keys = open.at(-1);
      const key = String(JSON.parse(last));
      if (keys?.has(key)) return true;
      keys?.add(key);
    }
    last = token;
  }
  return false;
}
