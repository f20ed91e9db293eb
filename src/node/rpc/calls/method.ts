import type { AppQuery, AppQueryResult } from "../../../abci/index.ts";
import { type Awaitable, type ChainSource, type EngineMethod, parseQuery, type Query } from "../../../engine/index.ts";
import { errorText, SvcError } from "../../../util/index.ts";
import type { NodeInfo } from "../../node-info.ts";
import type { CommitWaiters } from "../../services/commit-waiters.ts";
import { internalError, invalidParams, RpcError } from "./errors.ts";
import type { Param, ParamSource } from "./params.ts";

/** The genesis file, which may be far larger than any answer. */
export interface GenesisSource {
  /** Bytes of the file. */
  size(): number;
  /** Its bytes from `start` on, at most `length`. */
  read(start: number, length: number): Uint8Array;
}

/** Parts that the methods use. */
export interface RpcEnvironment {
  readonly chain: ChainSource;
  readonly waiters: CommitWaiters;
  nodeInfo(): NodeInfo;
  readonly genesis: GenesisSource;
  /** ABCI queries, the node's own services included. */
  query(query: AppQuery): Awaitable<AppQueryResult>;
  /** Overrides how methods are run. */
  readonly run?: RunMethod;
}

/** A call of a method: its parameters by name or in order, or the query of a URL. */
export interface MethodCall {
  readonly method: string;
  readonly params: unknown;
  readonly source: ParamSource;
}

/** Runs a method; resolves with the JSON of its result. */
export type RunMethod = (call: MethodCall, env: RpcEnvironment) => Promise<string>;

/** A method of the RPC with its parameters in positional order. */
export interface RpcMethod {
  readonly params: readonly string[];
  call(env: RpcEnvironment, values: (name: string) => unknown, source: ParamSource): unknown;
}

type Values<P> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never };

/** Defines a method; its parameters are read and checked before `call` runs. */
export function defineMethod<P extends Readonly<Record<string, Param<unknown>>>>(
  params: P,
  call: (env: RpcEnvironment, values: Values<P>) => unknown,
): RpcMethod;
export function defineMethod(
  params: Readonly<Record<string, Param<unknown>>>,
  call: (env: RpcEnvironment, values: Readonly<Record<string, unknown>>) => unknown,
): RpcMethod {
  const entries = Object.entries(params);
  return {
    params: entries.map(([name]) => name),
    call(env, values, source) {
      const read = entries.map(([name, param]) => [name, readParam(param, { name, value: values(name), source })]);
      return call(env, Object.fromEntries(read));
    },
  };
}

/** Defines a method about the engine: an engine beside the node answers it itself. */
export function defineEngineMethod(name: EngineMethod, own: (env: RpcEnvironment) => unknown): RpcMethod {
  return defineMethod({}, (env) => (env.chain.ask === undefined ? own(env) : env.chain.ask(name, {})));
}

function readParam(param: Param<unknown>, from: { name: string; value: unknown; source: ParamSource }): unknown {
  try {
    return param(from.value, from.source);
  } catch (error) {
    const kind = from.source === "uri" ? "http" : "json";
    throw invalidParams(`error converting ${kind} params to arguments: ${from.name}: ${errorText(error)}`);
  }
}

/** The error a client sees of anything thrown by a method. */
export function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const shown = internalError(errorText(error));
  // Anything but one of our own refusals is a fault of the node.
  if (!(error instanceof SvcError)) shown.cause = error;
  return shown;
}

/** A refusal that is the caller's fault. */
export function refuse(text: string): SvcError {
  return new SvcError("rpc", 1, text);
}

/** A bad query is the caller's fault. */
export function parseQueryText(query: string): Query {
  try {
    return parseQuery(query);
  } catch (error) {
    throw refuse(errorText(error));
  }
}
