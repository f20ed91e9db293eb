import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { errorText, readWholeText, SvcError, tryJson } from "../../util/index.ts";
import { GatewayRefusal, gatewayClientErrors } from "./errors.ts";

const MAX_ANSWER = 4 << 20;

export interface PlainRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly host: string;
  readonly token?: string | undefined;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
}

/** Sends one request over its own connection and reads the answer's JSON; undefined if it is not JSON. */
export async function exchange(socket: Socket, options: PlainRequest): Promise<unknown> {
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
    return await within(timeoutMs, answerOf(request, body));
  } finally {
    request.destroy();
  }
}

async function answerOf(request: ClientRequest, body: string | undefined): Promise<unknown> {
  const response = await responseOf(request, body);
  return readAnswer(response.statusCode ?? 0, await readText(response));
}

function responseOf(request: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", (cause) => reject(unreachable(cause)));
    // A switch to another protocol ends the request with neither.
    request.once("close", () => reject(unreachable(new Error("the answer was cut off"))));
    request.end(body);
  });
}

/** The timeout covers the whole answer: one that never ends is late as well. */
async function within<T>(timeoutMs: number, answer: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = pause(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw gatewayClientErrors.timeout(`no answer within ${timeoutMs / 1000} s`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.abort();
  }
}

export async function readText(response: IncomingMessage): Promise<string> {
  const tooLarge = () => gatewayClientErrors.badAnswer("it is larger than 4 MiB");
  try {
    return await readWholeText(response, MAX_ANSWER, tooLarge);
  } catch (cause) {
    throw cause instanceof SvcError ? cause : unreachable(new Error("the answer was cut off", { cause }));
  }
}

function unreachable(cause: unknown): SvcError {
  return gatewayClientErrors.unreachable(errorText(cause), { cause });
}

const refusal = v.object({ code: v.string(), message: v.string(), hint: v.exactOptional(v.string()) });

/** The value of a good answer; a refusal throws with the provider's words. */
export function readAnswer(status: number, text: string): unknown {
  if (status >= 200 && status < 300) return text === "" ? undefined : parse(text);
  const said = v.safeParse(refusal, tryJson(text));
  throw new GatewayRefusal(status, said.success ? said.output : { code: "unknown", message: `HTTP status ${status}` });
}

function parse(text: string): unknown {
  const value = tryJson(text);
  if (value === undefined) throw gatewayClientErrors.badAnswer("it is not JSON");
  return value;
}
