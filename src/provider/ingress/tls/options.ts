import { constants } from "node:crypto";
import type { SecureContextOptions } from "node:tls";

/**
 * TLS 1.2 with forward secrecy and authenticated ciphers, and TLS 1.3 (RFC 9325). Renegotiation, which lets a client ask
 * for one handshake after another, is off.
 */
export const TLS_OPTIONS = {
  minVersion: "TLSv1.2",
  ciphers: [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const satisfies SecureContextOptions;

/** Protocols that a client may choose (RFC 7301), the preferred one first. */
export const PROTOCOLS = ["h2", "http/1.1"] as const;
