import type { IncomingMessage } from "node:http";
import { gatewayErrors } from "../errors.ts";

/** The protocol of a websocket whose token is beside it in the list of protocols. */
export const STREAM_PROTOCOL = "svc.gateway.v1";
/** Before a token in that list: a page can set no header of a websocket, and a token in an address would be logged. */
export const PROTOCOL_PREFIX = "svc.bearer.";

const BEARER = /^Bearer ([A-Za-z0-9_.-]+)$/i;
const TOKEN = /^[A-Za-z0-9_.-]+$/;
const TOKEN_PARAMETERS = ["token", "access_token", "authorization", "jwt", "bearer"];

type Request = Pick<IncomingMessage, "headers" | "rawHeaders" | "url">;

/**
 * The token of a request: from its Authorization header or, for a websocket, from its protocols. Throws if both are
 * given.
 */
export function readToken(request: Request): string | undefined {
  refuseTokenInAddress(request.url ?? "");
  const tokens = [...headersNamed(request, "authorization").map(headerToken), ...protocolTokens(request)];
  if (tokens.length > 1) throw gatewayErrors.badRequest("more than one token");
  return tokens[0];
}

function headerToken(header: string): string {
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw gatewayErrors.badRequest("the Authorization header is not `Bearer TOKEN`");
  return token;
}

function protocolTokens(request: Request): string[] {
  if (request.headers.upgrade === undefined) return [];
  const offered = headersNamed(request, "sec-websocket-protocol").flatMap((header) => header.split(","));
  const protocols = offered.map((each) => each.trim());
  const tokens = protocols.filter((each) => each.startsWith(PROTOCOL_PREFIX));
  if (tokens.length > 0 && !protocols.includes(STREAM_PROTOCOL))
    throw gatewayErrors.badRequest(`offer the protocol ${STREAM_PROTOCOL} beside the token`);
  return tokens.map((each) => protocolToken(each.slice(PROTOCOL_PREFIX.length)));
}

function protocolToken(token: string): string {
  if (!TOKEN.test(token)) throw gatewayErrors.badRequest(`the protocol is not \`${PROTOCOL_PREFIX}TOKEN\``);
  return token;
}

/** Node keeps only the first of several such headers, so the raw ones are read. */
function headersNamed({ rawHeaders }: Request, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

function refuseTokenInAddress(url: string): void {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  if (!url.includes("?") || !TOKEN_PARAMETERS.some((name) => query.has(name))) return;
  throw gatewayErrors.badRequest("a token does not belong in the address; send it in the Authorization header");
}
