/** Errors of JSON-RPC 2.0 with the engine's texts; `data` has the details. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: string | undefined;

  constructor(code: number, message: string, data?: string) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

export function parseError(data: string): RpcError {
  return new RpcError(PARSE_ERROR, "Parse error. Invalid JSON", data);
}

export function invalidRequest(data: string): RpcError {
  return new RpcError(INVALID_REQUEST, "Invalid Request", data);
}

export function methodNotFound(): RpcError {
  return new RpcError(METHOD_NOT_FOUND, "Method not found");
}

export function invalidParams(data: string): RpcError {
  return new RpcError(INVALID_PARAMS, "Invalid params", data);
}

/** Any refusal of a method, even for a mistake of the caller: the engine's clients expect this code. */
export function internalError(data: string): RpcError {
  return new RpcError(INTERNAL_ERROR, "Internal error", data);
}

/**
 * The HTTP status of all errors in answers to GET, and of requests that are not JSON: as in the reference, whose
 * clients then look at the body.
 */
export const ERROR_STATUS = 500;
