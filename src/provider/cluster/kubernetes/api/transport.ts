import { Agent as HttpAgent, type IncomingMessage, type OutgoingHttpHeaders, request as plainRequest } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { errorText, readWholeText, tryJson } from "../../../../util/index.ts";
import type { ApiAccess, Secret } from "../access/access.ts";
import { ApiFailure, failureOf, unreachable } from "./failure.ts";
import type { ApiLimits } from "./limits.ts";

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Call {
  readonly method?: "GET" | "PATCH" | "POST" | "DELETE";
  /** Absolute path, its segments encoded. */
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** Target of a websocket, and the headers of its handshake. */
export interface SocketTarget {
  readonly url: string;
  readonly options: { readonly headers: OutgoingHttpHeaders } & ApiAccess["tls"] & Secret;
}

/** Calls at once; the others wait. Streams have connections of their own. */
const MAX_CALLS = 32;
/** Bytes of a failed answer that are looked at. */
const MAX_FAILURE_BYTES = 64 << 10;
/** A stream may be silent for hours: the system finds out whether its other end still exists. */
const KEEP_ALIVE_MS = 30_000;
const MAX_RETRY_MS = 5_000;

/** Makes calls to one API server over connections that are kept, within limits of size and time. */
export class Transport {
  readonly #access: ApiAccess;
  readonly #limits: ApiLimits;
  readonly #calls: HttpAgent;
  readonly #streams: HttpAgent;

  constructor(access: ApiAccess, limits: ApiLimits) {
    this.#access = access;
    this.#limits = limits;
    const Agent = access.server.protocol === "http:" ? HttpAgent : TlsAgent;
    this.#calls = new Agent({ keepAlive: true, maxSockets: MAX_CALLS });
    this.#streams = new Agent({ keepAlive: false });
  }

  /** The answer as JSON. Rejects with an `ApiFailure`. */
  async json(call: Call): Promise<unknown> {
    const deadline = AbortSignal.timeout(this.#limits.callMs);
    const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline]);
    const answer = await this.#answer({ ...call, signal }, this.#calls);
    const late = (): unknown => abortReason(signal, this.#limits.callMs);
    return parseAnswer(await readBody(answer, this.#limits.answerBytes, late));
  }

  /** The body as it comes, from its own connection; it is the caller's to end. */
  async stream(call: Call): Promise<IncomingMessage> {
    const begun = new AbortController();
    const timer = setTimeout(() => begun.abort(new Error(tooLate(this.#limits.callMs))), this.#limits.callMs);
    const signal = call.signal === undefined ? begun.signal : AbortSignal.any([call.signal, begun.signal]);
    try {
      const answer = await this.#answer({ ...call, signal }, this.#streams);
      answer.socket.setKeepAlive(true, KEEP_ALIVE_MS);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }

  async socketTarget(path: string, query: Query): Promise<SocketTarget> {
    const secret = await this.#secret();
    const url = this.#url(path, query);
    url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
    const { token, ...keys } = secret;
    return { url: url.href, options: { headers: authorization(token), ...this.#access.tls, ...keys } };
  }

  close(): void {
    this.#calls.destroy();
    this.#streams.destroy();
  }

  /** Every call may be made twice, so one that the server turned away, or never read, is made again. */
  async #answer(call: Call, agent: HttpAgent): Promise<IncomingMessage> {
    let isRenewed = false;
    for (let turn = 0; ; turn++) {
      const answer = await this.#exchange(call, agent, await this.#secret());
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return answer;
      const failure = await readFailure(answer);
      if (status === 401 && !isRenewed && this.#access.credentials.renew()) isRenewed = true;
      else if (turn < this.#limits.retries && isTurnedAway(answer)) await sleep(retryMs(answer), undefined, call);
      else throw failure;
    }
  }

  async #secret(): Promise<Secret> {
    try {
      return await this.#access.credentials.current();
    } catch (error) {
      throw new ApiFailure("refused", errorText(error), { cause: error });
    }
  }

  async #exchange(call: Call, agent: HttpAgent, secret: Secret): Promise<IncomingMessage> {
    for (let turn = 0; ; turn++) {
      const sent = this.#send(call, agent, secret);
      try {
        return await sent.answer;
      } catch (error) {
        // The server closed an idle connection at the moment of the call. Others may have been idle as long.
        if (sent.request.reusedSocket && call.signal?.aborted !== true && turn <= MAX_CALLS) continue;
        throw unreachable(abortReason(call.signal, this.#limits.callMs) ?? error);
      }
    }
  }

  #send({ method = "GET", path, query = {}, body, contentType, signal }: Call, agent: HttpAgent, secret: Secret) {
    const url = this.#url(path, query);
    const { token, ...keys } = secret;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: OutgoingHttpHeaders = { accept: "application/json", ...authorization(token) };
    if (text !== undefined) {
      headers["content-type"] = contentType ?? "application/json";
      headers["content-length"] = Buffer.byteLength(text);
    }
    const options = { method, headers, agent, ...this.#access.tls, ...keys, ...(signal ? { signal } : {}) };
    const request = url.protocol === "http:" ? plainRequest(url, options) : tlsRequest(url, options);
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve);
      request.on("error", reject);
    });
    request.end(text);
    return { request, answer };
  }

  #url(path: string, query: Query): URL {
    const url = new URL(this.#access.server);
    url.pathname = url.pathname.replace(/\/$/, "") + path;
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) url.searchParams.append(name, String(each));
      }
    }
    return url;
  }
}

function authorization(token: string | undefined): OutgoingHttpHeaders {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function tooLate(milliseconds: number): string {
  return `no answer within ${milliseconds / 1_000} seconds`;
}

/** Why the caller's signal ended a call, in words. */
function abortReason(signal: AbortSignal | undefined, callMs: number): unknown {
  if (signal?.aborted !== true) return undefined;
  const { reason } = signal;
  return reason instanceof Error && reason.name === "TimeoutError" ? new Error(tooLate(callMs)) : reason;
}

function isTurnedAway({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 429 || (statusCode === 503 && headers["retry-after"] !== undefined);
}

/** Milliseconds; the header has seconds. */
function retryMs({ headers }: IncomingMessage): number {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, MAX_RETRY_MS) : 1_000;
}

async function readFailure(answer: IncomingMessage): Promise<ApiFailure> {
  const status = answer.statusCode ?? 0;
  const text = await readStart(answer, MAX_FAILURE_BYTES).catch(errorText);
  return failureOf(status, tryJson(text), text);
}

/** At most so many bytes; the rest is not read. */
async function readStart(answer: IncomingMessage, limit: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= limit) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

/** `late` tells why the caller ended it, if it did. */
async function readBody(answer: IncomingMessage, limit: number, late: () => unknown): Promise<string> {
  const tooLarge = () => new ApiFailure("refused", `an answer of more than ${limit} bytes`, { status: 413 });
  try {
    return await readWholeText(answer, limit, tooLarge);
  } catch (error) {
    throw error instanceof ApiFailure ? error : unreachable(late() ?? error);
  }
}

function parseAnswer(text: string): unknown {
  const value = tryJson(text);
  if (value === undefined) throw new ApiFailure("refused", "the answer is not JSON; is it an API server?");
  return value;
}
