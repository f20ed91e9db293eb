import { errorText } from "../../../util/index.ts";
import { jsonRefusal, MAX_REQUEST_BYTES } from "../../../wire/index.ts";
import { type ByteBudget, nextTurn } from "../../http/index.ts";
import {
  ERROR_STATUS,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  parseError,
  type RpcError,
} from "./errors.ts";
import { type MethodCall, type RpcEnvironment, type RpcMethod, rpcErrorOf } from "./method.ts";

/** Bytes of the answers to one batch; calls beyond them are refused. */
const MAX_BATCH_BYTES = 10 * 1024 * 1024;

/** JSON-RPC 2.0 over any transport: from the text of a request to the text of its answer. */

/** The id, which answers repeat: a text or a whole number; -1 for requests by GET. */
export type RequestId = string | number;

export interface RpcCall {
  /** Undefined for a notification, which is not answered. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: unknown;
}

type Methods = ReadonlyMap<string, RpcMethod>;

export interface DispatchOptions {
  readonly methods: Methods;
  readonly maxBatch: number;
  /** Answers of batches that are not complete yet. */
  readonly unfinished: ByteBudget;
}

/** The handler of a connection's requests and its caller: the server's own options, not copied for each request. */
export interface Dispatch {
  readonly env: RpcEnvironment;
  readonly options: DispatchOptions;
  /** Counts one more call of the client, after the first of a batch; false when it has sent too many. */
  readonly admits?: () => boolean;
  /** Methods of the connection itself, with the id of the call; undefined when it has no such method. */
  readonly local?: (call: RpcCall, id: RequestId) => unknown;
}

/** `result` is JSON. */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function errorAnswer(id: RequestId, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, ...(data === undefined ? {} : { data }) } });
}

/** The id of answers to requests that were not understood. */
const UNKNOWN_ID = -1;

/** Answers a request or a batch; undefined when there is nothing to answer. Never rejects. */
export async function answerText(text: string, dispatch: Dispatch): Promise<string | undefined> {
  const request = parseJson(text);
  return request.error === undefined ? answerValue(request.value, dispatch) : errorAnswer(UNKNOWN_ID, request.error);
}

/** Like `answerText`, with the HTTP status: it is an error only for bytes that are not JSON. */
export async function answerPost(
  text: string,
  dispatch: Dispatch,
): Promise<{ status: number; text: string | undefined }> {
  const request = parseJson(text);
  if (request.error !== undefined) return { status: ERROR_STATUS, text: errorAnswer(UNKNOWN_ID, request.error) };
  return { status: 200, text: await answerValue(request.value, dispatch) };
}

async function answerValue(value: unknown, dispatch: Dispatch): Promise<string | undefined> {
  const { options } = dispatch;
  if (!Array.isArray(value)) return await answerOne(value, dispatch);
  const batch: readonly unknown[] = value;
  const refusal = batchRefusal(batch, options.maxBatch);
  if (refusal !== undefined) return errorAnswer(UNKNOWN_ID, refusal);
  const given = (await answerBatch(batch, dispatch)).filter((answer) => answer !== undefined);
  return given.length === 0 ? undefined : `[${given.join(",")}]`;
}

/**
 * Answers the calls one after the other, and stops running them once the answers have reached their limit. Calls that wait for a
 * block do so in parallel.
 */
async function answerBatch(batch: readonly unknown[], dispatch: Dispatch): Promise<(string | undefined)[]> {
  const { options, admits = () => true } = dispatch;
  const answers: Promise<string | undefined>[] = [];
  const held: (() => void)[] = [];
  let bytes = 0;
  const kept = (one: unknown, text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    bytes += text.length;
    const release = options.unfinished.hold(text.length);
    if (release !== undefined) held.push(release);
    const isOver = bytes > MAX_BATCH_BYTES && bytes !== text.length;
    return isOver || release === undefined ? tooLarge(one) : text;
  };
  try {
    for (const one of batch) {
      // Requests of other clients are read between two calls.
      await nextTurn();
      const isAdmitted = answers.length === 0 || admits();
      const answer = isAdmitted && bytes < MAX_BATCH_BYTES ? answerOne(one, dispatch) : refused(one, isAdmitted);
      const text = answer.then((each) => kept(one, each));
      answers.push(text);
      if (!isBroadcast(one)) await text;
    }
    return await Promise.all(answers);
  } finally {
    for (const release of held) release();
  }
}

function isBroadcast(request: unknown): boolean {
  return methodOf(request)?.startsWith("broadcast_") ?? false;
}

function methodOf(request: unknown): string | undefined {
  if (typeof request !== "object" || request === null || !("method" in request)) return undefined;
  return typeof request.method === "string" ? request.method : undefined;
}

async function refused(request: unknown, isAdmitted: boolean): Promise<string | undefined> {
  return isAdmitted
    ? tooLarge(request)
    : refusal(request, "too many requests from your address; try again in a second");
}

