import type { OutgoingHttpHeaders } from "node:http";
import { openApiDocument } from "./openapi/document.ts";
import { PAGE_SCRIPT, PAGE_STYLE, routesPage } from "./openapi/page.ts";
import type { Route } from "./routes.ts";

/** The pages that are served besides the rpcs. */
export interface Page {
  readonly type: string;
  readonly text: string;
  readonly headers: OutgoingHttpHeaders;
}

/** The page may load its own parts and ask this server, and nothing else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** The list of routes for people and programs, made on request. */
export function pagesOf(routes: readonly Route[], chainId: string): ReadonlyMap<string, () => Page> {
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
  return { type, text, headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer" } };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
