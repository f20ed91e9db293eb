import { isOneOf, SvcError } from "../../util/index.ts";
import { NOT_FOUND_ERRORS } from "../../wire/index.ts";
import { queryFault } from "../chain/refusal.ts";

/**
 * Whether the chain itself said that a record does not exist: by our own error code, or by the text of other chains. A
 * connection error never says so.
 */
export function saysNotFound(error: unknown): boolean {
  if (!(error instanceof SvcError)) return false;
  // If our chain names the inner error, the text around it may be about something that the record needs.
  return isOneOf(NOT_FOUND_ERRORS, error) || (error.codespace === "sdk" && queryFault(error) === "NotFound");
}

/** The answer of a query, or undefined if the chain said that there is no such record. Rejects with everything else. */
export async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (saysNotFound(error)) return undefined;
    throw error;
  }
}
