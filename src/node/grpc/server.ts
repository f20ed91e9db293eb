import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createServer as createServer2,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Logger } from "../../util/index.ts";
import type { Dispatcher } from "../dispatch.ts";
import {
  type ClientBudget,
  CountedRequest,
  clientBudget,
  closeServer,
  corsHeaders,
  type GuardOptions,
  type Handler,
  isLoopback,
  limitServer,
  listenAt,
  READ_WITHIN_MS,
  type ReadLimits,
  RequestLines,
  refusal,
  type ServerOptions,
} from "../http/index.ts";
import { HEIGHT_HEADERS } from "../services/height.ts";
import { OpenCalls } from "./calls/open-calls.ts";
import { type AnswerStream, endAnswer, GONE, heldFor, readerKey, readerOf, streamOf } from "./calls/reader.ts";
import { answerUnary, isPlain } from "./calls/unary.ts";
import { countedBody } from "./calls/whole-body.ts";
import type { HealthSource } from "./health-source.ts";
import { MAX_CONVERSATIONS, MAX_HEADER_BYTES, MAX_SESSION_MEGABYTES, MAX_STREAMS } from "./limits.ts";
import { TwoProtocols } from "./protocols.ts";
import { type GrpcRoutes, grpcRoutes, maxBytesOf } from "./routes.ts";

export interface GrpcServerOptions extends ServerOptions {
  readonly maxMessageBytes: number;
}

/** Parts of a gRPC server. */
export interface GrpcParts {
  readonly chain: HealthSource;
  readonly dispatcher: Pick<Dispatcher, "methods" | "query">;
  readonly logger: Logger;
  /** Shared with the other servers of the node. */
  readonly budget?: ClientBudget;
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

const FLAGS = { origins: "--api.cors-allowed-origins", hosts: "--rpc.allowed-hosts" };
/** A stream that stays open for as long as its client wants. */
const WATCH = "/grpc.health.v1.Health/Watch";
const PREFLIGHT = {
  "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
  "Access-Control-Allow-Headers": [
    "Content-Type, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent",
    ...HEIGHT_HEADERS,
  ].join(", "),
  "Access-Control-Max-Age": "3600",
};
const EXPOSED = ["Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin", ...HEIGHT_HEADERS].join(", ");

/** gRPC, gRPC-web and Connect on one port: every rpc of the node in both spellings, with reflection and health. */
export class GrpcServer {
  /** The same answers for connections of another server, over HTTP/1. */
  readonly handler: Handler;
  readonly #server: Server;
  readonly #protocols: TwoProtocols;
  readonly #options: GrpcServerOptions;
  readonly #logger: Logger;
  readonly #guard: GuardOptions;
  readonly #limits: ReadLimits;
  readonly #budget: ClientBudget;
  readonly #routes: GrpcRoutes;
  readonly #calls = new OpenCalls();
  /** Makes requests and responses of streams; it has no connections of its own. */
  readonly #others: Http2Server = createServer2((request, response) => this.#take(request, response));
  #conversations = 0;
  readonly #shutdown = new AbortController();

