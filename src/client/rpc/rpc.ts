import { append, errorText, isRecord, sdkErrors } from "../../util/index.ts";
import { BusyError, clientErrors, isBusy, RpcError } from "../errors.ts";
import { Wake } from "../wake.ts";
import { type Endpoint, parseNodeAddress } from "./endpoint.ts";
import { httpTransport, type Transport } from "./transport.ts";

/** Pauses before each further try, where the node does not ask for another one. */
const PAUSES_MS = [1000, 2000, 4000];
const MAX_PAUSE_MS = 10_000;

/** The transport of requests. */
export interface RpcOptions {
  /** Longest wait for one answer in milliseconds; default 10 s. */
  readonly timeoutMs?: number;
  /** Bytes of the largest answer over HTTP, asked for every answer; default 256 MiB. */
  readonly maxAnswerBytes?: () => number;
  /** The transport of requests; HTTP by default. */
  readonly transport?: Transport;
  /** Calls that the node refuses for the moment are made again, a few times; receives why, and the pause. */
  readonly onRetry?: (text: string) => void;
}

/** One call of a batch. */
export interface RpcCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Nodes refuse larger batches. */
const MAX_BATCH = 10;

/** JSON-RPC 2.0 to a node. Results come back as parsed JSON, errors as `RpcError`. */
export class RpcClient {
  readonly endpoint: Endpoint;
  readonly #transport: Transport;
  readonly #timeoutMs: number;
  readonly #onRetry: RpcOptions["onRetry"];
  readonly #closing = new AbortController();
  #lastId = 0;

  /** `node` is an address as `parseNodeAddress` reads it. */
  constructor(node: string, options: RpcOptions = {}) {
    this.endpoint = parseNodeAddress(node);
    this.#transport = options.transport ?? httpTransport(this.endpoint.http, options.maxAnswerBytes);
    this.#onRetry = options.onRetry;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  /** The result of one call as parsed JSON. Rejects with `RpcError`, or `clientErrors.unreachable`. */
  call(method: string, params: RpcCall["params"] = {}, timeoutMs: number = this.#timeoutMs): Promise<unknown> {
    return this.retrying(() => this.callOnce({ method, params }, timeoutMs));
  }

  /** Work that is repeated while the node refuses it for the moment, if `onRetry` is set. */
  retrying<T>(run: () => Promise<T>): Promise<T> {
    return this.#onRetry === undefined ? run() : whileBusy(run, this.#onRetry, this.#closing.signal);
  }

  /** The same as `call`, never repeated. */
  async callOnce({ method, params }: RpcCall, timeoutMs: number = this.#timeoutMs): Promise<unknown> {
    const request = this.#request({ method, params });
    const answer = parseAnswer(await this.#transport.post(JSON.stringify(request), timeoutMs), this.#name());
    const result = resultOf(answer, this.#name());
    if (result instanceof RpcError) throw result;
    return result;
  }

  /** Several calls at once; the results, or errors, in the order of the calls. */
  async batch(calls: readonly RpcCall[]): Promise<(unknown | RpcError)[]> {
    const results: (unknown | RpcError)[] = [];
    for (let start = 0; start < calls.length; start += MAX_BATCH) {
      append(results, await this.#batchOnce(calls.slice(start, start + MAX_BATCH)));
    }
    return results;
  }

  /** Closes kept-alive connections, and ends pauses before further tries. */
  close(): void {
    this.#closing.abort();
    this.#transport.close();
  }

  async #batchOnce(calls: readonly RpcCall[]): Promise<(unknown | RpcError)[]> {
    const requests = calls.map((call) => this.#request(call));
    return this.retrying(async () => {
      const answer = parseAnswer(await this.#transport.post(JSON.stringify(requests), this.#timeoutMs), this.#name());
      const answers = Array.isArray(answer) ? answer : [answer];
      const byId = new Map(answers.map((each) => [isRecord(each) ? each.id : undefined, each]));
      return requests.map(({ id }) => resultOf(byId.get(id), this.#name()));
    });
  }

  #request(call: RpcCall): { id: number } & Record<string, unknown> {
    this.#lastId += 1;
    return { jsonrpc: "2.0", id: this.#lastId, method: call.method, params: call.params };
  }

  #name(): string {
    return this.endpoint.http.origin;
  }
}

function parseAnswer(text: string, node: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw clientErrors.badAnswer(`the server at ${node} answered ${kindOf(text)}`, { cause });
  }
}

/** The kind of a non-JSON answer, in a few words. */
function kindOf(text: string): string {
  const start = text.trimStart();
  if (start === "") return "nothing";
  if (start.startsWith("<")) return "a web page";
  const shown = JSON.stringify(start.slice(0, 80));
  return /^[[{]/.test(start) ? `damaged or truncated JSON: ${shown}` : `with text that is not JSON: ${shown}`;
}

function resultOf(answer: unknown, node: string): unknown | RpcError {
  if (!isRecord(answer)) throw clientErrors.badAnswer(`the node at ${node} left a call unanswered`);
  const { error, result } = answer;
  if (isRecord(error)) {
    const { code, message, data = "" } = error;
    if (typeof code !== "number" || typeof message !== "string")
      throw clientErrors.badAnswer(`the node at ${node} answered with an error without code and message`);
    return new RpcError(code, oneLine(message), oneLine(typeof data === "string" ? data : JSON.stringify(data)));
  }
  if (result === undefined) throw clientErrors.badAnswer(`the node at ${node} answered without a result`);
  return result;
}

/** The node's text becomes part of our sentence. */
function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ");
}

/** Why a call may succeed if it is made again. */
interface Busy {
  readonly why: string;
  readonly afterMs?: number | undefined;
}

/** Makes a call, and makes it again while the node refuses it for the moment. `onRetry` receives why, and the pause. */
async function whileBusy<T>(run: () => Promise<T>, onRetry: (text: string) => void, closing: AbortSignal): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    const { busy, settle } = await attempt(run);
    if (busy === undefined) return settle();
    const waitMs = Math.min(busy.afterMs ?? pauseMs, MAX_PAUSE_MS);
    onRetry(`${busy.why}; trying again in ${waitMs / 1000} s`);
    await new Wake().sleep(waitMs, closing);
    if (closing.aborted) throw clientErrors.closed();
  }
  return run();
}

async function attempt<T>(run: () => Promise<T>): Promise<{ busy: Busy | undefined; settle: () => T }> {
  try {
    const result = await run();
    return { busy: busyResult(result), settle: () => result };
  } catch (error) {
    const settle = (): never => {
      throw error;
    };
    return { busy: busyError(error), settle };
  }
}

/** Nodes refuse with the code of a full mempool whatever they have too much of at the moment. */
function busyResult(result: unknown): Busy | undefined {
  if (Array.isArray(result)) return result.map(busyResult).find((each) => each !== undefined);
  if (result instanceof RpcError) return busyError(result);
  const answer = isRecord(result) && isRecord(result.response) ? result.response : result;
  if (!isRecord(answer) || answer.code !== sdkErrors.mempoolFull.code || answer.codespace !== "sdk") return undefined;
  return { why: `the node is busy (${String(answer.log ?? "")})` };
}

function busyError(error: unknown): Busy | undefined {
  if (error instanceof BusyError) return { why: errorText(error), afterMs: error.retryAfterMs };
  return error instanceof RpcError && isBusy(error) ? { why: `the node is busy (${error.data})` } : undefined;
}
