import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { connectGateway, type GatewayTarget } from "../../client/index.ts";
import { errorText } from "../../util/index.ts";
import {
  answerMalformed,
  CountedRequest,
  closeServer,
  type Handler,
  listenAt,
  pageHeaders,
  RequestLines,
  refuseUpgrade,
  takeUpgrades,
} from "../../util/servers/index.ts";
import type { OwnCall } from "./calls.ts";
import { Door, type Judgement } from "./door.ts";
import {
  CONNECT_TIMEOUT_MS,
  GATEWAY_READ_TIMEOUT_MS,
  GATEWAY_TIMEOUT_MS,
  HEADERS_TIMEOUT_MS,
  MAX_CALL_BODY,
  MAX_CONNECTIONS,
  MAX_GATEWAY_ANSWER,
  MAX_GATEWAY_BODY,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import { bodyOf, relay, relayWebsocket, sendJson, sendSentence, sendTooLarge, type Upstream } from "./relay.ts";

export interface ConsoleServerParts {
  /** Pages and the interfaces of the node. */
  readonly console: Handler;
  /** The provider of an address as the chain has it; undefined where it has none. */
  readonly provider: (address: string) => Promise<GatewayTarget | undefined>;
  /** Calls that the command itself answers, by their paths below `/console/api/`. */
  readonly calls?: ReadonlyMap<string, OwnCall>;
}

const GATEWAY = /^\/console\/api\/gateway\/([^/?]*)(\/[^#]*)$/;
const API = "/console/api/";
const HEADERS = pageHeaders("'self'");

/** The server of `svc console`: checks who asks, and hands requests to the console, or to a provider's gateway. */
export class ConsoleServer {
  readonly #parts: ConsoleServerParts;
  readonly #server: Server;
  readonly #endUpgraded: () => void;
  #door = new Door(0);

  constructor(parts: ConsoleServerParts) {
    this.#parts = parts;
    const lines = new RequestLines<IncomingMessage, ServerResponse>((request, response) =>
      this.#answer(request, response),
    );
    this.#server = createServer({ IncomingMessage: CountedRequest }, (request, response) =>
      lines.take(request, response),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.#server.headersTimeout = HEADERS_TIMEOUT_MS;
    this.#server.requestTimeout = REQUEST_TIMEOUT_MS;
    answerMalformed(this.#server);
    const isAnswering = (socket: object) => lines.isAnswering(socket);
    const websocket = (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      void this.#websocket(request, socket, head).catch(() => socket.destroy());
    this.#endUpgraded = takeUpgrades(this.#server, { websocket, isAnswering });
  }

  /** Begins to listen on a free port of loopback; returns the link that opens the console once. */
  async listen(): Promise<string> {
    const { port } = await listenAt(this.#server, { host: "127.0.0.1", port: 0, option: "svc console" });
    this.#door = new Door(port);
    return this.#door.link;
  }

  close(): Promise<void> {
    this.#endUpgraded();
    return closeServer(this.#server);
  }

  #judge({ method = "GET", url = "/", headers }: IncomingMessage, isWebsocket: boolean): Judgement {
    return this.#door.judge({ method, url, headers, isWebsocket });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const judged = this.#judge(request, false);
    if (judged.kind === "refused") return refuse(request, response, judged);
    if (judged.kind === "enters") {
      response.setHeader("Set-Cookie", judged.cookie);
      response.setHeader("Location", "/console/");
      return sendPage(response, 303, "the console is at /console/");
    }
    const { url = "/" } = request;
    if (!/^\/console(?:\/|$|\?)/.test(url)) return sendPage(response, 404, "the console is at /console/");
    const call = url.startsWith(API) ? this.#parts.calls?.get(url.slice(API.length)) : undefined;
    if (call !== undefined) return answerCall(call, request, response);
    const [, address, path = ""] = GATEWAY.exec(url) ?? [];
    if (address === undefined) return this.#parts.console.answer(request, response);
    try {
      const upstream = await this.#gateway(address);
      if (upstream === undefined) return sendSentence(response, 404, `the chain has no provider ${shown(address)}`);
      if (response.destroyed) return void upstream.connection.destroy();
      request.url = path;
      const timeoutMs = request.method === "GET" ? GATEWAY_READ_TIMEOUT_MS : GATEWAY_TIMEOUT_MS;
      const limits = { bodyBytes: MAX_GATEWAY_BODY, answerBytes: MAX_GATEWAY_ANSWER, timeoutMs };
      await relay(request, response, { upstream, limits });
    } catch (error) {
      sendSentence(response, 502, errorText(error));
    }
  }

  async #websocket(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { console } = this.#parts;
    if (this.#judge(request, true).kind !== "admitted") return refuseUpgrade(socket, "403 Forbidden");
    const [, address, path = ""] = GATEWAY.exec(request.url ?? "/") ?? [];
    if (address === undefined && console.websocket !== undefined) return console.websocket(request, socket, head);
    const upstream = await this.#gateway(address ?? "").catch(() => undefined);
    if (upstream === undefined) return refuseUpgrade(socket, "404 Not Found");
    if (socket.destroyed) return void upstream.connection.destroy();
    request.url = path;
    relayWebsocket({ request, socket, head }, upstream);
  }

  /** A connection to the gateway that the chain names, which has shown the certificate that the chain has. */
  async #gateway(address: string): Promise<Required<Upstream> | undefined> {
    const target = await this.#parts.provider(address);
    if (target === undefined) return undefined;
    const now = Date.now();
    const connection = await connectGateway(target, { credential: undefined, timeoutMs: CONNECT_TIMEOUT_MS, now });
    return { url: new URL(new URL(target.hostUri).origin), connection };
  }
}

async function answerCall(call: OwnCall, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== call.method) return sendSentence(response, 405, `this is asked for with ${call.method}`);
  const body = await bodyOf(request, MAX_CALL_BODY);
  if (body === "too large") return sendTooLarge(response, MAX_CALL_BODY);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = await call.answer(body.toString("utf8"), gone.signal);
  if (!response.destroyed) sendJson(response, answer.status, answer.body);
}

/** Programs read the sentence of a refusal as that of a gateway; people see a page. */
function refuse(
  { url = "/" }: IncomingMessage,
  response: ServerResponse,
  { status, sentence }: Extract<Judgement, { readonly kind: "refused" }>,
): void {
  if (url.startsWith("/console/api/")) sendSentence(response, status, sentence);
  else sendPage(response, status, sentence);
}

function sendPage(response: ServerResponse, status: number, sentence: string): void {
  const text = `<!doctype html>\n<meta charset="utf-8">\n<title>svc console</title>\n<p>${escaped(sentence)}</p>\n`;
  response.writeHead(status, { ...HEADERS, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" });
  response.end(text);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
