import { SvcError, sdkErrors } from "../../util/index.ts";
import { type Failure, failureOf } from "../failure.ts";

/** Status words of gRPC that queries fail with. */
export type QueryStatus =
  | "DeadlineExceeded"
  | "InvalidArgument"
  | "NotFound"
  | "ResourceExhausted"
  | "Unauthenticated"
  | "Unimplemented"
  | "Unknown";

/** A failed query as `abci_query` reports it. */
export interface QueryFailure extends Failure {
  /** `codespace/code` of our own error, which the ecosystem's four codes do not tell; no other chain says anything here. */
  readonly info: string;
}

/** The ecosystem carries a status over `abci_query` as one of these errors of codespace `sdk`. */
const CARRIERS = {
  DeadlineExceeded: sdkErrors.unknownRequest,
  InvalidArgument: sdkErrors.invalidRequest,
  NotFound: sdkErrors.keyNotFound,
  ResourceExhausted: sdkErrors.invalidRequest,
  Unauthenticated: sdkErrors.unauthorized,
  Unimplemented: sdkErrors.unknownRequest,
  Unknown: sdkErrors.unknownRequest,
} as const;

const STATUS_OF_SDK: ReadonlyMap<number, QueryStatus> = new Map<number, QueryStatus>([
  [sdkErrors.keyNotFound.code, "NotFound"],
  [sdkErrors.notFound.code, "NotFound"],
  [sdkErrors.unauthorized.code, "Unauthenticated"],
  [sdkErrors.notSupported.code, "Unimplemented"],
]);

/** An error to which the handler of a query gives its own status. */
export class StatusError extends SvcError {
  readonly status: QueryStatus;

  constructor(status: QueryStatus, cause: SvcError, words: string = cause.message) {
    super(cause.codespace, cause.code, words, { cause });
    this.status = status;
  }
}

/** A refusal of a query's path or height, reported unchanged. */
export function plainFailure(error: unknown): QueryFailure {
  const failure = failureOf(error);
  return { ...failure, info: `${failure.codespace}/${failure.code}` };
}

/**
 * A query handler's error, in the words that clients of the ecosystem look for: `rpc error: code = NotFound desc =
 * account svc1... not found: key not found`.
 */
export function queryFailure(error: unknown): QueryFailure {
  if (!(error instanceof SvcError)) return plainFailure(error);
  const status = statusOf(error);
  const carrier = CARRIERS[status];
  const tail = `: ${carrier.description}`;
  const words = error.message.endsWith(tail) ? error.message.slice(0, -tail.length) : error.message;
  const { codespace, code, message } = carrier(`rpc error: code = ${status} desc = ${words}`);
  return { codespace, code, log: message, info: `${error.codespace}/${error.code}` };
}

/** An error of a module whose description ends in "not found" says that a record does not exist. */
function statusOf(error: SvcError): QueryStatus {
  if (error instanceof StatusError) return error.status;
  const { codespace, code, message } = error;
  if (codespace === "sdk") return STATUS_OF_SDK.get(code) ?? "InvalidArgument";
  return message.endsWith("not found") ? "NotFound" : "InvalidArgument";
}
