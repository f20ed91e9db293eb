import { defineErrors, isOneOf, SvcError, sdkErrors } from "../util/index.ts";
import { wireErrors } from "../wire/index.ts";

/** Errors in the communication with a node. Errors of the chain keep the chain's own numbers. */
export const clientErrors = defineErrors("client", {
  unreachable: [1, "no connection", "is the node running, and the address right? name another node with --node"],
  badAddress: [2, "invalid node address", "write <host>:<port>, tcp://<host>:<port> or http(s)://<host>[:<port>]"],
  rpc: [3, "the node refused the call"],
  badAnswer: [4, "unexpected answer", "is this the RPC address of a node, and not its REST or gRPC one?"],
  timeout: [5, "timed out"],
  wrongChain: [6, "wrong chain", "give the address of a node of your chain, or its --chain-id"],
  pruned: [7, "block no longer kept by the node", "query a node that keeps older blocks"],
  closed: [8, "the client was closed"],
  gas: [9, "invalid gas setting"],
  signing: [10, "cannot sign"],
  noQuery: [11, "unknown query", "is it the right --node? for a network with its own names give its --profile"],
  noProof: [13, "the node gives no proof", "name another node with --node; --verify off asks without proof"],
  busy: [12, "the node is busy", "try again in a while, or name another node with --node"],
});

/** Whether a node failed to prove an answer: the same question to it has no other end. */
export function isUnproven(error: unknown): boolean {
  if (!(error instanceof SvcError)) return false;
  return error.codespace === "light" || isOneOf([clientErrors.noProof, wireErrors.badProof], error);
}

/** An answer that refuses a request for the moment: HTTP status 429 or 503. */
export class BusyError extends SvcError {
  /** Pause that the server asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(detail: string, retryAfterMs: number | undefined) {
    const { codespace, code, message, hint = "" } = clientErrors.busy(detail);
    super(codespace, code, message, { hint });
    this.name = "BusyError";
    this.retryAfterMs = retryAfterMs;
  }
}

/** An error member of a JSON-RPC answer. */
export class RpcError extends SvcError {
  /** Number of the JSON-RPC error, for example -32603. */
  readonly rpcCode: number;
  /** The node's own words. */
  readonly data: string;

  constructor(rpcCode: number, message: string, data: string) {
    const words = data === "" ? message : `${message}: ${data}`;
    super("client", clientErrors.rpc.code, `RPC error ${rpcCode} - ${words}`);
    this.name = "RpcError";
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** Whether a node refused a request for the moment: by its HTTP status, or with the code of a full mempool, which stands for any full queue. */
export function isBusy(error: unknown): boolean {
  if (error instanceof RpcError) return error.message.includes(sdkErrors.mempoolFull.description);
  return isOneOf([clientErrors.busy, sdkErrors.mempoolFull], error);
}