function tooLarge(request: unknown): string | undefined {
  return refusal(request, `the answers of a batch may have ${MAX_BATCH_BYTES} bytes: ask for less at a time`);
}

function refusal(request: unknown, text: string): string | undefined {
  const call = readCall(request);
  if ("error" in call) return errorAnswer(call.id, call.error);
  return call.id === undefined ? undefined : errorAnswer(call.id, internalError(text));
}

/** Methods whose requests may be long: they carry a transaction, or a query that carries one. */
const CARRIERS: ReadonlySet<string> = new Set([
  "abci_query",
  "broadcast_tx_async",
  "broadcast_tx_commit",
  "broadcast_tx_sync",
  "check_tx",
]);

function parseJson(text: string): { value?: unknown; error?: RpcError } {
  const refusal = jsonRefusal(text);
  if (refusal !== undefined) return { error: invalidRequest(refusal) };
  try {
    const value: unknown = JSON.parse(text);
    if (text.length <= MAX_REQUEST_BYTES || carriesTx(value)) return { value };
    return { error: invalidRequest(`a request without a transaction may have ${MAX_REQUEST_BYTES} bytes`) };
  } catch (error) {
    return { error: parseError(`error unmarshaling request: ${errorText(error)}`) };
  }
}

function carriesTx(value: unknown): boolean {
  return Array.isArray(value) ? value.some(carriesTx) : CARRIERS.has(methodOf(value) ?? "");
}

function batchRefusal(batch: readonly unknown[], maximum: number): RpcError | undefined {
  if (batch.length === 0) return invalidRequest("an empty batch");
  if (batch.length <= maximum) return undefined;
  return invalidRequest(`batch request exceeds maximum (${maximum}) allowed number of requests`);
}

async function answerOne(request: unknown, { env, options, local: methods }: Dispatch): Promise<string | undefined> {
  const call = readCall(request);
  if ("error" in call) return errorAnswer(call.id, call.error);
  const { id } = call;
  if (id === undefined) return undefined;
  try {
    const local = methods?.(call, id);
    if (local !== undefined) return resultText(id, JSON.stringify(local));
    const { method, params } = call;
    return resultText(id, await callMethod(env, { method, params, source: "json" }, options.methods));
  } catch (error) {
    return errorAnswer(id, rpcErrorOf(error));
  }
}

/**
 * Reads the envelope of a request. Like the reference's, it asks for no `jsonrpc` member: simple clients leave it out.
 */
function readCall(request: unknown): RpcCall | { id: RequestId; error: RpcError } {
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return { id: UNKNOWN_ID, error: invalidRequest("a request must be a JSON object") };
  }
  const { id, method, params }: { id?: unknown; method?: unknown; params?: unknown } = request;
  if (id !== undefined && id !== null && typeof id !== "string" && !Number.isSafeInteger(id)) {
    return { id: UNKNOWN_ID, error: invalidRequest("the id must be a string or a whole number") };
  }
  const known = typeof id === "string" || typeof id === "number" ? id : undefined;
  if (typeof method !== "string")
    return { id: known ?? UNKNOWN_ID, error: invalidRequest("the method must be a string") };
  return { id: known, method, params };
}

/** Runs a method where the environment wants it to run; resolves with the JSON of its result. */
export function callMethod(env: RpcEnvironment, call: MethodCall, methods: Methods): Promise<string> {
  return env.run === undefined ? runMethod(env, call, methods) : env.run(call, env);
}

/** Runs a method here. */
export async function runMethod(env: RpcEnvironment, call: MethodCall, methods: Methods): Promise<string> {
  const method = methods.get(call.method);
  if (method === undefined) throw methodNotFound();
  const read = call.source === "uri" ? uriReader(call.params) : paramReader(method, call.params);
  return JSON.stringify(await method.call(env, read, call.source));
}

function uriReader(params: unknown): (name: string) => unknown {
  const parameters = new URLSearchParams(typeof params === "string" ? params : "");
  return (name) => parameters.get(name) ?? undefined;
}

/** Reads the parameters of a call by name. Throws. */
export function paramReader(method: Pick<RpcMethod, "params">, params: unknown): (name: string) => unknown {
  if (params === undefined || params === null) return () => undefined;
  if (Array.isArray(params)) return positional(method, params);
  if (typeof params !== "object") throw invalidParams("params must be an object or an array");
  const named = new Map<string, unknown>(Object.entries(params));
  return (name) => named.get(name);
}

function positional(method: Pick<RpcMethod, "params">, values: readonly unknown[]): (name: string) => unknown {
  if (values.length > 0 && values.length !== method.params.length) {
    throw invalidParams(
      `expected ${method.params.length} parameters (${method.params.join(", ")}), got ${values.length}`,
    );
  }
  return (name) => values[method.params.indexOf(name)];
}
