import { toUtf8 } from "../../util/index.ts";
import type { TokenClaims } from "./claims.ts";
import { base64url, type Compact, compactInput, isAccountAlgorithm, jwtErrors, parseCompact } from "./compact.ts";
import { isSignedInSession, type SessionSigner, verifySession } from "./session.ts";

/** Seconds that a gateway token may be in force at most. */
export const TOKEN_MAX_LIFETIME = 3600;
/** Seconds that a gateway token is in force unless something else is said. */
export const TOKEN_DEFAULT_LIFETIME = 900;
export const TOKEN_LEEWAY = 30;
/** Seconds that a token without `aud` or `jti`, or one of a session, may be in force at most. */
const SHORT_LIFETIME = 900;

const MAX_TOKEN = 16 * 1024;
const TYP = "JWT";

/** Signs bytes with the account's key: 64 bytes R||S over their SHA-256. */
export type AccountSigner = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** Who signs tokens. */
export type TokenSigner = AccountSigner | SessionSigner;

/** A compact JWS (RFC 7515) with algorithm ES256K (RFC 8812), or ES256 (RFC 7518) where a session's key signs. */
export async function signToken(claims: TokenClaims, signer: TokenSigner): Promise<string> {
  const isAccount = typeof signer === "function";
  const input = isAccount
    ? compactInput({ alg: "ES256K", typ: TYP }, claims)
    : compactInput({ alg: "ES256", typ: TYP }, { ...claims, session: signer.session });
  const sign = isAccount ? signer : signer.sign;
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
  /** It has opened a stream before: that of a session goes on until the session ends. */
  readonly hasOpened?: boolean;
}

/** The claims of a token that is genuine, for this audience and in force now; throws one of `jwtErrors` otherwise. */
export async function verifyToken(token: string, expected: TokenExpectation): Promise<TokenClaims> {
  const { claims, compact } = await parseToken(token);
  if (claims.iss !== expected.issuer) throw jwtErrors.issuer();
  if (claims.session === undefined) {
    const { isSignedByAccount } = await import("./account.ts");
    if (!isSignedByAccount(compact, expected)) throw jwtErrors.signature();
  } else {
    const { key } = await verifySession(claims.session, expected);
    if (!(await isSignedInSession(compact, key))) throw jwtErrors.signature();
  }
  if (claims.aud !== undefined && claims.aud !== expected.audience) throw jwtErrors.audience();
  checkTimes(claims, expected);
  return claims;
}

/** Whether a token is for one provider, and can be told from others of its account. */
export function isBound({ aud, jti }: TokenClaims): boolean {
  return aud !== undefined && jti !== undefined;
}

function checkTimes(claims: TokenClaims, { now, hasOpened = false }: TokenExpectation): void {
  const { iat, nbf, exp } = claims;
  if (exp <= nbf || exp < iat) throw jwtErrors.claims("exp");
  const lifetime = exp - Math.min(iat, nbf);
  if (lifetime > TOKEN_MAX_LIFETIME) throw jwtErrors.lifetime();
  if (!isBound(claims) && lifetime > SHORT_LIFETIME) throw jwtErrors.unboundLifetime();
  if (claims.session !== undefined && lifetime > SHORT_LIFETIME) throw jwtErrors.sessionTokenLifetime();
  const isOfStream = hasOpened && claims.session !== undefined;
  if (now >= exp + TOKEN_LEEWAY && !isOfStream) throw jwtErrors.expired();
  if (now + TOKEN_LEEWAY < Math.max(nbf, iat)) throw jwtErrors.early();
}

async function parseToken(token: string): Promise<{ readonly claims: TokenClaims; readonly compact: Compact }> {
  const compact = parseCompact(token, { typ: TYP, maxLength: MAX_TOKEN });
  if (!isAccountAlgorithm(compact.alg) && compact.alg !== "ES256") throw jwtErrors.algorithm();
  // Loaded at the first token, so that programs without tokens do not pay for the validation library.
  const { parseTokenClaims } = await import("./claims.ts");
  const claims = parseTokenClaims(compact.payload);
  if (typeof claims === "string") throw jwtErrors.claims(claims);
  const isOfSession = compact.alg === "ES256";
  if ((claims.session !== undefined) !== isOfSession) throw jwtErrors.claims("session");
  if (isOfSession && !isBound(claims)) throw jwtErrors.claims(claims.aud === undefined ? "aud" : "jti");
  return { claims, compact };
}
