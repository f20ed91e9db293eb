import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ERROR_STATUS } from "./errors.ts";
import { corsHeaders, type GuardOptions, isLoopback, PREFLIGHT_HEADERS, refusal } from "./guard.ts";
import { answerPost, type DispatchOptions, errorAnswer, HEALTH, resultText } from "./jsonrpc.ts";
import { MAX_WAITING_REQUESTS } from "./limits.ts";
import { type RpcEnvironment, rpcErrorOf } from "./method.ts";
import type { UnreadBytes } from "./unread.ts";

export interface HttpOptions extends DispatchOptions, GuardOptions {
  readonly maxBodyBytes: number;
  readonly unread: UnreadBytes;
  /** Time in which a client must have read an answer. */
  readonly readWithinMs: number;
}

const UNREAD = "503 too many answers wait to be read; try again\n";
/** The requests of one connection. */
interface Line {
  waiting: number;
  /** When all that came so far are answered. */
  last: Promise<void>;
}

/** The id in answers to GET. */
const URI_ID = -1;
const JSON_TYPE = "application/json";

/** JSON-RPC over HTTP: POST / with calls, or GET /<method>?<parameters>. */
export class HttpRpc {
  readonly #env: RpcEnvironment;
  readonly #options: HttpOptions;
  readonly #lines = new WeakMap<Socket, Line>();

  constructor(env: RpcEnvironment, options: HttpOptions) {
    this.#env = env;
    this.#options = options;
  }

  /** Answers one request; what went wrong ends its connection and nothing else. */
  answer(request: IncomingMessage, response: ServerResponse): void {
    this.#answerInLine(request, response).catch(() => response.destroy());
  }

  /**
   * A request is looked at when those before it on its connection have been answered and the answers read: Node.js hands
   * over all that a client sends in one go, and forgets the answers that wait when the connection ends.
   */
  async #answerInLine(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const line = this.#lines.get(socket) ?? { waiting: 0, last: Promise.resolve() };
    this.#lines.set(socket, line);
    if (line.waiting >= MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    line.waiting += 1;
    const before = line.waiting === 1 ? undefined : line.last;
    line.last = new Promise((resolve) => {
      response.once("close", () => {
        line.waiting -= 1;
        resolve();
      });
    });
    if (before !== undefined) await before;
    if (!socket.destroyed) await this.#answer(request, response);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isLocal = isLoopback(request.socket.localAddress);
    const refused = refusal({ headers: request.headers, isLocal }, this.#options);
    if (refused !== undefined) return sendText(response, 403, `${refused}\n`);
    for (const [name, value] of Object.entries(corsHeaders(request.headers.origin, this.#options))) {
      if (value !== undefined) response.setHeader(name, value);
    }
    const [path = "/", parameters = ""] = splitUrl(request.url ?? "/");
    if (request.method === "OPTIONS") return sendEmpty(response, 204, PREFLIGHT_HEADERS);
    if (request.method === "POST" && path === "/") return this.#answerPost(request, response);
    if (request.method === "GET" || request.method === "HEAD") return this.#answerGet(path, parameters, response);
    const text = "405 use POST / with JSON-RPC, or GET /<method>\n";
    sendText(response, 405, text, { Allow: "GET, HEAD, POST, OPTIONS" });
  }

  async #answerGet(path: string, query: string, response: ServerResponse): Promise<void> {
    if (path === "/") return sendText(response, 200, endpointList(this.#options));
    const method = this.#options.methods.get(path.slice(1));
    if (method === undefined) return sendText(response, 404, "404 page not found\n");
    const parameters = new URLSearchParams(query);
    if (path !== `/${HEALTH}`) await this.#options.turns.next();
    try {
      const result = await method.call(this.#env, (name) => parameters.get(name) ?? undefined, "uri");
      this.#sendJson(response, 200, resultText(URI_ID, result));
    } catch (error) {
      const shown = rpcErrorOf(error);
      this.#sendJson(response, ERROR_STATUS, errorAnswer(URI_ID, shown));
    }
  }

  async #answerPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { maxBodyBytes } = this.#options;
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity") {
      return sendText(
        response,
        415,
        `415 content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported\n`,
      );
    }
    const body = await readBody(request, maxBodyBytes);
    if (body === undefined) {
      // The rest of the body is not read.
      response.once("finish", () => request.destroy());
      const text = `413 the request body is larger than ${maxBodyBytes} bytes\n`;
      return sendText(response, 413, text, { Connection: "close" });
    }
    const { status, text } = await answerPost(this.#env, body, this.#options);
    if (text === undefined) sendEmpty(response, status);
    else this.#sendJson(response, status, text);
  }

  /** Answers that nobody reads are held for a while and up to a limit for all clients; beyond, whoever reads for the longest is let go. */
  #sendJson(response: ServerResponse, status: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    const release = this.#options.unread.hold(bytes, () => response.destroy());
    if (release === undefined) {
      sendText(response, 503, UNREAD, { Connection: "close", "Retry-After": "10" });
      return;
    }
    const deadline = setTimeout(() => response.destroy(), this.#options.readWithinMs);
    response.once("close", () => {
      clearTimeout(deadline);
      release();
    });
    sendJson(response, status, { text, bytes });
  }
}

function splitUrl(url: string): string[] {
  const at = url.indexOf("?");
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

/** The body's text; undefined when it is too large or the client has gone. */
function readBody(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limit) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(undefined);
    });
    request.on("end", () => {
      const [first] = chunks;
      resolve((chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)).toString("utf8"));
    });
    request.on("close", () => resolve(undefined));
  });
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

function sendText(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, { ...type, "Content-Length": Buffer.byteLength(text), ...headers });
  response.end(text);
}

function sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { ...headers, "Content-Length": 0 });
  response.end();
}
