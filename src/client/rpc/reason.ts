import { errorText } from "../../util/index.ts";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name cannot be resolved right now",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority that this machine does not trust",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its certificate is signed by an authority that this machine does not trust",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an authority that this machine does not trust",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name",
  HPE_HEADER_OVERFLOW: "its answer has too many headers",
};

/** Families of codes, whose texts come from libraries. */
function reasonOfKind(code: string): string | undefined {
  if (code.startsWith("HPE_")) return "it does not speak HTTP";
  return code === "EPROTO" || code.startsWith("ERR_SSL_") ? "it does not speak TLS as https:// does" : undefined;
}

/** Why a connection failed, in a few words. */
export function reasonOf(error: unknown): string {
  // A name with several addresses fails with one error for each, and no text of its own.
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const code = first instanceof Error && "code" in first ? String(first.code) : "";
  return REASONS[code] ?? reasonOfKind(code) ?? errorText(first);
}
