import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { gatewayErrors } from "../errors.ts";

/** What a request came with: exactly one of the two. */
export type Credential =
  | { readonly kind: "certificate"; readonly der: Uint8Array; readonly alone: boolean }
  | { readonly kind: "token"; readonly token: string };

const BEARER = /^Bearer ([A-Za-z0-9_.-]+)$/i;
const TOKEN_PARAMETERS = ["token", "access_token", "authorization", "jwt", "bearer"];

/**
 * Reads the credential of a request; refuses a certificate together with a token, two tokens, and tokens in the
 * address.
 */
export function readCredential(request: IncomingMessage): Credential {
  refuseTokenInAddress(request.url ?? "");
  const headers = authorizationHeaders(request);
  const certificate = peerCertificate(request);
  if (headers.length > 1) throw gatewayErrors.badRequest("more than one Authorization header");
  const [header] = headers;
  if (header === undefined) {
    if (certificate === undefined) throw gatewayErrors.noCredential();
    return certificate;
  }
  if (certificate !== undefined) throw gatewayErrors.ambiguous();
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw gatewayErrors.badRequest("the Authorization header is not `Bearer TOKEN`");
  return { kind: "token", token };
}

/** Node keeps only the first of several such headers, so the raw ones are counted. */
function authorizationHeaders({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization");
}

function refuseTokenInAddress(url: string): void {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  if (!url.includes("?") || !TOKEN_PARAMETERS.some((name) => query.has(name))) return;
  throw gatewayErrors.badRequest("a token does not belong in the address; send it in the Authorization header");
}

function peerCertificate({ socket }: IncomingMessage): Credential | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const { issuerCertificate: issuer } = certificate;
  const alone = issuer === undefined || issuer.fingerprint256 === certificate.fingerprint256;
  return { kind: "certificate", der: certificate.raw, alone };
}
