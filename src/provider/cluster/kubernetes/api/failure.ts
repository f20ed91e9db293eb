import { errorText, printable, type SvcError } from "../../../../util/index.ts";
import { HOST_REASONS } from "../../../reasons.ts";
import { clusterErrors } from "../../contract/index.ts";

/**
 * `unreachable` and `refused` prove nothing about objects; `notFound` is the server's own statement that an object does
 * not exist, `conflict` that it is another one or has another owner, `expired` that a version is too old to continue
 * from.
 */
export type FailureKind = "unreachable" | "refused" | "notFound" | "conflict" | "expired";

/** A call to the API server that failed. */
export class ApiFailure extends Error {
  readonly kind: FailureKind;
  /** HTTP status of the answer; undefined where there was none. */
  readonly status: number | undefined;

  constructor(kind: FailureKind, message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ApiFailure";
    this.kind = kind;
    this.status = options.status;
  }

  /** The same for the operator, with the words of the server. */
  toOperator(): SvcError {
    const make = this.kind === "unreachable" ? clusterErrors.unreachable : clusterErrors.refused;
    return make(this.message, { cause: this });
  }

  /** The same for callers outside the driver, and so for tenants: the words of the server are only in the cause. */
  toSvcError(): SvcError {
    if (this.kind === "unreachable") return clusterErrors.unreachable(undefined, { cause: this });
    return clusterErrors.refused(HOST_REASONS.setup.tenant, { cause: this });
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiFailure && error.kind === "notFound";
}

/** Anything thrown on the way to the server. */
export function unreachable(error: unknown): ApiFailure {
  return error instanceof ApiFailure ? error : new ApiFailure("unreachable", errorText(error), { cause: error });
}

/** The server's account of a failure, as found in the body of an answer or in a line of a watch. */
export interface StatusObject {
  readonly kind?: unknown;
  readonly message?: unknown;
  readonly reason?: unknown;
  readonly code?: unknown;
}

/**
 * Sorts a failed answer. A 404 counts only with the server's own account of it: a proxy in front, or a server that does not
 * know the kind of object, says nothing about objects.
 */
export function failureOf(status: number, body: unknown, text: string): ApiFailure {
  const account: StatusObject = typeof body === "object" && body !== null ? body : {};
  const isOwn = account.kind === "Status";
  const said = isOwn && typeof account.message === "string" ? account.message : text;
  const message = `status ${status}: ${bounded(said)}`;
  return new ApiFailure(kindOf(status, isOwn ? account.reason : undefined), message, { status });
}

function kindOf(status: number, reason: unknown): FailureKind {
  if (status === 404 && reason === "NotFound") return "notFound";
  if (status === 409) return "conflict";
  if (status === 410) return "expired";
  return status >= 500 || status === 429 ? "unreachable" : "refused";
}

const MAX_TEXT = 1_000;

/** One printable line of bounded length. */
function bounded(text: string): string {
  const line = printable(text.slice(0, 2 * MAX_TEXT).replaceAll(/\s+/g, " ")).trim();
  return line.length <= MAX_TEXT ? line : `${line.slice(0, MAX_TEXT)} ...`;
}

/** The result of a task of the driver; its failures are for callers outside the driver. */
export async function answer<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw publicError(error);
  }
}

export function publicError(error: unknown): unknown {
  return error instanceof ApiFailure ? error.toSvcError() : error;
}