  constructor(parts: GrpcParts, options: GrpcServerOptions) {
    // Every call listens for the end of the node.
    setMaxListeners(0, this.#shutdown.signal);
    const budget = parts.budget ?? clientBudget();
    const { unread } = budget;
    this.#options = options;
    this.#logger = parts.logger;
    this.#guard = { ...options, flags: FLAGS };
    this.#limits = { unread, readWithinMs: options.readWithinMs ?? READ_WITHIN_MS };
    this.#budget = budget;
    const { maxMessageBytes } = options;
    this.#routes = grpcRoutes({ ...parts, maxMessageBytes, shutdown: this.#shutdown.signal });
    const lines = new RequestLines<IncomingMessage, ServerResponse>((request, response) =>
      this.#answer(request, response),
    );
    this.handler = { answer: (request, response) => lines.take(request, response) };
    this.#server = createServer({ IncomingMessage: CountedRequest }, this.handler.answer);
    limitServer(this.#server, options.maxOpenConnections, budget.clients);
    const settings = { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES };
    const http2 = createServer2({ maxSessionMemory: MAX_SESSION_MEGABYTES, settings });
    http2.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw?: string[]) => {
      if (!this.#takePlain(stream, headers, raw)) this.#others.emit("stream", stream, headers, flags, raw);
    });
    this.#protocols = new TwoProtocols({ http1: this.#server, http2 });
  }

  /** Begins to listen; returns the address. Throws one sentence when the port is in use. */
  listen(): Promise<{ host: string; port: number }> {
    return listenAt(this.#server, { ...this.#options, option: "--grpc.address" });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#shutdown.abort(new ConnectError("the node is stopping", Code.Unavailable));
    this.#protocols.close();
    this.#calls.close();
    await closeServer(this.#server);
  }

  /**
   * Answers a plain call on its stream, without the request and the response that Node.js makes in the form of HTTP/1; false for any
   * other, and for one that is to be refused.
   */
  #takePlain(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[] = []): boolean {
    const path = String(headers[":path"]);
    const [answer, handler] = [this.#routes.plain.get(path), this.#routes.handlers.get(path)];
    if (answer === undefined || handler === undefined || !isPlain(headers)) return false;
    const isOther = stream.destroyed || headers.origin !== undefined || headerBytes(rawHeaders) > MAX_HEADER_BYTES;
    if (isOther || this.#refusal(headers, stream.session?.socket) !== undefined) return false;
    const { clients } = this.#budget;
    if (!clients.admits(clients.of({ socket: { remoteAddress: stream.session?.socket.remoteAddress }, headers })))
      return false;
    stream.on("error", () => endAnswer(stream));
    this.#calls.begin(stream, false);
    const reader = readerOf(stream, this.#limits);
    const held = () => heldFor(stream, this.#budget.sent);
    const maxMessageBytes = maxBytesOf(handler.method, this.#options);
    answerUnary(stream, headers, { answer, maxMessageBytes, reader, held }).catch((error) => this.#end(stream, error));
    return true;
  }

  /** Ends a call that failed, and nothing else. */
  #end(stream: AnswerStream, error: unknown): void {
    // The client broke off its request.
    if (error !== GONE) this.#logger.debug("a call ended early", { error });
    endAnswer(stream);
  }

  /** Answers a call over HTTP/2; a failure ends this call and nothing else. */
  #take(request: Http2ServerRequest, response: Http2ServerResponse): void {
    // Its client has already cancelled it.
    if (request.stream.destroyed) return;
    const { stream } = response;
    response.on("error", () => endAnswer(stream));
    // The body of a call that is refused is not read to its end.
    request.on("error", () => {});
    // HTTP/2 holds the limit only once its client has said that it knows it.
    if (headerBytes(request.rawHeaders) > MAX_HEADER_BYTES) sendTooLong(request, response);
    else this.#answer(request, response).catch(() => endAnswer(stream));
  }

  async #answer(request: Request, response: Response): Promise<void> {
    const refused = this.#refusal(request.headers, request.socket);
    if (refused !== undefined) return sendText(response, 403, `${refused}\n`);
    const { clients } = this.#budget;
    if (!clients.admits(clients.of(request))) return sendMany(request, response);
    const { origin } = request.headers;
    for (const [name, value] of Object.entries(corsHeaders(origin, this.#guard)))
      response.setHeader(name, String(value));
    if (origin !== undefined) response.setHeader("Access-Control-Expose-Headers", EXPOSED);
    const path = request.url?.split("?", 1)[0] ?? "";
    const handler = this.#routes.handlers.get(path);
    if (request.method === "OPTIONS") return sendText(response, 204, "", PREFLIGHT);
    if (handler === undefined) return sendUnknown(request, response);
    this.#calls.begin(streamOf(response), path === WATCH);
    if (isConversation(handler) && !this.#converses(response)) return sendFull(request, response);
    await this.#call(handler, request, response);
  }

  /** Counts a call in which both sides keep sending; false if there are too many. */
  #converses(response: Response): boolean {
    if (this.#conversations >= MAX_CONVERSATIONS) return false;
    this.#conversations += 1;
    response.once("close", () => {
      this.#conversations -= 1;
    });
    return true;
  }

  async #call(handler: UniversalHandler, request: Request, response: Response): Promise<void> {
    const stream = streamOf(response);
    try {
      const values = createContextValues().set(readerKey, readerOf(stream, this.#limits));
      const asked = universalRequestFromNodeRequest(request, response, undefined, values);
      const held = heldFor(stream, this.#budget.sent);
      const input = isConversation(handler) ? undefined : handler.method.input;
      const maxMessageBytes = maxBytesOf(handler.method, this.#options);
      const answered = await handler(countedBody(asked, { held, maxMessageBytes, input }));
      await universalResponseToNodeResponse(answered, response);
    } catch (error) {
      this.#end(stream, error);
    }
  }

  #refusal(headers: IncomingHttpHeaders, socket: { readonly localAddress?: string | undefined } | undefined) {
    const host = headers.host ?? headers[":authority"];
    return refusal(
      { headers: { host, origin: headers.origin }, isLocal: isLoopback(socket?.localAddress) },
      this.#guard,
    );
  }
}

/** Size that HTTP/2 adds for each header to its name and value (RFC 9113, section 6.5.2). */
const HEADER_BYTES = 32;
/** Nothing follows the headers. */
const LAST = { endStream: true };

/** Both sides continue to send. */
function isConversation({ method }: UniversalHandler): boolean {
  return method.methodKind === "bidi_streaming";
}

function isOver2(response: Response): response is Http2ServerResponse {
  return "stream" in response;
}

/** A path that is not served. */
function sendUnknown(request: Request, response: Response): void {
  const text = `unknown method ${encodeURI(request.url?.slice(0, 200) ?? "")}`;
  sendRefusal(request, response, { status: 404, plain: "404 there is no such rpc\n", code: Code.Unimplemented, text });
}

function sendMany(request: Request, response: Response): void {
  const text = "too many requests from your address; try again in a second";
  sendRefusal(request, response, { status: 429, plain: `429 ${text}\n`, code: Code.ResourceExhausted, text });
}

function sendFull(request: Request, response: Response): void {
  const text = `${MAX_CONVERSATIONS} clients are already connected`;
  sendRefusal(request, response, {
    status: 503,
    plain: `503 ${text}; try again\n`,
    code: Code.ResourceExhausted,
    text,
  });
}

/** As HTTP/2 counts them: 32 bytes more for each header. */
function headerBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + HEADER_BYTES / 2, 0);
}

function sendTooLong(request: Request, response: Response): void {
  const text = `the headers of a call may have ${MAX_HEADER_BYTES} bytes`;
  sendRefusal(request, response, { status: 431, plain: `431 ${text}\n`, code: Code.ResourceExhausted, text });
}

interface Refusal {
  readonly status: number;
  readonly plain: string;
  readonly code: Code;
  readonly text: string;
}

/** Refuses a call before it begins; in gRPC's terms for gRPC clients. */
function sendRefusal(request: Request, response: Response, { status: http, plain, code, text }: Refusal): void {
  const isGrpc = request.headers["content-type"]?.startsWith("application/grpc") === true;
  if (!isGrpc) {
    sendText(response, http, plain);
    return;
  }
  const status = { "grpc-status": `${code}`, "grpc-message": text };
  if (isOver2(response))
    response.stream.respond({ ":status": 200, "content-type": "application/grpc", ...status }, LAST);
  else sendText(response, 200, "", { "content-type": "application/grpc-web+proto", ...status });
}

function sendText(response: Response, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, { ...(text === "" ? {} : type), ...headers });
  response.end(text);
}
