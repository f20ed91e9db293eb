import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { errorText, readWholeText, SvcError } from "../../util/index.ts";
import { connectGateway } from "./connect.ts";
import { gatewayClientErrors } from "./errors.ts";
import {
  type GatewayCaller,
  type GatewayRequest,
  type GatewayTarget,
  gatewayAddress,
  type WebTarget,
} from "./target.ts";
import { fetchAnswer, MAX_ANSWER, readAnswer, tooLarge } from "./web-request.ts";

/** A request over a connection. */
export interface PlainRequest extends GatewayRequest {
  readonly host: string;
  readonly token?: string | undefined;
}

/** Sends one request to a provider and reads the answer's JSON; undefined if it is empty. */
export async function sendRequest(
  target: GatewayTarget | WebTarget,
  request: GatewayRequest,
  caller: GatewayCaller,
): Promise<unknown> {
  if ("url" in target) return fetchAnswer(target, request, await caller.token());
  const { credential, connectMs: timeoutMs, now } = caller;
  const socket = await connectGateway(target, { credential, timeoutMs, now });
  const { header: host } = gatewayAddress(target.hostUri);
  return exchange(socket, { ...request, host, token: await caller.token() });
}

/** Sends one request over its own connection and reads the answer's JSON; undefined if it is empty. */
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
  try {
    return await readWholeText(response, MAX_ANSWER, tooLarge);
  } catch (cause) {
    throw cause instanceof SvcError ? cause : unreachable(new Error("the answer was cut off", { cause }));
  }
}

function unreachable(cause: unknown): SvcError {
  return gatewayClientErrors.unreachable(errorText(cause), { cause });
}
