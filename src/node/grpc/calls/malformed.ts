import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { toUtf8 } from "../../../util/index.ts";

/** A plain Connect call in protobuf, without gRPC's envelope. */
const CONNECT_PROTO = "application/proto";
/** The library's error for bytes that are not the message; it blames the server. */
const MALFORMED = /^\{"code":"internal","message":"parse binary: /;

/** Answers bytes that are not the message of a call as a mistake of the client, as it does with JSON. */
export function blamingClients(handler: UniversalHandler): UniversalHandler {
  const answer = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const response = await handler(request);
    if (response.status !== 500 || request.header.get("content-type") !== CONNECT_PROTO) return response;
    return blamed(response);
  };
  const { protocolNames, service, method, requestPath, supportedContentType, allowedMethods } = handler;
  return Object.assign(answer, { protocolNames, service, method, requestPath, supportedContentType, allowedMethods });
}

async function blamed(response: UniversalServerResponse): Promise<UniversalServerResponse> {
  const parts: Uint8Array[] = [];
  for await (const part of response.body ?? []) parts.push(part);
  const text = Buffer.concat(parts).toString();
  if (!MALFORMED.test(text)) return { ...response, body: whole(parts) };
  const told = toUtf8(text.replace('"internal"', '"invalid_argument"'));
  const header = new Headers(response.header);
  header.delete("content-length");
  return { ...response, status: 400, header, body: whole([told]) };
}

async function* whole(parts: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* parts;
}
