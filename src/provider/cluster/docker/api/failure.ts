import { errorText, type SvcError } from "../../../../util/index.ts";
import { clusterErrors } from "../../contract/index.ts";

export type FailureKind = "unreachable" | "notFound" | "refused";

/** A failed engine call: `unreachable` proves nothing about workloads, `notFound` that the object is not there. */
export class EngineFailure extends Error {
  readonly kind: FailureKind;
  /** The engine's words at full length. */
  readonly detail: string;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "EngineFailure";
    this.kind = kind;
    this.detail = cause === undefined ? message : errorText(cause);
  }

  /** The same for callers outside the driver. */
  toSvcError(): SvcError {
    const make = this.kind === "unreachable" ? clusterErrors.unreachable : clusterErrors.refused;
    return make(this.message, { cause: this });
  }
}

/** Classifies an error of an engine call. One with a status code came from the engine, any other did not. */
export function engineFailure(error: unknown): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const status = statusOf(error);
  const text = cleanText(errorText(error));
  if (status === undefined) return new EngineFailure("unreachable", text, error);
  return new EngineFailure(isGone(status, text) ? "notFound" : "refused", text, error);
}

/** Docker keeps a container's name for a moment after it began to remove it. */
function isGone(status: number, text: string): boolean {
  return status === 404 || (status === 409 && /dead or marked for removal/.test(text));
}

export function isNotFound(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "notFound";
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof EngineFailure && error.kind === "unreachable";
}

/** For `catch`: an object that is already gone is what the caller wanted. */
export function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Errors for callers outside the driver. */
export function publicError(error: unknown): unknown {
  return error instanceof EngineFailure ? error.toSvcError() : error;
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return undefined;
  return typeof error.statusCode === "number" ? error.statusCode : undefined;
}

const MAX_TEXT = 1_000;

/** Drops the client library's `(HTTP code 500) server error -` and keeps one bounded line. */
function cleanText(raw: string): string {
  const text = raw
    .replace(/^\(HTTP code \d+\)[^-]*-\s*/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  // The cause is at the end.
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT / 4)} ... ${text.slice((-MAX_TEXT * 3) / 4)}`;
}
