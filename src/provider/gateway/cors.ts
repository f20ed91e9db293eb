import type { IncomingHttpHeaders } from "node:http";
import type { FastifyReply } from "fastify";

/** How long a browser may keep the answer to a preflight, seconds. */
const MAX_AGE = 3_600;

/**
 * Lets pages of any origin read an answer (Fetch standard, "CORS protocol"). This is safe because the browser adds no
 * authority: pages authenticate with a token, and requests of pages with only a client certificate are refused.
 */
export function allowOrigin(headers: IncomingHttpHeaders, reply: FastifyReply): void {
  if (headers.origin === undefined) return;
  reply.header("access-control-allow-origin", "*").header("access-control-expose-headers", "www-authenticate");
}

/** Answers a browser that asks what it may send. */
export function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .header("access-control-allow-methods", "GET, POST, PUT")
    .header("access-control-allow-headers", "authorization, content-type")
    .header("access-control-max-age", MAX_AGE)
    .send();
}
