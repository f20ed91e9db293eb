/** Tokens by which tenants prove to a provider's gateway who they are. */
export type { TokenClaims, TokenLeases, TokenScope } from "./claims.ts";
export * from "./jwt.ts";
