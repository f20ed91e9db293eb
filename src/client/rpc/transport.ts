import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { readWholeText, SvcError } from "../../util/index.ts";
import { BusyError, clientErrors } from "../errors.ts";
import { reasonOf } from "./reason.ts";

/** Posts a body and returns the body of the response. */
export interface Transport {
  post(body: string, timeoutMs: number): Promise<string>;
  close(): void;
}

/** Answers above this size are refused, if no other is set. */
const MAX_ANSWER_BYTES = 256 << 20;
const MAX_SOCKETS = 32;

/** HTTP or HTTPS with kept-alive connections; `maxBytes` is asked for every answer. */
export function httpTransport(url: URL, maxBytes = () => MAX_ANSWER_BYTES): Transport {
  const secure = url.protocol === "https:";
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const send = secure ? httpsRequest : httpRequest;

  const once = (body: string, timeoutMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const settings: RequestOptions = { method: "POST", agent, headers: headersFor(url, body) };
      const request = send(url, settings, (response) => readBody(response, maxBytes()).then(resolve, reject));
      const timer = setTimeout(() => {
        // Once part of the answer has arrived, its reader sees a broken connection first.
        const late = new TimeoutError(timeoutMs);
        reject(late);
        request.destroy(late);
      }, timeoutMs);
      request.on("close", () => clearTimeout(timer));
      request.on("error", (error) => reject(request.reusedSocket && isReset(error) ? new StaleSocket(error) : error));
      request.end(body);
    });

  return {
    async post(body, timeoutMs) {
      try {
        return await once(body, timeoutMs).catch((error) => {
          // The node closed an idle connection just as it was reused: there was no answer.
          if (error instanceof StaleSocket) return once(body, timeoutMs);
          throw error;
        });
      } catch (error) {
        if (error instanceof SvcError) throw error;
        throw clientErrors.unreachable(`cannot reach the node at ${url.origin}: ${reasonOf(error)}`, { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000} s`);
  }
}

class StaleSocket extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function headersFor(url: URL, body: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    host: url.host,
  };
}

/** The text of a node's answer. Proxies and other servers answer with a status and a page for people. */
async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const tooLarge = () => clientErrors.badAnswer(`the answer is larger than ${maxBytes} bytes`);
  const text = await readWholeText(response, maxBytes, tooLarge);
  const { statusCode = 0, headers } = response;
  if (BUSY.has(statusCode))
    throw new BusyError(`the server answers with HTTP status ${statusCode}`, retryAfter(headers));
  if (statusCode < 300 || /^\s*[[{]/.test(text)) return text;
  const place =
    headers.location === undefined ? "" : `, and redirects to ${JSON.stringify(headers.location.slice(0, 200))}`;
  response.destroy();
  throw clientErrors.badAnswer(`the server answers with HTTP status ${statusCode}${place}`);
}

/** Statuses of servers that will answer later. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

function retryAfter({ "retry-after": text = "" }: IncomingHttpHeaders): number | undefined {
  return /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}

function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === "ECONNRESET" || error.code === "EPIPE";
}
