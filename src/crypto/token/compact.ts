import { defineErrors, errorText, fromBase64, fromUtf8, toBase64, toUtf8 } from "../../util/index.ts";

/** Why a token is refused. The texts carry only the class of the reason, never the token. */
export const jwtErrors = defineErrors("jwt", {
  malformed: [1, "malformed token"],
  algorithm: [2, "token algorithm is none of ES256K, ES256KADR36 and ES256"],
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
  session: [11, "session of the token is not acceptable"],
  sessionSignature: [12, "session signature is not valid"],
  sessionExpired: [13, "session has expired", "open a new one; check that both clocks are right"],
  sessionLifetime: [14, "session is valid for more than 12 hours", "open one with a shorter lifetime"],
  sessionTokenLifetime: [
    15,
    "token of a session is valid for more than 15 minutes",
    "make one with a shorter lifetime",
  ],
  sessionProvider: [16, "session is not for this provider"],
  insecurePage: [17, "the browser makes no keys for this page", "open it over https, or on localhost"],
});

const SHAPE = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;

/** Algorithms of account keys: RFC 8812, and the same over the document that wallets sign. */
export type AccountAlgorithm = "ES256K" | "ES256KADR36";

/** The header of a token or session; there is no other field. */
interface JoseHeader {
  readonly alg: string;
  readonly typ: string;
}

/** A compact JWS (RFC 7515) before its signature is verified. */
export interface Compact extends JoseHeader {
  /** The JSON value of the payload. */
  readonly payload: unknown;
  /** Header and payload as they were sent. */
  readonly input: string;
  readonly signature: Uint8Array;
}

/** The signed text: header and payload. */
export function compactInput(header: JoseHeader, payload: object): string {
  return [header, payload].map((part) => base64url(toUtf8(JSON.stringify(part)))).join(".");
}

/** Headers that name keys elsewhere (`kid`, `jku`, `x5u`, ...) are refused with everything else that is not needed. */
export function parseCompact(text: string, wanted: { readonly typ: string; readonly maxLength: number }): Compact {
  if (text.length > wanted.maxLength) throw jwtErrors.malformed(`larger than ${wanted.maxLength / 1024} KiB`);
  const [, header, payload, signature] = SHAPE.exec(text) ?? [];
  if (header === undefined || payload === undefined || signature === undefined) throw jwtErrors.malformed();
  const { alg, typ = "JWT", ...rest } = headerOf(parseJson(header));
  if (typeof alg !== "string" || typ !== wanted.typ || Object.keys(rest).length > 0)
    throw jwtErrors.malformed("header");
  const input = `${header}.${payload}`;
  return { alg, typ, payload: parseJson(payload), input, signature: fromBase64url(signature) };
}

function headerOf(header: unknown): { readonly alg?: unknown; readonly typ?: unknown } {
  if (typeof header !== "object" || header === null || Array.isArray(header)) throw jwtErrors.malformed("header");
  return header;
}

export function isAccountAlgorithm(alg: string): alg is AccountAlgorithm {
  return alg === "ES256K" || alg === "ES256KADR36";
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

export function base64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Strict: the text must be the one encoding of its bytes, so that no second token reads the same. */
export function fromBase64url(text: string): Uint8Array {
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
