import { errorText } from "../util/index.ts";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  ENOTFOUND: "unknown host name",
  EAI_AGAIN: "the host name cannot be looked up now",
  ETIMEDOUT: "connection timed out",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "network unreachable",
};

/** Why a connection failed, in a few words. */
export function reasonOf(error: unknown): string {
  // A name with several addresses fails with one error for each of them, and none of its own words.
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const code = first instanceof Error && "code" in first ? String(first.code) : "";
  return REASONS[code] ?? errorText(first);
}
