import * as v from "valibot";

/** Actions that a token can allow at a provider's gateway. */
export const TOKEN_SCOPES = [
  "send-manifest",
  "get-manifest",
  "logs",
  "shell",
  "events",
  "status",
  "restart",
  "hostname-migrate",
  "ip-migrate",
  "attestation",
] as const;
/** An action at a gateway that a token may allow. */
export type TokenScope = (typeof TOKEN_SCOPES)[number];

const seconds = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const number32 = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(0xffff_ffff));
const scopes = v.pipe(v.array(v.picklist(TOKEN_SCOPES)), v.minLength(1), v.maxLength(TOKEN_SCOPES.length));

/** Deployment sequence numbers may exceed 2^53, so decimal text is accepted too, and always returned. */
const dseq = v.pipe(
  v.union([v.pipe(v.number(), v.safeInteger(), v.minValue(1)), v.pipe(v.string(), v.regex(/^[1-9]\d{0,19}$/))]),
  v.transform(String),
);

const deployment = v.strictObject({
  scope: v.optional(scopes),
  dseq,
  gseq: v.optional(number32),
  oseq: v.optional(number32),
  services: v.optional(v.pipe(v.array(text), v.minLength(1), v.maxLength(64))),
});

const granted = {
  scope: v.optional(scopes),
  deployments: v.optional(v.pipe(v.array(deployment), v.maxLength(64))),
};

const permission = v.strictObject({
  provider: text,
  access: v.picklist(["full", "scoped", "granular"]),
  ...granted,
});

const leases = v.variant("access", [
  v.strictObject({ access: v.literal("full") }),
  v.strictObject({ access: v.literal("scoped"), scope: scopes }),
  v.strictObject({
    access: v.literal("granular"),
    permissions: v.pipe(v.array(permission), v.minLength(1), v.maxLength(64)),
  }),
]);

/** Unknown claims are refused: such a claim could be a restriction that this version would not enforce. */
const tokenClaims = v.strictObject({
  version: v.literal("v1"),
  iss: text,
  aud: v.optional(text),
  iat: seconds,
  nbf: seconds,
  exp: seconds,
  jti: v.optional(text),
  /** The session whose key signs the token. */
  session: v.optional(v.pipe(v.string(), v.minLength(1))),
  leases,
});

const sessionClaims = v.strictObject({
  version: v.literal("v1"),
  iss: text,
  iat: seconds,
  exp: seconds,
  providers: v.union([v.literal("all"), v.pipe(v.array(text), v.minLength(1), v.maxLength(16))]),
  leases,
  /** 65 bytes of an uncompressed point in base64url. */
  key: v.pipe(v.string(), v.regex(/^B[A-Za-z0-9_-]{86}$/)),
});

/**
 * Claims of a session: until `exp` the holder of `key`, a point of P-256 in the form of WebCrypto's `raw`, may sign tokens of the account `iss` at
 * these providers, for at most these leases. Times are seconds since 1970.
 */
export type SessionClaims = v.InferOutput<typeof sessionClaims>;

/**
 * Claims of a gateway token. `iss` is the tenant's address, `aud` the provider's; times are seconds since 1970. One without `aud` or
 * `jti` could be used by a provider at another one, or a second time.
 */
export type TokenClaims = v.InferOutput<typeof tokenClaims>;
/** The access that a token grants: everything, some actions, or some actions on some deployments. */
export type TokenLeases = TokenClaims["leases"];
type Permission = Extract<TokenLeases, { access: "granular" }>["permissions"][number];

/** The claims of a parsed payload, or the path of the claim that is wrong. */
export function parseTokenClaims(payload: unknown): TokenClaims | string {
  const result = v.safeParse(tokenClaims, payload);
  if (!result.success) return result.issues[0].path?.map(({ key }) => String(key)).join(".") ?? "payload";
  return findFault(result.output.leases) ?? result.output;
}

/** The claims of a parsed session, or the path of the claim that is wrong. */
export function parseSessionClaims(payload: unknown): SessionClaims | string {
  const result = v.safeParse(sessionClaims, payload);
  if (!result.success) return result.issues[0].path?.map(({ key }) => String(key)).join(".") ?? "payload";
  if (result.output.exp <= result.output.iat) return "exp";
  return findFault(result.output.leases) ?? result.output;
}

/**
 * Checks the rules that the schema cannot express: which lists belong to which access, and that a provider is named
 * once.
 */
function findFault(granted: TokenLeases): string | undefined {
  if (granted.access !== "granular") return undefined;
  const providers = granted.permissions.map(({ provider }) => provider);
  if (new Set(providers).size < providers.length) return "leases.permissions.provider";
  return granted.permissions.map(permissionFault).find((fault) => fault !== undefined);
}

function permissionFault({ access, scope, deployments }: Permission): string | undefined {
  if ((access === "scoped") !== (scope !== undefined)) return "leases.permissions.scope";
  if ((access === "granular") !== (deployments !== undefined)) return "leases.permissions.deployments";
  const orphan = deployments?.some(({ gseq, oseq }) => oseq !== undefined && gseq === undefined);
  return orphan === true ? "leases.permissions.deployments.oseq" : undefined;
}
