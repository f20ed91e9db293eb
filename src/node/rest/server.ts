import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Logger } from "../../util/index.ts";
import { maxRequestBytes } from "../../wire/index.ts";
import type { ConsolePage, ConsolePages } from "../console/index.ts";
import type { Dispatcher } from "../dispatch.ts";
import {
  type ClientBudget,
  CountedRequest,
  clientBudget,
  closeServer,
  corsHeaders,
  encodingRefusal,
  type GuardOptions,
  type Handler,
  isLoopback,
  limitReads,
  limitServer,
  listenAt,
  nextTurn,
  PREFLIGHT_HEADERS,
  READ_WITHIN_MS,
  RequestLines,
  readBody,
  refusal,
  refuseUpgrade,
  type ServerOptions,
  sendEmpty,
  sendHeld,
  sendTooLarge,
  type TakeWebsocket,
  takeUpgrades,
} from "../http/index.ts";
import { HEIGHT_HEADERS, heightHeaders } from "../services/height.ts";
import { type RestAnswer, refusalAnswer } from "./answer.ts";
import { RestDispatcher } from "./dispatcher.ts";
import { openApiDocument } from "./openapi/document.ts";
import { PAGE_SCRIPT, PAGE_STYLE, routesPage } from "./openapi/page.ts";
import type { Route } from "./routes.ts";

export interface RestServerOptions extends ServerOptions {
  readonly maxBodyBytes: number;
  /** Whether the console is served below `/console/`. */
  readonly console: boolean;
}

/** Parts of a REST server. */
export interface RestParts {
  readonly dispatcher: Pick<Dispatcher, "methods" | "query">;
  readonly logger: Logger;
  readonly chainId: string;
  /** Shared with the other servers of the node. */
  readonly budget?: ClientBudget;
  /** The console, and the node's other servers, whose interfaces its pages ask. */
  readonly console?: { readonly pages: ConsolePages; readonly others: () => Others };
}

interface Others {
  readonly rpc: Handler | undefined;
  readonly grpc: Handler | undefined;
}

/** The flags that refusals name. */
const FLAGS = { origins: "--api.cors-allowed-origins", hosts: "--rpc.allowed-hosts" };
const JSON_TYPE = "application/json";
const READ_VERBS = new Set(["GET", "HEAD"]);
const VERBS = new Set([...READ_VERBS, "POST", "PUT", "PATCH", "DELETE"]);

/** REST: every rpc of the node under the path that its proto file gives it, in both spellings. */
export class RestServer {
  /** The same answers for connections of another server. */
  readonly handler: Handler;
  readonly #server: Server;
  readonly #dispatcher: RestDispatcher;
  readonly #parts: RestParts;
  readonly #options: RestServerOptions;
  readonly #guard: GuardOptions;
  readonly #limits: ClientBudget & { readonly readWithinMs: number };
  readonly #pages: ReadonlyMap<string, () => Page>;
  #endUpgraded = (): void => {};

