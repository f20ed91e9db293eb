import { toUtf8 } from "../../util/index.ts";
import type { SessionClaims } from "./claims.ts";
import {
  type AccountAlgorithm,
  base64url,
  type Compact,
  compactInput,
  fromBase64url,
  jwtErrors,
  parseCompact,
} from "./compact.ts";

/** Seconds that a session may last at most. */
export const SESSION_MAX_LIFETIME = 12 * 3600;
/** Seconds that the clocks of page and gateway may differ. */
const LEEWAY = 30;
/** Characters of a session. It travels in every token, and tokens in one header. */
const MAX_SESSION = 4 * 1024;
/** Told apart from tokens: neither passes for the other. */
const TYP = "svc-session";
const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const ES256 = { name: "ECDSA", hash: "SHA-256" } as const;

/** How an account signs a session. */
export interface SessionConsent {
  /** `ES256KADR36` where a wallet signs (`signArbitrary`), which puts the bytes into a document of its own. */
  readonly algorithm: AccountAlgorithm;
  /** 64 bytes R||S by the account's key. */
  readonly sign: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** Rights that one signature of an account gives to a key. */
export interface SessionWish extends SessionConsent {
  readonly account: string;
  /** Addresses of providers; all providers by default. */
  readonly providers?: readonly string[];
  /** Rights of the session's tokens; everything by default. */
  readonly leases?: SessionClaims["leases"];
  /** Seconds; 12 hours by default, which is also the most. */
  readonly lifetime?: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A key of WebCrypto. */
export type SessionKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** A session and its key, which cannot be exported: a page can keep both in IndexedDB. */
export interface OpenSession {
  readonly session: string;
  readonly key: SessionKey;
}

/** Makes a key, and has the account allow it to sign tokens. `sessionSigner` of the result signs in place of the account. */
export async function openSession(wish: SessionWish): Promise<OpenSession> {
  const { account, providers, leases = { access: "full" }, lifetime = SESSION_MAX_LIFETIME, now } = wish;
  // Pages without TLS have no such keys, except on localhost.
  if (globalThis.crypto.subtle === undefined) throw jwtErrors.insecurePage();
  const { publicKey, privateKey } = await crypto.subtle.generateKey(P256, false, ["sign", "verify"]);
  const iat = Math.floor(now / 1000);
  const claims: SessionClaims = {
    version: "v1",
    iss: account,
    iat,
    exp: iat + lifetime,
    providers: providers === undefined ? "all" : [...providers],
    leases,
    key: base64url(new Uint8Array(await crypto.subtle.exportKey("raw", publicKey))),
  };
  return { session: await signSession(claims, wish), key: privateKey };
}

/** The key of a session, which the account has allowed to sign tokens in its place. */
export interface SessionSigner {
  readonly session: string;
  /** 64 bytes R||S of ECDSA with P-256 over the SHA-256 of the bytes. */
  readonly sign: (bytes: Uint8Array) => Promise<Uint8Array>;
}

/** Signs tokens with the session's key. */
export function sessionSigner({ session, key }: OpenSession): SessionSigner {
  return { session, sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(ES256, key, bytes.slice())) };
}

/** The account's consent that a key may sign tokens in its place: a compact JWS (RFC 7515) of type `svc-session`. */
export async function signSession(claims: SessionClaims, { algorithm, sign }: SessionConsent): Promise<string> {
  const input = compactInput({ alg: algorithm, typ: TYP }, claims);
  return `${input}.${base64url(await sign(toUtf8(input)))}`;
}

/** The claims of a session before its signature is verified. */
export async function readSessionClaims(session: string): Promise<SessionClaims> {
  return (await parseSession(session)).claims;
}

/** The claims of a session that the account has signed, for this provider and in force now; throws one of `jwtErrors` otherwise. */
export async function verifySession(
  session: string,
  expected: {
    readonly publicKey: Uint8Array;
    readonly issuer: string;
    readonly audience: string;
    readonly now: number;
  },
): Promise<SessionClaims> {
  const { claims, compact } = await parseSession(session);
  const { iss, iat, exp, providers } = claims;
  if (iss !== expected.issuer) throw jwtErrors.issuer();
  const { isSignedByAccount } = await import("./account.ts");
  if (!isSignedByAccount(compact, expected)) throw jwtErrors.sessionSignature();
  if (providers !== "all" && !providers.includes(expected.audience)) throw jwtErrors.sessionProvider();
  if (exp - iat > SESSION_MAX_LIFETIME) throw jwtErrors.sessionLifetime();
  if (expected.now >= exp + LEEWAY) throw jwtErrors.sessionExpired();
  if (expected.now + LEEWAY < iat) throw jwtErrors.early();
  return claims;
}

async function parseSession(session: string): Promise<{ readonly claims: SessionClaims; readonly compact: Compact }> {
  const compact = parseCompact(session, { typ: TYP, maxLength: MAX_SESSION });
  const { parseSessionClaims } = await import("./claims.ts");
  const claims = parseSessionClaims(compact.payload);
  if (typeof claims === "string") throw jwtErrors.session(claims);
  return { claims, compact };
}

/**
 * Whether the session's key has signed it. WebCrypto does not choose the lower S as account keys do; a token's `jti` tells its copies.
 */
export async function isSignedInSession({ input, signature }: Compact, key: string): Promise<boolean> {
  try {
    const imported = await crypto.subtle.importKey("raw", fromBase64url(key).slice(), P256, false, ["verify"]);
    return await crypto.subtle.verify(ES256, imported, signature.slice(), toUtf8(input).slice());
  } catch {
    // It is no point of the curve.
    return false;
  }
}
