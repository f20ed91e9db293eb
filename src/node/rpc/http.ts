import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { httpStatus } from "./errors.ts";
import { corsHeaders, type GuardOptions, isLoopback, PREFLIGHT_HEADERS, refusal } from "./guard.ts";
import { answerText, type DispatchOptions, errorAnswer, resultText } from "./jsonrpc.ts";
import { type RpcEnvironment, rpcErrorOf } from "./method.ts";

export interface HttpOptions extends DispatchOptions, GuardOptions {
  readonly maxBodyBytes: number;
}

/** The id in answers to GET. */
const URI_ID = -1;
const JSON_TYPE = "application/json";

/** Answers one HTTP request: POST / with JSON-RPC, or GET /<method>?<parameters>. Never rejects. */
export async function answerHttp(
  env: RpcEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpOptions,
): Promise<void> {
  const refused = refusal({ headers: request.headers, isLocal: isLoopback(request.socket.localAddress) }, options);
  if (refused !== undefined) return sendText(response, 403, `${refused}\n`);
  const cors = corsHeaders(request.headers.origin, options);
  const url = request.url ?? "/";
  const split = url.indexOf("?");
  const path = split < 0 ? url : url.slice(0, split);
  if (request.method === "OPTIONS") return sendEmpty(response, 204, { ...cors, ...PREFLIGHT_HEADERS });
  if (request.method === "POST" && (path === "/" || path === ""))
    return answerPost(env, request, response, { ...options, cors });
  if (request.method !== "GET" && request.method !== "HEAD") {
    return sendText(response, 405, "405 use POST / with JSON-RPC, or GET /<method>\n", {
      Allow: "GET, HEAD, POST, OPTIONS",
    });
  }
  const method = options.methods.get(path.slice(1));
  if (path === "/") return sendText(response, 200, endpointList(options));
  if (method === undefined) return sendText(response, 404, "404 page not found\n");
  const parameters = new URLSearchParams(split < 0 ? "" : url.slice(split + 1));
  try {
    const result = await method.call(env, (name) => parameters.get(name) ?? undefined, "uri");
    sendJson(response, 200, resultText(URI_ID, result), cors);
  } catch (error) {
    const shown = rpcErrorOf(error);
    sendJson(response, httpStatus(shown), errorAnswer(URI_ID, shown), cors);
  }
}

interface PostOptions extends HttpOptions {
  readonly cors: OutgoingHttpHeaders;
}

async function answerPost(
  env: RpcEnvironment,
  request: IncomingMessage,
  response: ServerResponse,
  options: PostOptions,
): Promise<void> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    return sendText(response, 415, `415 content encoding ${JSON.stringify(encoding.slice(0, 40))} is not supported\n`);
  }
  const body = await readBody(request, options.maxBodyBytes);
  if (body === undefined) return tooLarge(request, response, options);
  const text = await answerText(env, body, options);
  if (text === undefined) sendEmpty(response, 200, options.cors);
  else sendJson(response, 200, text, options.cors);
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

/** Refuses a body, and does not read the rest of it. */
function tooLarge(request: IncomingMessage, response: ServerResponse, { maxBodyBytes }: HttpOptions): void {
  response.once("finish", () => request.destroy());
  sendText(response, 413, `413 the request body is larger than ${maxBodyBytes} bytes\n`, { Connection: "close" });
}

function endpointList({ methods }: DispatchOptions): string {
  const lines = [...methods].map(
    ([name, { params }]) => `/${name}${params.length === 0 ? "" : `?${params.map((param) => `${param}=_`).join("&")}`}`,
  );
  return `Available endpoints:\n\n${lines.sort().join("\n")}\n/websocket (subscribe, unsubscribe, unsubscribe_all)\n`;
}

function sendJson(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, {
    "Content-Type": JSON_TYPE,
    "Content-Length": Buffer.byteLength(text),
    "X-Server-Time": Math.floor(Date.now() / 1000),
    ...headers,
  });
  response.end(text);
}

function sendText(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  const type = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };
  response.writeHead(status, { ...type, "Content-Length": Buffer.byteLength(text), ...headers });
  response.end(text);
}

function sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  response.writeHead(status, { ...headers, "Content-Length": 0 });
  response.end();
}
