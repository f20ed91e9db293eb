/** Tokens by which tenants prove to a provider's gateway who they are. */
export { arbitraryDocument } from "./account.ts";
export type { SessionClaims, TokenClaims, TokenLeases, TokenScope } from "./claims.ts";
export { type AccountAlgorithm, hasDuplicateKeys, jwtErrors } from "./compact.ts";
export * from "./jwt.ts";
export {
  type OpenSession,
  openSession,
  readSessionClaims,
  SESSION_MAX_LIFETIME,
  type SessionConsent,
  type SessionKey,
  type SessionSigner,
  type SessionWish,
  sessionSigner,
  signSession,
} from "./session.ts";
