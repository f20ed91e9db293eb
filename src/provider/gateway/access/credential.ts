import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { gatewayErrors } from "../errors.ts";
import { readToken } from "./bearer.ts";

/** The credential of a request: exactly one of the two. */
export type Credential =
  | { readonly kind: "certificate"; readonly der: Uint8Array; readonly alone: boolean }
  | { readonly kind: "token"; readonly token: string };

/** A request over HTTP/1.1 or HTTP/2. */
export type CredentialCarrier = Pick<IncomingMessage, "headers" | "rawHeaders" | "url" | "socket">;

/** Reads the credential of a request that must have one. */
export function readCredential(request: CredentialCarrier): Credential {
  const credential = findCredential(request);
  if (credential === undefined) throw gatewayErrors.noCredential();
  return credential;
}

/**
 * Reads the credential of a request; undefined where there is none. Refuses a certificate together with a token, two tokens, tokens in the address, and
 * certificates from web pages.
 */
export function findCredential(request: CredentialCarrier): Credential | undefined {
  const token = readToken(request);
  const certificate = peerCertificate(request);
  if (token === undefined) {
    if (certificate === undefined) return undefined;
    // A browser adds a client certificate by itself, even for pages of other origins, but it never adds a token.
    if (request.headers.origin !== undefined) throw gatewayErrors.origin();
    return certificate;
  }
  if (certificate !== undefined) throw gatewayErrors.ambiguous();
  return { kind: "token", token };
}

function peerCertificate({ socket }: CredentialCarrier): Credential | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const { issuerCertificate: issuer } = certificate;
  const alone = issuer === undefined || issuer.fingerprint256 === certificate.fingerprint256;
  return { kind: "certificate", der: certificate.raw, alone };
}
