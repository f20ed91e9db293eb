import { Code, ConnectError } from "@connectrpc/connect";
import { toFailure } from "../errors.ts";

const CODES: Readonly<Record<number, Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  408: Code.DeadlineExceeded,
  422: Code.InvalidArgument,
  429: Code.ResourceExhausted,
  503: Code.Unavailable,
};

/** An error as gRPC tells it: only known ones show their text. */
export function callError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const { status, body } = toFailure(error);
  return new ConnectError(body.message, CODES[status] ?? Code.Internal);
}
