import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { FRAME_HEADERS, fileAnswer, pageHeaders, StaticFiles, TERMINAL_PAGE } from "../../util/servers/index.ts";

/** Path below which the pages and the interfaces that they ask stand. */
const BELOW = "/console/";
const API = `${BELOW}api/`;
/** The interfaces of a node that its pages ask on their own origin. */
export type NodeInterface = "rpc" | "rest" | "connect";

const INTERFACES: readonly NodeInterface[] = ["rpc", "rest", "connect"];

/** An answer to GET below the path of the console. */
export interface ConsolePage {
  readonly status: number;
  readonly type: string;
  readonly text: string | Buffer;
  readonly headers: OutgoingHttpHeaders;
}

/** URL of the path below which the interfaces stand, as the client reaches it. */
export type ApiUrl = string;

export interface ConsoleParts {
  readonly files: StaticFiles;
  /** The rights of this origin, as JSON. */
  readonly session: () => string;
  /** The chain for wallets, whose interfaces are below the URL. */
  readonly chainInfo?: (api: ApiUrl) => object;
  /** Where the pages may connect to, as a policy names it; anywhere over TLS unless given. */
  readonly connect?: string;
}

/** Pages ask the node, and gateways of providers, which are not known beforehand. */
const ANY_GATEWAY = "'self' https: wss:";

/** The session of the pages that a node serves. */
export function nodeSession(chainId: string, moniker: string): string {
  return JSON.stringify({ mode: "node", chainId, node: moniker });
}

/** The console: static pages, and the interfaces of a node on the same origin. */
export class ConsolePages {
  readonly #files: StaticFiles;
  readonly #session: () => string;
  readonly #chainInfo: ConsoleParts["chainInfo"];
  readonly #headers: OutgoingHttpHeaders;

  constructor({ files, session, chainInfo, connect = ANY_GATEWAY }: ConsoleParts) {
    this.#files = files;
    this.#session = session;
    this.#chainInfo = chainInfo;
    this.#headers = pageHeaders(connect);
  }

  /** The interface for which a request is, with the URL that it has there. */
  interfaceOf(url: string): { readonly name: NodeInterface; readonly url: string } | undefined {
    if (!url.startsWith(API)) return undefined;
    const [, word = "", rest = ""] = /^([^/?]*)(.*)$/s.exec(url.slice(API.length)) ?? [];
    const name = INTERFACES.find((each) => each === word);
    return name === undefined ? undefined : { name, url: rest.startsWith("/") ? rest : `/${rest}` };
  }

  /** The answer to GET of a path without its query; undefined for paths that are not the console's. */
  page(path: string, headers: IncomingHttpHeaders): ConsolePage | undefined {
    if (path === BELOW.slice(0, -1)) {
      return this.#text(308, "the console is at /console/", { Location: "console/" });
    }
    if (!path.startsWith(BELOW)) return undefined;
    if (path === `${API}session`) return this.#json(this.#session());
    if (path === `${API}chain.json` && this.#chainInfo !== undefined)
      return this.#json(JSON.stringify(this.#chainInfo(apiUrl(headers))));
    const file = this.#files.find(path.slice(BELOW.length));
    if (file === undefined) return this.#text(404, this.#missing());
    const answer = fileAnswer(file, headers["accept-encoding"]);
    const own = path === TERMINAL_PAGE ? FRAME_HEADERS : this.#headers;
    return { status: 200, type: file.type, text: answer.body, headers: { ...own, ...answer.headers } };
  }

  #missing(): string {
    if (this.#files.isBuilt) return "there is no such page; the console is at /console/";
    return "the console is not built: run npm run build in the checkout, then load this page again";
  }

  #json(text: string): ConsolePage {
    const headers = { ...this.#headers, "Cache-Control": "no-store" };
    return { status: 200, type: "application/json", text, headers };
  }

  #text(status: number, sentence: string, headers: OutgoingHttpHeaders = {}): ConsolePage {
    const text = `<!doctype html>\n<meta charset="utf-8">\n<title>${status}</title>\n<p>${sentence}</p>\n`;
    return { status, type: "text/html; charset=utf-8", text, headers: { ...this.#headers, ...headers } };
  }
}

/** By the name under which the client came, which only it and a proxy between know. */
function apiUrl({ host = "localhost", "x-forwarded-proto": proto }: IncomingHttpHeaders): ApiUrl {
  return `${proto === "https" ? "https" : "http"}://${host}${API.slice(0, -1)}`;
}

/** The folder of the console's files: beside the built program, or where a checkout builds it. */
export function consoleFiles(from: string = import.meta.url): StaticFiles {
  const place = from.endsWith("/svc.cjs") ? "./console/" : "../../../dist/console/";
  return new StaticFiles(fileURLToPath(new URL(place, from)));
}
