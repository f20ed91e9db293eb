import {
  randomBytes,
  signToken,
  TOKEN_DEFAULT_LIFETIME,
  type TokenScope,
  type TokenSigner,
} from "../../crypto/index.ts";
import { toHex } from "../../util/index.ts";
import type { OrderNumbers } from "../../wire/index.ts";

/** How a tenant authenticates: with a published certificate, or with tokens signed by the account's key. */
export type GatewayCredential =
  | { readonly kind: "certificate"; readonly certificate: string; readonly privateKey: string }
  | { readonly kind: "token"; readonly account: string; readonly sign: TokenSigner };

/** The purpose of one token; it allows nothing else. Without numbers it is for all leases at the provider. */
export interface TokenPurpose extends Partial<OrderNumbers> {
  readonly provider: string;
  readonly scope: TokenScope;
  /** Seconds; default: 15 minutes, which is also the most in a session. */
  readonly lifetime?: number;
}

/** Random bytes of a token's id. */
const ID_BYTES = 16;

/** Makes a token for one purpose. `now`: milliseconds since 1970. */
export function makeToken(
  { account, sign }: Extract<GatewayCredential, { kind: "token" }>,
  purpose: TokenPurpose,
  now: number,
): Promise<string> {
  const { provider, lifetime: wished = TOKEN_DEFAULT_LIFETIME } = purpose;
  const lifetime = typeof sign === "function" ? wished : Math.min(wished, TOKEN_DEFAULT_LIFETIME);
  const iat = Math.floor(now / 1000);
  const leases = { access: "granular" as const, permissions: [{ provider, ...permitted(purpose) }] };
  const times = { iat, nbf: iat, exp: iat + lifetime };
  return signToken(
    { version: "v1", iss: account, aud: provider, ...times, jti: toHex(randomBytes(ID_BYTES)), leases },
    sign,
  );
}

function permitted({ scope, dseq, gseq, oseq }: TokenPurpose) {
  if (dseq === undefined) return { access: "scoped" as const, scope: [scope] };
  const deployment = {
    dseq: dseq.toString(),
    scope: [scope],
    ...(gseq === undefined ? {} : { gseq }),
    ...(oseq === undefined ? {} : { oseq }),
  };
  return { access: "granular" as const, deployments: [deployment] };
}
