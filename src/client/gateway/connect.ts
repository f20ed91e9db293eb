import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { CERTIFICATE_BLOCK, decodePem, parseCertificate } from "../../crypto/index.ts";
import { equalBytes } from "../../util/index.ts";
import { reasonOf } from "../rpc/reason.ts";
import type { GatewayCredential } from "./credential.ts";
import { gatewayClientErrors } from "./errors.ts";
import { type GatewayTarget, gatewayAddress } from "./target.ts";

export interface ConnectOptions {
  readonly credential: GatewayCredential | undefined;
  readonly timeoutMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** ALPN protocols of the connection; HTTP/1.1 unless given. */
  readonly protocols?: readonly string[];
}

const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

/**
 * A connection to the provider itself: nothing is sent unless its certificate is byte for byte the one on the chain.
 */
export async function connectGateway(target: GatewayTarget, options: ConnectOptions): Promise<TLSSocket> {
  const first = await openSocket(target, options);
  const opened = performance.now();
  const judged = await orDestroy(first, checkServer(first, target, options.now));
  if (performance.now() - opened < MAX_IDLE_MS) return first;
  first.destroy();
  const second = await openSocket(target, options);
  await orDestroy(second, checkSameServer(second, judged));
  return second;
}

/** Servers end connections that have said nothing for a few seconds; a chain may take longer to say whose certificate it is. */
const MAX_IDLE_MS = 2_000;

async function orDestroy<T>(socket: TLSSocket, check: Promise<T>): Promise<T> {
  try {
    return await check;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The certificate just judged need not be judged again. */
async function checkSameServer(socket: TLSSocket, judged: Uint8Array): Promise<void> {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined || !equalBytes(shown.raw, judged)) {
    throw gatewayClientErrors.wrongServer("it changed its certificate while the old one was being checked");
  }
}

function openSocket(
  { hostUri }: GatewayTarget,
  { credential, timeoutMs, protocols }: ConnectOptions,
): Promise<TLSSocket> {
  const { host, port } = gatewayAddress(hostUri);
  const own = credential?.kind === "certificate" ? { cert: credential.certificate, key: credential.privateKey } : {};
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...own,
      ...(protocols === undefined ? {} : { ALPNProtocols: [...protocols] }),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      minVersion: "TLSv1.3",
      // No authority vouches for the certificate: the chain does, see `checkServer`.
      rejectUnauthorized: false,
      timeout: timeoutMs,
    });
    const fail = (cause: Error) => {
      socket.destroy();
      reject(gatewayClientErrors.unreachable(`${hostUri}: ${reasonOf(cause)}`, { cause }));
    };
    socket.once("error", fail);
    socket.once("timeout", () => fail(new Error("no connection in time")));
    socket.once("secureConnect", () => {
      socket.off("error", fail);
      // The user of the socket listens for its errors; until then they must not end the process.
      socket.on("error", () => {});
      socket.removeAllListeners("timeout").setTimeout(0);
      resolve(socket);
    });
  });
}

/** Resolves with the certificate that was found to be the provider's. */
async function checkServer(
  socket: TLSSocket,
  { provider, certificateOf }: GatewayTarget,
  now: number,
): Promise<Uint8Array> {
  const shown = socket.getPeerX509Certificate();
  if (shown === undefined) throw gatewayClientErrors.wrongServer("it presents no certificate");
  const certificate = readCertificate(shown.raw);
  if (certificate === undefined || certificate.commonName !== provider) {
    throw gatewayClientErrors.wrongServer(`its certificate does not belong to ${provider}`);
  }
  const record = await certificateOf(provider, certificate.serial);
  if (record === undefined) throw gatewayClientErrors.wrongServer("its certificate is not published on the chain");
  if (record.state !== "valid") throw gatewayClientErrors.wrongServer("its certificate was revoked");
  if (!equalBytes(decodePem(CERTIFICATE_BLOCK, record.pem), shown.raw)) {
    throw gatewayClientErrors.wrongServer("its certificate is not the one that is published on the chain");
  }
  if (now < certificate.notBefore * 1000 || now >= certificate.notAfter * 1000) {
    throw gatewayClientErrors.wrongServer("its certificate is not valid at this time");
  }
  if (!usagesOf(shown.raw).includes(SERVER_AUTH))
    throw gatewayClientErrors.wrongServer("its certificate is not a server certificate");
  return shown.raw;
}

function readCertificate(der: Uint8Array): ReturnType<typeof parseCertificate> | undefined {
  try {
    return parseCertificate(der);
  } catch {
    return undefined;
  }
}

function usagesOf(der: Uint8Array): readonly string[] {
  return new X509Certificate(der).keyUsage ?? [];
}