  constructor(parts: RestParts, options: RestServerOptions) {
    const budget = parts.budget ?? clientBudget();
    this.#parts = parts;
    this.#options = options;
    this.#guard = { ...options, flags: FLAGS };
    this.#limits = { ...budget, readWithinMs: options.readWithinMs ?? READ_WITHIN_MS };
    this.#dispatcher = new RestDispatcher(parts.dispatcher);
    this.#pages = pagesOf(this.#dispatcher.routes, parts.chainId);
    const lines = new RequestLines<IncomingMessage, ServerResponse>((request, response) =>
      this.#answer(request, response),
    );
    const { console } = parts;
    const websocket = console === undefined ? undefined : websocketOf(console);
    const answer: Handler["answer"] = (request, response) => lines.take(request, response);
    this.handler = { answer, ...(websocket && { websocket }) };
    this.#server = createServer({ IncomingMessage: CountedRequest }, answer);
    limitServer(this.#server, options.maxOpenConnections, budget.clients);
    limitReads(this.#server, budget.clients);
    const isAnswering = (socket: object) => lines.isAnswering(socket);
    if (console === undefined || websocket === undefined) return;
    const hasWebsocket = (url: string) => console.pages.interfaceOf(url)?.name === "rpc";
    this.#endUpgraded = takeUpgrades(this.#server, { websocket, hasWebsocket, isAnswering });
  }

  /** Begins to listen; returns the address. Throws one sentence when the port is in use. */
  listen(): Promise<{ host: string; port: number }> {
    return listenAt(this.#server, { ...this.#options, option: "--api.address" });
  }

  /** Ends all connections. */
  close(): Promise<void> {
    this.#endUpgraded();
    return closeServer(this.#server);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { console } = this.#parts;
    const found = console?.pages.interfaceOf(request.url ?? "/");
    if (console === undefined || found === undefined) return this.#answerOwn(request, response);
    request.url = found.url;
    if (found.name === "rest") return this.#answerOwn(request, response, { isBelow: true });
    const handler = found.name === "rpc" ? console.others().rpc : console.others().grpc;
    if (handler !== undefined) return handler.answer(request, response);
    this.#send(response, refusalAnswer({ word: "Unimplemented", text: "this node serves no gRPC: see --grpc.enable" }));
  }

  async #answerOwn(request: IncomingMessage, response: ServerResponse, { isBelow = false } = {}): Promise<void> {
    const { headers, method: verb = "GET", url = "/" } = request;
    const isLocal = isLoopback(request.socket.localAddress);
    const refused = refusal({ headers, isLocal }, this.#guard);
    if (refused !== undefined) return this.#send(response, refusalAnswer({ word: "Unknown", text: refused }, 403));
    const { clients } = this.#limits;
    if (!clients.admits(clients.of(request))) return this.#refuseMany(response);
    for (const [name, value] of Object.entries(this.#corsHeaders(headers.origin))) {
      if (value !== undefined) response.setHeader(name, value);
    }
    if (verb === "OPTIONS") return sendEmpty(response, 204, PREFLIGHT);
    const page = READ_VERBS.has(verb) && !isBelow ? this.#page(url, headers) : undefined;
    if (page !== undefined) return this.#sendHeld(response, page.status, page);
    await nextTurn();
    const answer = await this.#answerCall(request, response);
    if (answer !== undefined) this.#send(response, answer);
  }

  #page(url: string, headers: IncomingHttpHeaders): Page | undefined {
    const [path = ""] = url.split("?");
    return this.#pages.get(path)?.() ?? this.#parts.console?.pages.page(path, headers);
  }

  /** The answer; undefined when the body was too large, which is answered already. */
  async #answerCall(request: IncomingMessage, response: ServerResponse): Promise<RestAnswer | undefined> {
    const { headers, method = "GET", url = "/" } = request;
    const verb = method === "HEAD" ? "GET" : method;
    const target = this.#dispatcher.find(VERBS.has(verb) ? verb : "", url, headers);
    if (!("route" in target)) return target;
    const body = target.route.body === "" ? "" : await this.#body(target.route, request, response);
    if (typeof body !== "string") return body;
    try {
      return await this.#dispatcher.answer(target, body);
    } catch (error) {
      this.#parts.logger.error("a REST request failed", { url: url.slice(0, 200), error });
      return refusalAnswer({ word: "Internal", text: "internal error, see the log of the node" });
    }
  }

  /** The body, or the answer that refuses it; undefined when it was too large, which is answered already. */
  async #body(
    { method }: Route,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<string | RestAnswer | undefined> {
    const packed = encodingRefusal(request);
    if (packed !== undefined) return refusalAnswer({ word: "InvalidArgument", text: packed }, 415);
    const maxBodyBytes = Math.min(this.#options.maxBodyBytes, maxRequestBytes(method.input));
    const body = await readBody(request, response, { ...this.#limits, maxBodyBytes });
    if (body !== undefined) return body;
    const text = `the request body is larger than ${maxBodyBytes} bytes`;
    sendTooLarge(response, refusalAnswer({ word: "ResourceExhausted", text }).text, JSON_TYPE);
    return undefined;
  }

  #refuseMany(response: ServerResponse): void {
    response.setHeader("Retry-After", "1");
    this.#send(response, TOO_MANY);
  }

  #send(response: ServerResponse, { status, text, height }: RestAnswer): void {
    this.#sendHeld(response, status, {
      type: JSON_TYPE,
      text,
      headers: height === undefined ? {} : heightHeaders(height),
    });
  }

  #sendHeld(response: ServerResponse, status: number, { type, text, headers }: Omit<Page, "status">): void {
    const bytes = Buffer.byteLength(text);
    const send = () => sendPage(response, status, { type, text, headers: { "Content-Length": bytes, ...headers } });
    if (sendHeld(response, { bytes, send }, this.#limits)) return;
    const busy = { "Content-Length": Buffer.byteLength(BUSY.text), Connection: "close", "Retry-After": "10" };
    sendPage(response, BUSY.status, { type: JSON_TYPE, text: BUSY.text, headers: busy });
  }

  #corsHeaders(origin: string | undefined): OutgoingHttpHeaders {
    const headers = corsHeaders(origin, this.#guard);
    if (Object.keys(headers).length === 0) return headers;
    return { ...headers, "Access-Control-Expose-Headers": HEIGHT_HEADERS.join(", ") };
  }
}

/** Websockets are the RPC's. */
function websocketOf({ pages, others }: NonNullable<RestParts["console"]>): TakeWebsocket {
  return (request, socket, head) => {
    const found = pages.interfaceOf(request.url ?? "/");
    const take = found?.name === "rpc" ? others().rpc?.websocket : undefined;
    if (found === undefined || take === undefined) return refuseUpgrade(socket, "404 Not Found");
    request.url = found.url;
    take(request, socket, head);
  };
}

function sendPage(response: ServerResponse, status: number, { type, text, headers }: Omit<Page, "status">): void {
  response.writeHead(status, { "Content-Type": type, "X-Content-Type-Options": "nosniff", ...headers });
  response.end(text);
}

const TOO_MANY = refusalAnswer(
  { word: "ResourceExhausted", text: "too many requests from your address; try again in a second" },
  429,
);
const BUSY = refusalAnswer({ word: "Unavailable", text: "too many answers wait to be read; try again" });
const PREFLIGHT: OutgoingHttpHeaders = {
  ...PREFLIGHT_HEADERS,
  "Access-Control-Allow-Headers": `Origin, Accept, Content-Type, X-Requested-With, ${HEIGHT_HEADERS.join(", ")}`,
};

/** A page that is served besides the rpcs. */
type Page = ConsolePage;

/** The page may load its own parts and ask this server, and nothing else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The list of routes for people and programs, made on request. */
function pagesOf(routes: readonly Route[], chainId: string): ReadonlyMap<string, () => Page> {
  const html = once(() => page("text/html; charset=utf-8", routesPage(routes, chainId)));
  const json = once(() => page("application/json", JSON.stringify(openApiDocument(routes, chainId))));
  return new Map([
    ["/", html],
    ["/swagger", html],
    ["/swagger/", html],
    ["/openapi.json", json],
    ["/openapi.css", () => page("text/css; charset=utf-8", PAGE_STYLE)],
    ["/openapi.js", () => page("text/javascript; charset=utf-8", PAGE_SCRIPT)],
  ]);
}

function page(type: string, text: string): Page {
  return { status: 200, type, text, headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer" } };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
