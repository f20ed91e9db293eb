import { X509Certificate } from "node:crypto";
import {
  CERTIFICATE_BLOCK,
  decodePem,
  parseCertificate,
  readSessionClaims,
  readTokenClaims,
  type SessionClaims,
  TOKEN_LEEWAY,
  type TokenClaims,
  verifyToken,
} from "../../../crypto/index.ts";
import { equalBytes, SvcError } from "../../../util/index.ts";
import { isAddress } from "../../../wire/index.ts";
import { gatewayErrors } from "../errors.ts";
import type { Credential } from "./credential.ts";
import type { ChainFacts } from "./facts.ts";

/** Who asks, as proven by the credential against the state of the chain now. */
export interface Principal {
  readonly owner: string;
  /** Only tokens narrow what their account may do. */
  readonly claims: TokenClaims | undefined;
  /** The session of the token, which narrows it further. */
  readonly session: SessionClaims | undefined;
  /** Milliseconds since 1970 at which the credential ends. */
  readonly endsAt: number;
}

export interface PrincipalOptions {
  readonly facts: ChainFacts;
  /** The provider's own address. */
  readonly provider: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The credential has opened a stream before. */
  readonly hasOpened?: boolean;
}

export function authenticate(credential: Credential, options: PrincipalOptions): Promise<Principal> {
  return credential.kind === "token"
    ? tokenPrincipal(credential.token, options)
    : certificatePrincipal(credential, options);
}

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

/**
 * TLS has proven that the peer holds the key of its certificate. Only the chain proves that the certificate is the
 * account's: its bytes must equal the valid record.
 */
async function certificatePrincipal(
  { der, alone }: Extract<Credential, { kind: "certificate" }>,
  { facts, now }: PrincipalOptions,
): Promise<Principal> {
  if (!alone) throw gatewayErrors.certificate("more than one certificate was sent");
  const { commonName, serial, notBefore, notAfter } = readAccountCertificate(der);
  if (!isAddress(commonName)) throw gatewayErrors.certificate("its name is not an account address");
  const record = await facts.certificate(commonName, serial);
  if (record === undefined) throw gatewayErrors.certificate("it is not published on the chain");
  if (record.state !== "valid") throw gatewayErrors.certificate("it was revoked");
  if (!equalBytes(decodePem(CERTIFICATE_BLOCK, record.pem), der)) {
    throw gatewayErrors.certificate("it is not the one that is published on the chain");
  }
  if (now < notBefore * 1000) throw gatewayErrors.certificate("it is not valid yet");
  if (now >= notAfter * 1000) throw gatewayErrors.certificate("it has expired");
  return { owner: commonName, claims: undefined, session: undefined, endsAt: notAfter * 1000 };
}

function readAccountCertificate(der: Uint8Array): ReturnType<typeof parseCertificate> {
  let usages: readonly string[] | undefined;
  let own = false;
  try {
    const certificate = new X509Certificate(der);
    usages = certificate.keyUsage;
    own = certificate.issuer === certificate.subject;
  } catch (cause) {
    throw gatewayErrors.certificate("it cannot be read", { cause });
  }
  if (!own) throw gatewayErrors.certificate("its issuer is not its own account");
  if (usages?.includes(CLIENT_AUTH) !== true) throw gatewayErrors.certificate("it is not a client certificate");
  try {
    return parseCertificate(der);
  } catch (cause) {
    throw gatewayErrors.certificate("it is not an account's certificate", { cause });
  }
}

async function tokenPrincipal(
  token: string,
  { facts, provider, now, hasOpened = false }: PrincipalOptions,
): Promise<Principal> {
  const issuer = (await refusing(() => readTokenClaims(token))).iss;
  if (!isAddress(issuer)) throw gatewayErrors.token("its issuer is not an account address");
  const key = await facts.publicKey(issuer);
  if (key === undefined) throw gatewayErrors.token("its account has no key on the chain yet");
  if (key.type !== "secp256k1") throw gatewayErrors.token("its account has no single key; use a client certificate");
  const seconds = Math.floor(now / 1000);
  const expected = { publicKey: key.key, issuer, audience: provider, now: seconds, hasOpened };
  const claims = await refusing(() => verifyToken(token, expected));
  const session = claims.session === undefined ? undefined : await readSessionClaims(claims.session);
  return { owner: issuer, claims, session, endsAt: ((session ?? claims).exp + TOKEN_LEEWAY) * 1000 };
}

/** The reasons of the token library, without the token, as refusals of the gateway. */
async function refusing<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw gatewayErrors.token(error.message, error.hint === undefined ? {} : { hint: error.hint });
  }
}
