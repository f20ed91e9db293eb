import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type BodyLimits,
  type Clients,
  corsHeaders,
  encodingRefusal,
  type GuardOptions,
  isLoopback,
  nextTurn,
  PREFLIGHT_HEADERS,
  type ReadLimits,
  RequestLines,
  readBody,
  refusal,
  sendEmpty,
  sendHeld,
  sendText,
  sendTooLarge,
} from "../http/index.ts";
import { ERROR_STATUS } from "./calls/errors.ts";
import { answerPost, callMethod, type DispatchOptions, errorAnswer, resultText } from "./calls/jsonrpc.ts";
import { type RpcEnvironment, rpcErrorOf } from "./calls/method.ts";

export interface HttpOptions extends DispatchOptions, GuardOptions, ReadLimits, BodyLimits {
  readonly clients: Clients;
}

const TOO_MANY = "429 too many requests from your address; try again in a second\n";
const UNREAD = "503 too many answers wait to be read; try again\n";
/** The id in answers to GET. */
const URI_ID = -1;
const JSON_TYPE = "application/json";

/** JSON-RPC over HTTP: POST / with calls, or GET /<method>?<parameters>. */
export class HttpRpc {
  readonly #env: RpcEnvironment;
  readonly #options: HttpOptions;
  readonly #lines = new RequestLines<IncomingMessage, ServerResponse>((request, response) =>
    this.#answer(request, response),
  );

  constructor(env: RpcEnvironment, options: HttpOptions) {
    this.#env = env;
    this.#options = options;
  }

  /** Answers one request; a failure ends its connection and nothing else. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#lines.take(request, response);
  }

  /** Whether a request of the connection has no whole answer yet. */
  isAnswering(socket: object): boolean {
    return this.#lines.isAnswering(socket);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isLocal = isLoopback(request.socket.localAddress);
    const refused = refusal({ headers: request.headers, isLocal }, this.#options);
    if (refused !== undefined) return sendText(response, 403, `${refused}\n`);
    const { clients } = this.#options;
    const client = clients.of(request);
    if (!clients.admits(client)) return sendText(response, 429, TOO_MANY, { "Retry-After": "1" });
    for (const [name, value] of Object.entries(corsHeaders(request.headers.origin, this.#options))) {
      if (value !== undefined) response.setHeader(name, value);
    }
    const [path = "/", parameters = ""] = splitUrl(request.url ?? "/");
    if (request.method === "OPTIONS") return sendEmpty(response, 204, PREFLIGHT_HEADERS);
    if (request.method === "POST" && path === "/") return this.#answerPost(request, response, client);
    if (request.method === "GET" || request.method === "HEAD") return this.#answerGet(path, parameters, response);
    const text = "405 use POST / with JSON-RPC, or GET /<method>\n";
    sendText(response, 405, text, { Allow: "GET, HEAD, POST, OPTIONS" });
  }

  async #answerGet(path: string, query: string, response: ServerResponse): Promise<void> {
    if (path === "/") return sendText(response, 200, endpointList(this.#options));
    const method = path.slice(1);
    if (!this.#options.methods.has(method)) return sendText(response, 404, "404 page not found\n");
    try {
      const call = { method, params: query, source: "uri" } as const;
      const result = await callMethod(this.#env, call, this.#options.methods);
      this.#sendJson(response, 200, resultText(URI_ID, result));
    } catch (error) {
      const shown = rpcErrorOf(error);
      this.#sendJson(response, ERROR_STATUS, errorAnswer(URI_ID, shown));
    }
  }

  async #answerPost(request: IncomingMessage, response: ServerResponse, client: string): Promise<void> {
    const { maxBodyBytes } = this.#options;
    const packed = encodingRefusal(request);
    if (packed !== undefined) return sendText(response, 415, `415 ${packed}\n`);
    const body = await readBody(request, response, this.#options);
    if (body === undefined) {
      return sendTooLarge(response, `413 the request body is larger than ${maxBodyBytes} bytes\n`);
    }
    await nextTurn();
    const admits = () => this.#options.clients.admits(client);
    const { status, text } = await answerPost(body, { env: this.#env, options: this.#options, admits });
    if (text === undefined) sendEmpty(response, status);
    else this.#sendJson(response, status, text);
  }

  #sendJson(response: ServerResponse, status: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    const send = () => sendJson(response, status, { text, bytes });
    const isSent = sendHeld(response, { bytes, send }, this.#options);
    if (!isSent) sendText(response, 503, UNREAD, { Connection: "close", "Retry-After": "10" });
  }
}

function splitUrl(url: string): string[] {
  const at = url.indexOf("?");
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

function endpointList({ methods }: DispatchOptions): string {
  const lines = [...methods].map(([name, { params }]) => {
    const query = params.map((param) => `${param}=_`).join("&");
    return `/${name}${query === "" ? "" : `?${query}`}`;
  });
  return `Available endpoints:\n\n${lines.sort().join("\n")}\n/websocket (subscribe, unsubscribe, unsubscribe_all)\n`;
}

function sendJson(response: ServerResponse, status: number, { text, bytes }: { text: string; bytes: number }): void {
  response.writeHead(status, {
    "Content-Type": JSON_TYPE,
    "Content-Length": bytes,
    "X-Server-Time": Math.floor(Date.now() / 1000),
  });
  response.end(text);
}
