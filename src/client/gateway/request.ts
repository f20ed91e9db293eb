import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import * as v from "valibot";
import { errorText } from "../../util/index.ts";
import { GatewayRefusal, gatewayClientErrors } from "./errors.ts";

const MAX_ANSWER = 4 << 20;

export interface PlainRequest {
  readonly method: "GET" | "PUT";
  readonly path: string;
  readonly host: string;
  readonly token?: string | undefined;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
}

/** Sends one request over a connection of its own and reads the JSON of the answer; undefined where there is none. */
export async function exchange(socket: TLSSocket, options: PlainRequest): Promise<unknown> {
  const { method, path, host, token, body, timeoutMs } = options;
  const request = httpRequest({
    method,
    path,
    createConnection: () => socket,
    headers: {
      host,
      connection: "close",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body).toString() }),
    },
  });
  try {
    const response = await answerOf(request, body, timeoutMs);
    return readAnswer(response.statusCode ?? 0, await readText(response));
  } finally {
    request.destroy();
  }
}

function answerOf(request: ClientRequest, body: string | undefined, timeoutMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const late = () => reject(gatewayClientErrors.timeout(`no answer within ${timeoutMs / 1000} s`));
    const timer = setTimeout(late, timeoutMs);
    request.once("close", () => clearTimeout(timer));
    request.once("response", resolve);
    request.on("error", (cause) => reject(gatewayClientErrors.unreachable(errorText(cause), { cause })));
    request.end(body);
  });
}

export async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw gatewayClientErrors.badAnswer("it is larger than 4 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const refusal = v.object({ code: v.string(), message: v.string(), hint: v.exactOptional(v.string()) });

/** The value of a good answer; a refusal throws with the provider's words. */
export function readAnswer(status: number, text: string): unknown {
  if (status >= 200 && status < 300) return text === "" ? undefined : parse(text);
  const said = v.safeParse(refusal, tryParse(text));
  throw new GatewayRefusal(status, said.success ? said.output : { code: "unknown", message: `HTTP status ${status}` });
}

function parse(text: string): unknown {
  const value = tryParse(text);
  if (value === undefined) throw gatewayClientErrors.badAnswer("it is not JSON");
  return value;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
